// The form for a binding, and the effects of removing it.
import { useMemo, useState } from 'preact/hooks';
import { del, get, path, put } from '../../lib/api.js';
import { dateTime } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { grantText } from '../../lib/words.js';
import { Select, Text } from '../../ui/controls.js';
import { Review } from '../../ui/review.js';
import { roleOptions } from './roles.js';

const lines = (text) => text.split('\n').map((l) => l.trim()).filter(Boolean);

const grantDraft = (g) => ({
  role: g.role,
  semaphores: (g.semaphores ?? []).join('\n'),
  labels: g.labels ?? '',
  group: g.group ?? '',
  acquirer: g.acquirer ?? '',
});

const toDraft = (b) => ({
  name: b?.name ?? '',
  subjects: (b?.subjects ?? []).join('\n'),
  grants: (b?.grants ?? [{ role: 'ROLE_VIEWER' }]).map(grantDraft),
});

const fromDraft = (d) => ({
  name: d.name.trim(),
  subjects: lines(d.subjects),
  grants: d.grants.map((g) => ({
    role: g.role,
    semaphores: lines(g.semaphores),
    labels: g.labels.trim(),
    group: g.group,
    acquirer: g.acquirer,
  })),
});

const describe = (b) => [
  ...(b?.subjects ?? []).map((s) => `subject ${s}`),
  ...(b?.grants ?? []).map((g) => `grant ${grantText(g)}`),
];

// Difference lists what callers gain and lose, one item per line.
function Difference({ before, after }) {
  const [oldLines, newLines] = [describe(before), describe(after)];
  const added = newLines.filter((t) => !oldLines.includes(t));
  const removed = oldLines.filter((t) => !newLines.includes(t));
  if (added.length + removed.length === 0) return null;
  return html`<ul class="changes">
    ${added.map((t) => html`<li><span class="sr-only">adds </span><ins>${t}</ins></li>`)}
    ${removed.map((t) => html`<li><span class="sr-only">removes </span><del>${t}</del></li>`)}
  </ul>
  ${removed.length > 0 && html`<p>Callers will lose the removed access immediately.</p>`}`;
}

function Grant({ number, value, set, remove, error }) {
  const change = (field) => (text) => set({ ...value, [field]: text });
  return html`<fieldset class="grant">
    <legend>Grant ${number}</legend>
    <div class="form">
      <${Select} label="Role" value=${value.role} options=${roleOptions} onChange=${change('role')}
        error=${error('role')} />
      <${Text} label="Semaphores" area=${2} value=${value.semaphores} onInput=${change('semaphores')}
        error=${error('semaphores')} help="Names or globs, one per line. Empty: all." />
      <${Text} label="Labels" value=${value.labels} onInput=${change('labels')} error=${error('labels')}
        help="A selector, such as team=data. Empty: any." />
      <${Text} label="Group" value=${value.group} onInput=${change('group')} error=${error('group')}
        help="A pattern for the groups that callers may act as. Empty: any." />
      <${Text} label="Acquirer" value=${value.acquirer} onInput=${change('acquirer')} error=${error('acquirer')}
        help="The same for acquirers." />
    </div>
    <p class="row end"><button type="button" onClick=${remove}>Remove grant ${number}</button></p>
  </fieldset>`;
}

// useFieldErrors keeps the server's validation errors by field. error(field) returns the rule that the field violates.
// take(error, knownFields) stores an error and reports whether the form shows all of it.
export function useFieldErrors() {
  const [fields, setFields] = useState([]);
  const matches = (field) => (f) => f.field === field || f.field.startsWith(`${field}[`);
  return {
    error: (field) => fields.find(matches(field))?.rule,
    clear: () => setFields([]),
    take(error, knownFields) {
      setFields(error.fields);
      return error.fields.length > 0 && error.fields.every((f) => knownFields.some((field) => matches(field)(f)));
    },
  };
}

// BindingDialog edits or creates a binding. It sends the revision that it started from, so that concurrent changes are
// not lost.
export function BindingDialog({ binding, onClose, onDone }) {
  const [base, setBase] = useState(binding);
  const [draft, setDraft] = useState(() => toDraft(binding));
  const [theirs, setTheirs] = useState(null);
  const fieldErrors = useFieldErrors();
  const next = fromDraft(draft);
  const original = useMemo(() => JSON.stringify(fromDraft(toDraft(base))), [base]);
  const change = (values) => {
    fieldErrors.clear();
    setDraft({ ...draft, ...values });
  };
  const setGrant = (i) => (g) => change({ grants: draft.grants.map((old, n) => (n === i ? g : old)) });
  const knownFields = ['binding.name', 'binding.subjects'];
  draft.grants.forEach((g, i) => knownFields.push(...Object.keys(g).map((key) => `binding.grants[${i}].${key}`)));

  const onError = (error) => {
    if (error.reason !== 'STALE_VERSION') return fieldErrors.take(error, knownFields) && 'shown';
    get('/v1/bindings').then((a) => setTheirs(a.bindings.find((b) => b.name === next.name)), () => {});
    return undefined;
  };
  const rebase = (keepMine) => {
    setBase(theirs);
    if (!keepMine) setDraft(toDraft(theirs));
    setTheirs(null);
  };
  return html`<${Review}
    title=${binding ? `Edit binding ${binding.name}` : 'Create a binding'}
    verb=${base ? 'Save' : 'Create'}
    role="ROLE_ADMIN"
    deps=${[next, base?.revision]}
    preview=${async () => ({})}
    show=${() => html`<${Difference} before=${base} after=${next} />`}
    nothing=${() => {
      if (theirs) return 'First choose which values to keep.';
      if (!next.name) return 'Enter a name first.';
      return base && original === JSON.stringify(next) ? 'Nothing has changed.' : '';
    }}
    run=${({ reason }) => put(path`/v1/bindings/${next.name}`,
      { binding: next, expected_revision: base?.revision, reason })}
    done=${() => `Binding ${next.name} ${base ? 'saved' : 'created'}.`}
    onError=${onError}
    onClose=${onClose}
    onDone=${onDone}
  >
    ${theirs &&
    html`<div class="note" role="alert">
      <p>${theirs.updated_by || 'Another user'} saved this binding at ${dateTime(theirs.updated_at)},
      while you were editing it. It is now:</p>
      <ul>${describe(theirs).map((t) => html`<li>${t}</li>`)}</ul>
      <p class="row">
        <button type="button" onClick=${() => rebase(true)}>Keep my values</button>
        <button type="button" onClick=${() => rebase(false)}>Use these values</button>
      </p>
    </div>`}
    <div class="form">
      ${!binding &&
      html`<${Text} label="Name" value=${draft.name} onInput=${(name) => change({ name })}
        error=${fieldErrors.error('binding.name')}
        help="The principal: the author of changes and the owner of permits." autofocus />`}
      <${Text} label="Subjects" area=${3} value=${draft.subjects} onInput=${(subjects) => change({ subjects })}
        error=${fieldErrors.error('binding.subjects')}
        help="One per line: cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE. Empty: bearer tokens only." />
    </div>
    ${draft.grants.map(
      (g, i) => html`<${Grant} key=${i} number=${i + 1} value=${g} set=${setGrant(i)}
        remove=${() => change({ grants: draft.grants.filter((_, n) => n !== i) })}
        error=${(field) => fieldErrors.error(`binding.grants[${i}].${field}`)} />`,
    )}
    <p><button type="button" onClick=${() =>
      change({ grants: [...draft.grants, grantDraft({ role: 'ROLE_VIEWER' })] })}>Add a grant</button></p>
  <//>`;
}

export function RemoveBindingDialog({ binding: b, onClose, onDone }) {
  const subjects = b.subjects ?? [];
  const tokens = b.tokens ?? [];
  return html`<${Review}
    title=${`Remove binding ${b.name}`}
    verb="Remove"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${false}
    preview=${async () => ({})}
    show=${() => html`
      ${subjects.length + tokens.length === 0 &&
        html`<p>The binding has no subjects and no tokens, so nobody loses access.</p>`}
      ${subjects.length > 0 &&
      html`<p>These subjects will lose all access:</p>
        <ul>${subjects.map((s) => html`<li><code>${s}</code></li>`)}</ul>`}
      ${tokens.length > 0 &&
      html`<p>These tokens will stop working:</p>
        <ul>
          ${tokens.map((t) => html`<li><code>${t.id}</code>${t.created_by && `, created by ${t.created_by}`}</li>`)}
        </ul>`}
      <p>Streams of ${b.name} end within a second. Its permits last until they expire.</p>`}
    run=${({ reason }) => del(path`/v1/bindings/${b.name}`, { expected_revision: b.revision, reason })}
    done=${() => `Binding ${b.name} removed.`}
    onError=${(error) => void (error.reason === 'STALE_VERSION' && onDone())}
    onClose=${onClose}
    onDone=${onDone}
  />`;
}
