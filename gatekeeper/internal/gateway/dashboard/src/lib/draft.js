// Converts a definition to form text and back, and merges two edits to it.
import { fields, fieldText } from './words.js';
import { durationInput, seconds } from './format.js';

// toDraft converts a definition to the text of each form field.
export function toDraft(d = {}) {
  const draft = {};
  for (const f of fields) {
    const v = d[f.name];
    switch (f.kind) {
      case 'labels':
        draft[f.name] = Object.keys(v ?? {}).sort().map((k) => (v[k] === '' ? k : `${k}=${v[k]}`)).join('\n');
        break;
      case 'duration':
        draft[f.name] = durationInput(v);
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

// fromDraft converts form text to a definition, with errors by field. Fields without an input come from base.
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
        const separator = line.indexOf('=');
        const key = (separator < 0 ? line : line.slice(0, separator)).trim();
        if (!key) throw new Error(`“${line}” has no key. Write key=value.`);
        if (Object.hasOwn(out, key)) throw new Error(`The key ${key} appears twice.`);
        const value = separator < 0 ? '' : line.slice(separator + 1).trim();
        Object.defineProperty(out, key, { value, enumerable: true });
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
      if (text === '') throw new Error('An empty pattern admits no callers. .* admits all of them.');
      return text;
  }
  return text;
}

// merge combines two edits to the same draft. conflicts lists the fields that the edits changed to different values. In
// merged, these fields have the value from theirs until the user chooses one.
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
