// Moves work to another group, pauses and resumes it, and shuts out groups and hosts. Semaphores are selected by name
// and label; each change is previewed, made and tracked.
import { useEffect, useRef, useState } from 'preact/hooks';
import { all, get, post } from '../lib/api.js';
import { capitalize, plural, summarizeNames } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useKnown } from '../lib/known.js';
import { useQuery, useTitle } from '../lib/router.js';
import { byline } from '../lib/session.js';
import { useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { cordonEnd, cordonTarget } from '../lib/words.js';
import { Action, Check, Tabs, Text } from '../ui/controls.js';
import { Empty, Failure } from '../ui/feedback.js';
import { Follow } from '../ui/follow.js';
import { DrainField, EndFields, drain, problem, timeLimit } from '../ui/options.js';
import { Review, lastChange, openUndo, recordChange } from '../ui/review.js';
import { Title } from '../ui/shell.js';
import { Cordons, cordonsChanged } from './cordons.js';
import { parseFilters } from './overview.js';
import { selectorText } from './pause.js';

const tabs = [['move', 'Move'], ['pause', 'Pause'], ['resume', 'Resume'], ['cordon', 'Cordon']];

const list = (text) => text.split(/[\n,]/).map((s) => s.trim()).filter(Boolean);

// useSelection returns the selected semaphores: names, globs and labels from the URL, or the semaphores that match the
// overview's filters.
function useSelection() {
  const [params, change] = useQuery();
  const [names, setNames] = useState(params.getAll('names').join('\n'));
  const [labels, setLabels] = useState(params.get('labels') ?? '');
  const [everything, setEverything] = useState(params.get('all') === '1');
  const [error, setError] = useState(null);
  const filters = parseFilters(params);
  const useFilters = params.get('from_filter') === '1' &&
    (filters.search || filters.group || filters.states.length > 0);
  useEffect(() => {
    if (!useFilters) return;
    all('/v1/definitions', filters, 'records', undefined, 1000).then(({ items, more }) => {
      setNames(items.map((r) => r.definition.name).join('\n'));
      setLabels('');
      change({ q: '', group: '', state: '', labels: '', from_filter: '' });
      if (more) setError(new Error('More than 1,000 semaphores match. Only the first 1,000 are listed here; select by label or glob instead.'));
    }, setError);
  }, []);
  const selector = everything ? { all: true } : { ...(list(names).length && { names: list(names) }),
    ...(labels.trim() && { labels: labels.trim() }) };
  return { names, setNames, labels, setLabels, everything, setEverything, selector, error,
    isSet: everything || names.trim() !== '' || labels.trim() !== '' };
}

function SelectionFields({ selection, optional }) {
  const matching = useData(
    selection.isSet ? (signal) => get('/v1/definitions',
      { names: selection.selector.names, labels: selection.selector.labels, page_size: 4 }, signal) : null,
    ['selected', selection.selector],
    { keep: true },
  );
  const records = matching.data?.records ?? [];
  const total = matching.data?.total ?? 0;
  return html`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${Text} label="Names" area=${4} value=${selection.names} onInput=${selection.setNames} disabled=${selection.everything}
        placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${Text} label="Labels" value=${selection.labels} onInput=${selection.setLabels} disabled=${selection.everything}
        placeholder="team=data,tier!=test" help="If you also enter names, both must match." />
      ${!optional && html`<${Check} label="All semaphores" checked=${selection.everything} onChange=${selection.setEverything}
        help="Regardless of name and labels." />`}
    </div>
    ${selection.error && html`<${Failure} error=${selection.error} />`}
    ${matching.error && !matching.error.offline && html`<${Failure} error=${matching.error} />`}
    <p role="status" class="faint">
      ${!selection.isSet
        ? optional ?? 'Select some, or all.'
        : matching.data
          ? `${plural(total, 'semaphore', 'semaphores')} selected${records.length ? `: ${summarizeNames(records.map((r) => r.definition.name), 4)}${total > 4 ? ' …' : ''}` : ''}`
          : 'Loading …'}
    </p>
  </fieldset>`;
}

// LastChange tracks the holders that the last change stops, until all have stopped.
function LastChange({ where }) {
  const last = useStore(lastChange);
  const shown = last && (last.where ?? where) === where ? last : null;
  const entries = useData(shown ? (signal) => get('/v1/history', { change: shown.change, page_size: 1 }, signal) : null,
    ['last-change', shown?.change], { every: 5_000 });
  const openedAt = useRef(Date.now());
  if (!shown) return null;
  const undoneBy = entries.data?.entries?.[0]?.undone_by;
  const undone = undoneBy && undoneBy !== '0';
  return html`<section class="panel stack" aria-label="The last change made here">
    <div class="title"><h2>${shown.text}</h2>
      <button type="button" class="plain" aria-label="Close" onClick=${() => lastChange.set(null)}>×</button></div>
    ${undone
      ? html`<p class="note">Undone by <a href=${`/activity?change=${undoneBy}`}>change ${undoneBy}</a>.</p>`
      : html`<${Follow} key=${shown.change} change=${shown.change} stopped=${shown.stopped} startedAt=${shown.at}
          reopened=${shown.at < openedAt.current} />`}
    <p class="row">
      <a class="button" href=${`/activity?change=${shown.change}`}>Show change ${shown.change}</a>
      ${!undone && html`<${Action} role="ROLE_OPERATOR"
        onClick=${() => openUndo(shown.change, { what: shown.text, where, onDone: entries.refresh })}>Undo …<//>`}
    </p>
  </section>`;
}

// showChange stores a change made on a tab, and scrolls up to show it.
function showChange(where, text, result, preview) {
  recordChange(text, result, preview, where);
  scrollTo(0, 0);
}

function Groups({ id }) {
  const { groups } = useKnown();
  return html`<datalist id=${id}>${groups.map((g) => html`<option value=${g} />`)}</datalist>`;
}

// MoveNotes shows the parts of a move's preview other than its effects.
function MoveNotes({ preview }) {
  const problems = (preview.not_moved ?? []).filter((n) => n.problem);
  const others = (preview.not_moved ?? []).length - problems.length;
  return html`
    <p class="lead">${preview.moves?.length ? `${plural(preview.moves.length, 'semaphore moves', 'semaphores move')}.` : preview.mistake ? '' : 'There is nothing to move.'}${others > 0 && html`<span class="faint"> ${plural(others, 'other needs', 'others need')} no change.</span>`}</p>
    ${preview.mistake && html`<p class="note">${preview.mistake}</p>`}
    ${preview.doubts?.length > 0 &&
      html`<div class="failure" role="alert"><p class="failure-text">This move is probably a mistake.</p>
        <ul>${preview.doubts.map((d) => html`<li>${d}</li>`)}</ul></div>`}
    ${problems.length > 0 &&
    html`<div class="warnings">
      <p>${plural(problems.length, 'semaphore must', 'semaphores must')} be edited by hand:</p>
      <ul>${problems.slice(0, 20).map((n) =>
        html`<li><a href=${`/s/${encodeURIComponent(n.semaphore)}?tab=rule`}>${n.semaphore}</a>: ${n.why}</li>`)}</ul></div>`}`;
}

function MoveForm() {
  const selection = useSelection();
  const [params] = useQuery();
  const [o, set] = useState({ from: params.get('from') ?? '', to: params.get('to') ?? '', drain: '' });
  const [open, setOpen] = useState(false);
  const request = () => ({ selector: selection.isSet ? selection.selector : { all: true }, from_group: o.from.trim(),
    to_group: o.to.trim(), ...drain(o.drain), ...byline() });
  const why = !o.from.trim() || !o.to.trim() ? 'Enter both groups first.' : problem(() => drain(o.drain));
  return html`<form class="stack" onSubmit=${(e) => (e.preventDefault(), why || setOpen(true))}>
    <fieldset class="panel">
      <legend>Groups</legend>
      <div class="form">
        <${Text} label="From group" value=${o.from} onInput=${(from) => set({ ...o, from })}
          list="move-groups" required />
        <${Text} label="To group" value=${o.to} onInput=${(to) => set({ ...o, to })} list="move-groups" required />
        <${DrainField} value=${o} set=${set} />
        <${Groups} id="move-groups" />
      </div>
    </fieldset>
    <${SelectionFields} selection=${selection} optional="All semaphores that admit the old group but not the new one. Narrow them down by name or label." />
    <p class="row end"><${Action} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${why}>Preview the move …<//></p>
    ${open &&
    html`<${Review}
      title=${`Move from ${o.from} to ${o.to}`}
      verb=${(p) => `Move ${plural(p.moves?.length ?? 0, 'semaphore', 'semaphores')}`}
      role="ROLE_OPERATOR"
      preview=${async (signal) => post('/v1/move', { ...request(), dry_run: true }, signal)}
      extra=${(p) => html`<${MoveNotes} preview=${p} />`}
      nothing=${(p) => (p.moves?.length ? '' : p.mistake || 'There is nothing to move.')}
      run=${async (common, p) => post('/v1/move', { ...request(), expected: p.digest, ...common })}
      done=${(a) => `${plural(a.moves?.length ?? 0, 'semaphore', 'semaphores')} moved from ${o.from} to ${o.to}.`}
      onDone=${(a, p) => showChange('move', `Moved from ${o.from} to ${o.to}`, a, p)}
      onClose=${() => setOpen(false)}
    />`}
  </form>`;
}

function PauseForm({ resume }) {
  const selection = useSelection();
  const [o, set] = useState({ duration: '', until: '', stop: false, drain: '', keep: true });
  const [open, setOpen] = useState(false);
  const request = () =>
    resume
      ? { selector: selection.selector }
      : { selector: selection.selector, ...timeLimit(o), ...(o.keep && { keep_paused: true }),
        ...(o.stop && { stop: true, ...drain(o.drain) }) };
  const why = !selection.isSet ? 'Select some semaphores first.' : problem(() => (timeLimit(o), drain(o.drain)));
  const name = resume ? 'resume' : 'pause';
  return html`<form class="stack" onSubmit=${(e) => (e.preventDefault(), why || setOpen(true))}>
    <${SelectionFields} selection=${selection} />
    ${!resume &&
    html`<fieldset class="panel">
      <legend>How long, and what happens to running work</legend>
      <div class="form">
        <${EndFields} value=${o} set=${set} emptyHelp="Empty: until resumed." />
        <${Check} label="Stop holders too" checked=${o.stop} onChange=${(stop) => set({ ...o, stop })}
          help="Otherwise running work continues until it finishes." />
        ${o.stop && html`<${DrainField} value=${o} set=${set} />`}
        <${Check} label="Keep existing pauses" checked=${o.keep} onChange=${(keep) => set({ ...o, keep })}
          help="Otherwise this pause replaces them, including their end times." />
      </div>
    </fieldset>`}
    <p class="row end"><${Action} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${why}>${resume ? 'Preview …' : 'Preview the pause …'}<//></p>
    ${open &&
    html`<${Review}
      title=${`${resume ? 'Resume' : 'Pause'} ${selectorText(selection.selector)}${o.duration.trim() ? ` for ${o.duration.trim()}` : ''}`}
      verb=${resume ? 'Resume' : 'Pause'}
      role="ROLE_OPERATOR"
      preview=${async (signal) => post('/v1/preview', { [name]: request() }, signal)}
      run=${async (common, p) => post(`/v1/${name}`, { ...request(), expected: p.digest, ...common })}
      done=${(a) => `${plural(a.names?.length ?? 0, 'semaphore', 'semaphores')} ${name}d.`}
      kind=${o.stop ? 'danger' : undefined}
      onDone=${(a, p) => showChange(name, `${plural(a.names?.length ?? 0, 'semaphore', 'semaphores')} ${name}d`, a, p)}
      onClose=${() => setOpen(false)}
    />`}
  </form>`;
}

const cordonedText = (c) => capitalize(`${cordonTarget(c)} is cordoned ${cordonEnd(c)}`);

function CordonForm() {
  const [params] = useQuery();
  const [o, set] = useState({ group: params.get('group') ?? '', acquirer: params.get('acquirer') ?? '', duration: '',
    until: '', drain: '' });
  const [open, setOpen] = useState(false);
  const request = () => ({
    ...(o.group.trim() && { group_pattern: o.group.trim() }),
    ...(o.acquirer.trim() && { acquirer_pattern: o.acquirer.trim() }),
    ...timeLimit(o),
    ...drain(o.drain),
  });
  const why = !o.group.trim() && !o.acquirer.trim() ? 'Enter a group or an acquirer first.' : problem(() => request());
  const target = () => cordonTarget(request());
  const until = () => (o.duration.trim() ? `for ${o.duration.trim()}` : cordonEnd(request()));
  return html`<form class="stack" onSubmit=${(e) => (e.preventDefault(), why || setOpen(true))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is being patched.</p>
    <fieldset class="panel">
      <legend>Who is shut out, and for how long</legend>
      <div class="form">
        <${Text} label="Group pattern" value=${o.group} onInput=${(group) => set({ ...o, group })} list="cordon-groups"
          help="A caller is shut out when either pattern matches." />
        <${Text} label="Host (acquirer) pattern" value=${o.acquirer} onInput=${(acquirer) => set({ ...o, acquirer })}
          placeholder="host-3" />
        <${EndFields} value=${o} set=${set} emptyHelp="Empty: until the cordon is removed." />
        <${DrainField} value=${o} set=${set} />
        <${Groups} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${Action} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${why}>Preview the cordon …<//></p>
    ${open &&
    html`<${Review}
      title=${`Cordon ${target()}`}
      verb=${`Cordon ${target()}`}
      kind="danger"
      role="ROLE_OPERATOR"
      extra=${() => html`<p class="lead">${capitalize(target())} will be shut out of every semaphore ${until()}.</p>`}
      preview=${async (signal) => post('/v1/preview', { cordon: request() }, signal)}
      run=${async (common) => post('/v1/cordon', { ...request(), ...common })}
      done=${(a) => `${cordonedText(a.cordon)}.`}
      onDone=${(a, p) => (cordonsChanged(), showChange('cordon', cordonedText(a.cordon), a, p))}
      onClose=${() => setOpen(false)}
    />`}
  </form>`;
}

export function Move() {
  useTitle('Move and pause');
  const [params] = useQuery();
  const action = params.get('do') ?? 'move';
  return html`<${Title}>Move and pause<//>
    <${Cordons} />
    <${LastChange} where=${action} />
    <${Tabs} tabs=${tabs} query="do" label="What to do" />
    ${action === 'pause'
      ? html`<${PauseForm} key="pause" />`
      : action === 'resume'
        ? html`<${PauseForm} key="resume" resume />`
        : action === 'cordon'
          ? html`<${CordonForm} />`
          : action === 'move'
            ? html`<${MoveForm} />`
            : html`<${Empty} title="There is no such action." />`}`;
}
