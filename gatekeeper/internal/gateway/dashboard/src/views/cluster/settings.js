// The settings shared by all members, and the form that changes them.
import { useState } from 'preact/hooks';
import { get, put } from '../../lib/api.js';
import { bytes, count, duration, ms, plural, seconds, typed } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useQuery } from '../../lib/router.js';
import { useData } from '../../lib/use.js';
import { Action, Text } from '../../ui/controls.js';
import { Cautions } from '../../ui/effects.js';
import { Read } from '../../ui/feedback.js';
import { Review } from '../../ui/review.js';
import { Facts, Table } from '../../ui/table.js';

const help = {
  max_duration:
    'The longest duration of a definition. Raising it permanently lengthens the time for which a recovered cluster grants nothing.',
  journal_per_semaphore: 'The number of edits that the journal keeps for each semaphore. It keeps the same number of permit ends.',
  journal_total: 'The same for all semaphores together.',
  journal_lifetime: 'How long the journal keeps an entry.',
  remembered_deletions: 'How many deleted definitions have their version remembered.',
  request_lifetime: 'The minimum time for which a request is remembered, while there is room.',
  requests_kept: 'How many requests for each semaphore are remembered beyond request_lifetime.',
  request_bytes: 'The maximum number of bytes for requests.',
  edit_bytes: 'The maximum number of bytes for requests that edit.',
  max_task_bytes: 'The maximum number of bytes of the payload of a task, and of its result.',
  max_job_bytes: 'The maximum number of bytes of the payloads of a job.',
  max_semaphore_work_bytes: 'The maximum number of bytes that the jobs of a semaphore store and reserve.',
  max_work_bytes: 'The same for all semaphores together.',
};

const isDuration = (v) => typeof v === 'string' && v.endsWith('s');

// shown formats a value for people, and asText for an input.
const shown = (name, v) => (isDuration(v) ? duration(ms(v)) : name.includes('bytes') ? bytes(v) : count(v));
const asText = (v) => (isDuration(v) ? typed(v) : String(v));

function parse(text, was) {
  if (text.trim() === '') throw new Error('It needs a value.');
  if (isDuration(was)) return seconds(text);
  if (!/^\d+$/.test(text.trim())) throw new Error(`“${text}” is not a whole number.`);
  return text.trim();
}

// read converts the texts of a form to a request: the settings that differ, and errors by name.
function read(draft, settings) {
  const changed = {};
  const errors = {};
  for (const [name, was] of Object.entries(settings)) {
    if (draft[name] === asText(was)) continue;
    try {
      changed[name] = parse(draft[name], was);
    } catch (error) {
      errors[name] = error.message;
    }
  }
  return { changed, errors };
}

const differences = ({ before = {}, after = {} }) => Object.keys(after).filter((name) => before[name] !== after[name]);

function Edit({ settings, onClose, onDone }) {
  const [draft, setDraft] = useState(() =>
    Object.fromEntries(Object.entries(settings).map(([name, v]) => [name, asText(v)])));
  const [rejected, setRejected] = useState({});
  const [reviewing, setReviewing] = useState(false);
  const { changed, errors } = read(draft, settings);
  const unchanged = Object.keys(changed).length ? '' : 'Nothing was changed.';
  const why = Object.keys(errors).length ? 'A field has a mistake.' : unchanged;
  const set = (name) => (text) => {
    setDraft({ ...draft, [name]: text });
    setRejected({ ...rejected, [name]: undefined });
  };
  const failed = (error) => {
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
            help=${`${help[name] ?? ''} Now ${shown(name, v)}.`} error=${errors[name] ?? rejected[name]} />`,
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
            ['Now', (name) => html`<del>${shown(name, p.before[name])}</del>`],
            ['Then', (name) => html`<ins>${shown(name, p.after[name])}</ins>`],
          ]}
        />
        <${Cautions} of=${p} />
        <p class="faint">Undo does not restore settings: set the earlier values again.</p>`}
      nothing=${(p) => (differences(p).length ? '' : 'The settings already have these values.')}
      run=${({ reason, author }, p) => put('/v1/settings', { settings: changed, expected: p.before, reason, author })}
      done=${(a) => `${plural(differences(a).length, 'setting is', 'settings are')} changed, as change ${a.revision}.`}
      onError=${failed}
      onClose=${() => setReviewing(false)}
      onDone=${onDone}
    />`}`;
}

export function Settings() {
  const [params, change] = useQuery();
  const of = useData((signal) => get('/v1/settings', { stale: true }, signal), ['settings']);
  const editing = params.get('edit') === 'settings';
  const close = () => change({ edit: '' });
  return html`<section class="panel">
    <div class="title"><h2>Settings</h2>
      ${!editing &&
      html`<${Action} role="ROLE_ADMIN" onClick=${() => change({ edit: 'settings' }, { replace: false })}>Edit<//>`}
    </div>
    <${Read} of=${of} what="Reading the settings">
      ${({ settings = {} }) =>
        editing
          ? html`<${Edit} settings=${settings} onClose=${close} onDone=${() => (of.refresh(), close())} />`
          : html`<${Facts} of=${Object.entries(settings).map(([name, v]) => [name, shown(name, v)])} />`}
    <//>
  </section>`;
}
