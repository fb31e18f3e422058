// A semaphore's rule, and the form that edits it.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { get, path, post } from '../../lib/api.js';
import { fromDraft, merge, toDraft } from '../../lib/draft.js';
import { dateTime } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useQuery } from '../../lib/router.js';
import { fields, fieldText } from '../../lib/words.js';
import { Action, Check, Select, Text } from '../../ui/controls.js';
import { notify } from '../../ui/feedback.js';
import { DrainField, EndFields, drain, timeLimit } from '../../ui/options.js';
import { Review } from '../../ui/review.js';
import { Facts } from '../../ui/table.js';
import { Conflict } from './conflict.js';
import { PatternTest } from './patterns.js';

const defaults = { group_pattern: '.*', acquirer_pattern: '.*', permits: 1, duration: '60s' };

export function Rule({ name, record, onSaved }) {
  const [params, change] = useQuery();
  const editing = params.get('edit') === '1' || !record;
  if (editing) return html`<${Edit} name=${name} record=${record} onSaved=${onSaved}
    onDone=${() => change({ edit: '' })} />`;
  const d = record.definition;
  return html`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${Action} role="ROLE_EDITOR" semaphore=${name} kind="primary"
        onClick=${() => change({ edit: '1' }, { replace: false })}>Edit<//>
    </div>
    <${Facts} facts=${fields.map((f) =>
      [f.label, fieldText(f, d) &&
        (f.kind === 'pattern' ? html`<code>${fieldText(f, d)}</code>` : fieldText(f, d))])} />
    <p class="faint">Version ${record.version}, ${dateTime(record.updated_at)}${record.updated_by &&
      `, by ${record.updated_by}`}${record.reason && `: ${record.reason}`}</p>
  </section>`;
}

const advanced = ['firing_on_loss', 'firing_retention', 'firing_limit', 'firing_max_ahead', 'max_attempts',
  'misfire', 'misfire_window'];

// Edit keeps the record that it started from, because an edit specifies the version that it is based on.
function Edit({ name, record, onSaved, onDone }) {
  const [base, setBase] = useState(record);
  const [draft, setDraft] = useState(() => toDraft(record?.definition ?? defaults));
  const [options, setOptions] = useState({});
  const [reviewing, setReviewing] = useState(false);
  const [conflict, setConflict] = useState(null);
  const [rejected, setRejected] = useState({});
  const original = useMemo(() => toDraft(base?.definition ?? defaults), [base]);
  const { definition, errors } = fromDraft(draft, base?.definition ?? { name });
  const changed = !base || fields.some((f) => draft[f.name] !== original[f.name]);
  const invalid = Object.keys(errors).length > 0;
  const newer = record && base && record.version !== base.version ? record : null;

  // Leaving the page would lose the input, so the browser asks for confirmation.
  useEffect(() => {
    if (!changed || !base) return;
    const confirmLeave = (e) => e.preventDefault();
    addEventListener('beforeunload', confirmLeave);
    return () => removeEventListener('beforeunload', confirmLeave);
  }, [changed]);

  const set = (field) => (value) => {
    setDraft((d) => ({ ...d, [field]: value }));
    setRejected((r) => ({ ...r, [field]: undefined }));
  };
  const edit = base ? { replace: definition, expected_version: base.version } : { create: { ...definition, name } };
  const request = () => ({ edits: [edit], ...drain(options.drain), ...(base ? timeLimit(options) : {}) });
  const compare = (theirs) => setConflict({ theirs, ...merge(original, draft, toDraft(theirs.definition)) });
  const onError = (error) => {
    if (error.reason === 'STALE_VERSION') {
      get(path`/v1/definitions/${name}`).then((a) => compare(a.record), (e) => notify(e.message, { tone: 'deny' }));
      return true;
    }
    // The definition's fields have a path; the batch's own duration does not.
    const inDefinition = (f) => fields.find((x) => f.field.endsWith(`.${x.name}`));
    const inForm = error.fields?.filter(inDefinition) ?? [];
    if (inForm.length === 0) return false;
    setRejected(Object.fromEntries(inForm.map((f) => [inDefinition(f).name, f.rule])));
    return true;
  };

  const input = (f) => {
    const error = errors[f.name] ?? rejected[f.name];
    const value = draft[f.name];
    const common = { key: f.name, label: f.label, help: f.help, error,
      class: value !== original[f.name] ? 'changed' : '' };
    if (f.kind === 'flag') return html`<${Check} ...${common} checked=${value === 'yes'}
      onChange=${(on) => set(f.name)(on ? 'yes' : 'no')} />`;
    if (f.kind === 'choice') return html`<${Select} ...${common} value=${value} onChange=${set(f.name)}
      options=${f.values.map((v) => [v.toLowerCase(), v.toLowerCase()])} />`;
    const area = f.kind === 'labels' ? 3 : f.name === 'description' ? 2 : undefined;
    return html`<${Text} ...${common} value=${value} onInput=${set(f.name)} area=${area} name=${f.name}
      inputmode=${f.kind === 'number' ? 'numeric' : undefined} />`;
  };
  const submit = (event) => {
    event.preventDefault();
    if (!invalid && changed) setReviewing(true);
  };

  if (conflict) {
    return html`<${Conflict}
      conflict=${conflict}
      base=${base}
      onCancel=${() => setConflict(null)}
      onMerged=${(merged) => {
        setBase(conflict.theirs);
        setDraft(merged);
        setConflict(null);
        setReviewing(true);
      }}
    />`;
  }
  return html`<section class="panel">
    <div class="title"><h2>${base ? 'Edit the rule' : 'Create this semaphore'}</h2></div>
    ${newer && html`<p class="note" role="alert">${newer.updated_by || 'Another user'} saved another version
      at ${dateTime(newer.updated_at)}, while you were editing.
      <button type="button" onClick=${() => compare(newer)}>Compare and merge</button></p>`}
    <form onSubmit=${submit}>
      <div class="form">
        ${fields.filter((f) => !advanced.includes(f.name) && f.kind !== 'pattern' &&
          ['description', 'labels'].includes(f.name)).map(input)}
        ${fields.filter((f) => f.kind === 'pattern').map(input)}
        <${PatternTest} name=${name} group=${draft.group_pattern} acquirer=${draft.acquirer_pattern} />
        ${fields.filter((f) => !advanced.includes(f.name) && f.kind !== 'pattern' &&
          !['description', 'labels'].includes(f.name)).map(input)}
      </div>
      <details open=${advanced.some((n) => draft[n] !== original[n] || errors[n])}>
        <summary>Firings</summary>
        <div class="form">${fields.filter((f) => advanced.includes(f.name)).map(input)}</div>
      </details>
      <p class="row end sticky-end">
        ${changed && html`<span class="grow faint">Nothing has been saved yet.</span>`}
        ${base && html`<button type="button" onClick=${onDone}>${changed ? 'Discard' : 'Back'}</button>`}
        <${Action} role="ROLE_EDITOR" semaphore=${name} type="submit" kind="primary"
          why=${invalid ? 'Correct the marked fields first.' : !changed ? 'There is nothing to save.' : ''}>Review and save …<//>
      </p>
    </form>
    ${reviewing &&
    html`<${Review}
      title=${base ? `Save ${name}` : `Create ${name}`}
      verb=${base ? 'Save' : 'Create'}
      role="ROLE_EDITOR"
      semaphore=${name}
      deps=${options}
      preview=${async (signal) => post('/v1/preview', { edits: request() }, signal)}
      run=${async (common) => post('/v1/definitions:edit', { ...request(), ...common })}
      done=${(a) => `${name} ${base ? 'saved' : 'created'} (change ${a.revision}).`}
      onError=${onError}
      onClose=${() => setReviewing(false)}
      onDone=${() => {
        onSaved();
        onDone();
        scrollTo(0, 0);
      }}
    >
      ${base && html`<details><summary>Time limit and drain</summary>
        <div class="form"><${EndFields} value=${options} set=${setOptions}
          emptyHelp="After that, the old values are restored. Empty: no limit." />
            <${DrainField} value=${options} set=${setOptions} /></div>
      </details>`}
    <//>`}
  </section>`;
}
