// Converts a definition to the texts of a form and back, and merges two edits of it.
import { fields, fieldText } from './words.js';
import { seconds, typed } from './format.js';

// toDraft converts a definition to the texts of the form.
export function toDraft(d = {}) {
  const draft = {};
  for (const f of fields) {
    const v = d[f.name];
    switch (f.kind) {
      case 'labels':
        draft[f.name] = Object.keys(v ?? {}).sort().map((k) => (v[k] === '' ? k : `${k}=${v[k]}`)).join('\n');
        break;
      case 'duration':
        draft[f.name] = typed(v);
        break;
      case 'flag':
        draft[f.name] = v ? 'yes' : 'no';
        break;
      case 'choice':
        draft[f.name] = fieldText(f, d);
        break;
      default:
        draft[f.name] = String(v ?? (f.kind === 'number' && f.name === 'max_attempts' ? 0 : ''));
    }
  }
  return draft;
}

// fromDraft converts the texts of a form to a definition, with errors by field. Fields without an input come from base.
export function fromDraft(draft, base = {}) {
  const d = { ...base };
  const errors = {};
  for (const f of fields) {
    const text = draft[f.name] ?? '';
    try {
      const v = parse(f, text);
      if (v === undefined) delete d[f.name];
      else d[f.name] = v;
    } catch (error) {
      errors[f.name] = error.message;
    }
  }
  return { definition: d, errors };
}

function parse(f, text) {
  switch (f.kind) {
    case 'labels': {
      const out = {};
      for (const line of text.split('\n').map((l) => l.trim()).filter(Boolean)) {
        const at = line.indexOf('=');
        const key = (at < 0 ? line : line.slice(0, at)).trim();
        if (!key) throw new Error(`“${line}” has no key. Write key=value.`);
        if (Object.hasOwn(out, key)) throw new Error(`The key ${key} appears twice.`);
        Object.defineProperty(out, key, { value: at < 0 ? '' : line.slice(at + 1).trim(), enumerable: true });
      }
      return out;
    }
    case 'duration':
      return seconds(text);
    case 'number': {
      if (text.trim() === '') return undefined;
      if (!/^\d+$/.test(text.trim())) throw new Error(`“${text}” is not a whole number.`);
      return Number(text);
    }
    case 'flag':
      return text === 'yes';
    case 'choice':
      return f.prefix + text.toUpperCase();
    case 'pattern':
      if (text === '') throw new Error('An empty pattern would let nobody in. .* lets everybody in.');
      return text;
  }
  return text;
}

// merge combines two edits of the same draft. Fields that both edits changed to different values are listed in
// conflicts. In merged, they have their value from theirs until the user chooses one.
export function merge(base, mine, theirs) {
  const merged = {};
  const conflicts = [];
  const rows = [];
  for (const f of fields) {
    const [b, m, t] = [base[f.name], mine[f.name], theirs[f.name]];
    merged[f.name] = m === b ? t : m;
    if (m !== b && t !== b && m !== t) {
      conflicts.push(f.name);
      merged[f.name] = t;
    }
    if (m !== b || t !== b) rows.push({ field: f, base: b, mine: m, theirs: t });
  }
  return { merged, conflicts, rows };
}
