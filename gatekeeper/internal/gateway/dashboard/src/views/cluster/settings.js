// The settings shared by all members, and the form that changes them.
import { useState } from 'preact/hooks';
import { get, put } from '../../lib/api.js';
import { bytes, count, duration, durationInput, ms, plural, seconds } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useQuery } from '../../lib/router.js';
import { useData } from '../../lib/use.js';
import { Action, Text } from '../../ui/controls.js';
import { Cautions } from '../../ui/effects.js';
import { Loaded } from '../../ui/feedback.js';
import { Review } from '../../ui/review.js';
import { Facts, Table } from '../../ui/table.js';

const help = {
  max_duration:
    'The longest duration that a definition may have. Raising it permanently lengthens the time after a recovery during which no permits are granted.',
  journal_per_semaphore: 'The number of edits that the journal keeps for each semaphore. The same limit applies to ended permits.',
  journal_total: 'The same, for all semaphores together.',
  journal_lifetime: 'How long the journal keeps an entry.',
  remembered_deletions: 'The number of deleted definitions whose versions are remembered.',
  request_lifetime: 'The minimum time for which a request is remembered, as long as there is room.',
  requests_kept: 'The number of requests for each semaphore that are remembered beyond request_lifetime.',
  request_bytes: 'The maximum number of bytes for remembered requests.',
  edit_bytes: 'The maximum number of bytes for remembered edit requests.',
  max_task_bytes: 'The maximum size of a task’s payload, and of its result, in bytes.',
  max_job_bytes: 'The maximum total size of a job’s payloads, in bytes.',
  max_semaphore_work_bytes: 'The maximum number of bytes that a semaphore’s jobs store and reserve.',
  max_work_bytes: 'The same, for all semaphores together.',
};

const isDuration = (v) => typeof v === 'string' && v.endsWith('s');

// formatValue formats a value for display, and inputText for an input.
const formatValue = (name, v) => (isDuration(v) ? duration(ms(v)) : name.includes('bytes') ? bytes(v) : count(v));
const inputText = (v) => (isDuration(v) ? durationInput(v) : String(v));

function parse(text, old) {
  if (text.trim() === '') throw new Error('Enter a value.');
  if (isDuration(old)) return seconds(text);
  if (!/^\d+$/.test(text.trim())) throw new Error(`“${text}” is not a whole number.`);
  return text.trim();
}

// readDraft converts form text to a request: the settings that differ, and errors by name.
function readDraft(draft, settings) {
  const changed = {};
  const errors = {};
  for (const [name, old] of Object.entries(settings)) {
    if (draft[name] === inputText(old)) continue;
    try {
      changed[name] = parse(draft[name], old);
    } catch (error) {
      errors[name] = error.message;
    }
  }
  return { changed, errors };
}

const differences = ({ before = {}, after = {} }) => Object.keys(after).filter((name) => before[name] !== after[name]);

function Edit({ settings, onClose, onDone }) {
  const [draft, setDraft] = useState(() =>
    Object.fromEntries(Object.entries(settings).map(([name, v]) => [name, inputText(v)])));
  const [rejected, setRejected] = useState({});
  const [reviewing, setReviewing] = useState(false);
  const { changed, errors } = readDraft(draft, settings);
  const unchanged = Object.keys(changed).length ? '' : 'Nothing has changed.';
  const why = Object.keys(errors).length ? 'Correct the marked fields first.' : unchanged;
  const set = (name) => (text) => {
    setDraft({ ...draft, [name]: text });
    setRejected({ ...rejected, [name]: undefined });
  };
  const onError = (error) => {
    const rules = error.fields.filter((f) => f.field.startsWith('settings.')).map((f) =>
      [f.field.slice('settings.'.length), f.rule]);
    setRejected(Object.fromEntries(rules));
    return rules.length > 0;
  };
  return html`<form onSubmit=${(e) => (e.preventDefault(), why || setReviewing(true))}>
      <div class="form">
        ${Object.entries(settings).map(
          ([name, v]) => html`<${Text} key=${name} label=${name} value=${draft[name]} onInput=${set(name)}
            class=${name in changed || errors[name] ? 'changed' : ''} inputmode=${isDuration(v) ? undefined : 'numeric'}
            help=${`${help[name] ?? ''} Currently ${formatValue(name, v)}.`} error=${errors[name] ?? rejected[name]} />`,
        )}
      </div>
      <p class="row end sticky-end">
        <button type="button" onClick=${onClose}>${why && why === unchanged ? 'Back' : 'Discard'}</button>
        <${Action} role="ROLE_ADMIN" type="submit" kind="primary" why=${why}>Review and save …<//>
      </p>
    </form>
    ${reviewing &&
    html`<${Review}
      title="Change the settings"
      verb="Save"
      role="ROLE_ADMIN"
      undoable=${false}
      preview=${(signal) => put('/v1/settings', { settings: changed, dry_run: true }, signal)}
      show=${(p) => html`<${Table}
          caption="Settings that change"
          rows=${differences(p)}
          columns=${[
            ['Setting', (name) => name, 'name'],
            ['Before', (name) => html`<del>${formatValue(name, p.before[name])}</del>`],
            ['After', (name) => html`<ins>${formatValue(name, p.after[name])}</ins>`],
          ]}
        />
        <${Cautions} preview=${p} />
        <p class="faint">Settings cannot be restored with Undo; set the old values again instead.</p>`}
      nothing=${(p) => (differences(p).length ? '' : 'The settings already have these values.')}
      run=${({ reason, author }, p) => put('/v1/settings', { settings: changed, expected: p.before, reason, author })}
      done=${(a) => `${plural(differences(a).length, 'setting', 'settings')} changed (change ${a.revision}).`}
      onError=${onError}
      onClose=${() => setReviewing(false)}
      onDone=${onDone}
    />`}`;
}

export function Settings() {
  const [params, change] = useQuery();
  const source = useData((signal) => get('/v1/settings', { stale: true }, signal), ['settings']);
  const editing = params.get('edit') === 'settings';
  const close = () => change({ edit: '' });
  return html`<section class="panel">
    <div class="title"><h2>Settings</h2>
      ${!editing &&
      html`<${Action} role="ROLE_ADMIN" onClick=${() => change({ edit: 'settings' }, { replace: false })}>Edit<//>`}
    </div>
    <${Loaded} source=${source} what="Loading the settings">
      ${({ settings = {} }) =>
        editing
          ? html`<${Edit} settings=${settings} onClose=${close} onDone=${() => (source.refresh(), close())} />`
          : html`<${Facts} facts=${Object.entries(settings).map(([name, v]) => [name, formatValue(name, v)])} />`}
    <//>
  </section>`;
}
