// Moving work to another group, pausing it, and shutting out a group or a host: chosen by names and labels, previewed,
// executed and followed.
import { useEffect, useRef, useState } from 'preact/hooks';
import { all, get, post } from '../lib/api.js';
import { capital, count, plural, some } from '../lib/format.js';
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
import { DrainField, EndFields, drain, end, problem } from '../ui/options.js';
import { Review, made, openUndo, ran } from '../ui/review.js';
import { Title } from '../ui/shell.js';
import { Cordons, cordonsChanged } from './cordons.js';
import { filtersOf } from './overview.js';
import { selectorText } from './pause.js';

const tabs = [['move', 'Move'], ['pause', 'Pause'], ['resume', 'Resume'], ['cordon', 'Cordon']];

const list = (text) => text.split(/[\n,]/).map((s) => s.trim()).filter(Boolean);

// useChoice returns the choice of semaphores: names, globs and labels from the address, or the semaphores that match
// the filters of the overview.
function useChoice() {
  const [params, change] = useQuery();
  const [names, setNames] = useState(params.getAll('names').join('\n'));
  const [labels, setLabels] = useState(params.get('labels') ?? '');
  const [everything, setEverything] = useState(params.get('all') === '1');
  const [error, setError] = useState(null);
  const filters = filtersOf(params);
  const fromFilter = params.get('from_filter') === '1' &&
    (filters.search || filters.group || filters.states.length > 0);
  useEffect(() => {
    if (!fromFilter) return;
    all('/v1/definitions', filters, 'records', undefined, 1000).then(({ items, more }) => {
      setNames(items.map((r) => r.definition.name).join('\n'));
      setLabels('');
      change({ q: '', group: '', state: '', labels: '', from_filter: '' });
      if (more) setError(new Error('More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead.'));
    }, setError);
  }, []);
  const selector = everything ? { all: true } : { ...(list(names).length && { names: list(names) }),
    ...(labels.trim() && { labels: labels.trim() }) };
  return { names, setNames, labels, setLabels, everything, setEverything, selector, error,
    given: everything || names.trim() !== '' || labels.trim() !== '' };
}

function Chosen({ of, optional }) {
  const matching = useData(
    of.given ? (signal) => get('/v1/definitions',
      { names: of.selector.names, labels: of.selector.labels, page_size: 4 }, signal) : null,
    ['chosen', of.selector],
    { keep: true },
  );
  const records = matching.data?.records ?? [];
  const total = matching.data?.total ?? 0;
  return html`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${Text} label="Names" area=${4} value=${of.names} onInput=${of.setNames} disabled=${of.everything}
        placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${Text} label="Labels" value=${of.labels} onInput=${of.setLabels} disabled=${of.everything}
        placeholder="team=data,tier!=test" help="If you also enter names, both must match." />
      ${!optional && html`<${Check} label="All semaphores" checked=${of.everything} onChange=${of.setEverything}
        help="Whatever names and labels they have." />`}
    </div>
    ${of.error && html`<${Failure} error=${of.error} />`}
    ${matching.error && !matching.error.offline && html`<${Failure} error=${matching.error} />`}
    <p role="status" class="faint">
      ${!of.given
        ? optional ?? 'Choose some, or all.'
        : matching.data
          ? `${plural(total, 'semaphore', 'semaphores')} chosen${records.length ? `: ${some(records.map((r) => r.definition.name), 4)}${total > 4 ? ' …' : ''}` : ''}`
          : 'Reading …'}
    </p>
  </fieldset>`;
}

// Ran follows the holders that the last change stops, until all have stopped.
function Ran({ where }) {
  const last = useStore(ran);
  const of = last && (last.where ?? where) === where ? last : null;
  const entries = useData(of ? (signal) => get('/v1/history', { change: of.change, page_size: 1 }, signal) : null,
    ['ran', of?.change], { every: 5_000 });
  const mounted = useRef(Date.now());
  if (!of) return null;
  const by = entries.data?.entries?.[0]?.undone_by;
  const undone = by && by !== '0';
  return html`<section class="panel stack" aria-label="The last change made here">
    <div class="title"><h2>${of.text}</h2>
      <button type="button" class="plain" aria-label="Close" onClick=${() => ran.set(null)}>×</button></div>
    ${undone
      ? html`<p class="note">Undone by <a href=${`/activity?change=${by}`}>change ${by}</a>.</p>`
      : html`<${Follow} key=${of.change} change=${of.change} stopped=${of.stopped} begun=${of.at}
          later=${of.at < mounted.current} />`}
    <p class="row">
      <a class="button" href=${`/activity?change=${of.change}`}>Show change ${of.change}</a>
      ${!undone && html`<${Action} role="ROLE_OPERATOR"
        onClick=${() => openUndo(of.change, { what: of.text, where, onDone: entries.refresh })}>Undo …<//>`}
    </p>
  </section>`;
}

// done stores a change made on a tab, and scrolls up to show it.
function done(where, text, answer, preview) {
  made(text, answer, preview, where);
  scrollTo(0, 0);
}

function Groups({ id }) {
  const { groups } = useKnown();
  return html`<datalist id=${id}>${groups.map((g) => html`<option value=${g} />`)}</datalist>`;
}

// MoveNotes shows what a preview of a move says in addition to its effects.
function MoveNotes({ of }) {
  const problems = (of.not_moved ?? []).filter((n) => n.problem);
  const others = (of.not_moved ?? []).length - problems.length;
  return html`
    <p class="lead">${of.moves?.length ? `${plural(of.moves.length, 'semaphore moves', 'semaphores move')}.` : of.mistake ? '' : 'There is nothing to move.'}${others > 0 && html`<span class="faint"> ${count(others)} others need no change.</span>`}</p>
    ${of.mistake && html`<p class="note">${of.mistake}</p>`}
    ${of.doubts?.length > 0 &&
      html`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p>
        <ul>${of.doubts.map((d) => html`<li>${d}</li>`)}</ul></div>`}
    ${problems.length > 0 &&
    html`<div class="warnings">
      <p>${plural(problems.length, 'semaphore must', 'semaphores must')} be edited by hand:</p>
      <ul>${problems.slice(0, 20).map((n) =>
        html`<li><a href=${`/s/${encodeURIComponent(n.semaphore)}?tab=rule`}>${n.semaphore}</a>: ${n.why}</li>`)}</ul></div>`}`;
}

function MoveForm() {
  const choice = useChoice();
  const [params] = useQuery();
  const [o, set] = useState({ from: params.get('from') ?? '', to: params.get('to') ?? '', drain: '' });
  const [open, setOpen] = useState(false);
  const request = () => ({ selector: choice.given ? choice.selector : { all: true }, from_group: o.from.trim(),
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
    <${Chosen} of=${choice} optional="All semaphores that admit the old group and not the new one. Narrow them down by names or labels." />
    <p class="row end"><${Action} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${why}>Preview the move …<//></p>
    ${open &&
    html`<${Review}
      title=${`Move from ${o.from} to ${o.to}`}
      verb=${(p) => `Move ${plural(p.moves?.length ?? 0, 'semaphore', 'semaphores')}`}
      role="ROLE_OPERATOR"
      preview=${async (signal) => post('/v1/move', { ...request(), dry_run: true }, signal)}
      extra=${(p) => html`<${MoveNotes} of=${p} />`}
      nothing=${(p) => (p.moves?.length ? '' : p.mistake || 'There is nothing to move.')}
      run=${async (common, p) => post('/v1/move', { ...request(), expected: p.digest, ...common })}
      done=${(a) => `${plural(a.moves?.length ?? 0, 'semaphore', 'semaphores')} moved from ${o.from} to ${o.to}.`}
      onDone=${(a, p) => done('move', `Moved from ${o.from} to ${o.to}`, a, p)}
      onClose=${() => setOpen(false)}
    />`}
  </form>`;
}

function PauseForm({ resume }) {
  const choice = useChoice();
  const [o, set] = useState({ lasts: '', until: '', stop: false, drain: '', keep: true });
  const [open, setOpen] = useState(false);
  const request = () =>
    resume
      ? { selector: choice.selector }
      : { selector: choice.selector, ...end(o), ...(o.keep && { keep_paused: true }),
        ...(o.stop && { stop: true, ...drain(o.drain) }) };
  const why = !choice.given ? 'Choose some semaphores first.' : problem(() => (end(o), drain(o.drain)));
  const name = resume ? 'resume' : 'pause';
  return html`<form class="stack" onSubmit=${(e) => (e.preventDefault(), why || setOpen(true))}>
    <${Chosen} of=${choice} />
    ${!resume &&
    html`<fieldset class="panel">
      <legend>How long, and what happens to running work</legend>
      <div class="form">
        <${EndFields} value=${o} set=${set} without="Empty: until resumed." />
        <${Check} label="Stop holders too" checked=${o.stop} onChange=${(stop) => set({ ...o, stop })}
          help="Otherwise running work continues until it finishes." />
        ${o.stop && html`<${DrainField} value=${o} set=${set} />`}
        <${Check} label="Keep existing pauses" checked=${o.keep} onChange=${(keep) => set({ ...o, keep })}
          help="Otherwise this pause replaces them, with its own end." />
      </div>
    </fieldset>`}
    <p class="row end"><${Action} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${why}>${resume ? 'Preview …' : 'Preview the pause …'}<//></p>
    ${open &&
    html`<${Review}
      title=${`${resume ? 'Resume' : 'Pause'} ${selectorText(choice.selector)}${o.lasts.trim() ? ` for ${o.lasts.trim()}` : ''}`}
      verb=${resume ? 'Resume' : 'Pause'}
      role="ROLE_OPERATOR"
      preview=${async (signal) => post('/v1/preview', { [name]: request() }, signal)}
      run=${async (common, p) => post(`/v1/${name}`, { ...request(), expected: p.digest, ...common })}
      done=${(a) => `${plural(a.names?.length ?? 0, 'semaphore', 'semaphores')} ${name}d.`}
      kind=${o.stop ? 'danger' : undefined}
      onDone=${(a, p) => done(name, `${plural(a.names?.length ?? 0, 'semaphore', 'semaphores')} ${name}d`, a, p)}
      onClose=${() => setOpen(false)}
    />`}
  </form>`;
}

const cordoned = (c) => capital(`${cordonTarget(c)} is cordoned ${cordonEnd(c)}`);

function CordonForm() {
  const [params] = useQuery();
  const [o, set] = useState({ group: params.get('group') ?? '', acquirer: params.get('acquirer') ?? '', lasts: '',
    until: '', drain: '' });
  const [open, setOpen] = useState(false);
  const request = () => ({
    ...(o.group.trim() && { group_pattern: o.group.trim() }),
    ...(o.acquirer.trim() && { acquirer_pattern: o.acquirer.trim() }),
    ...end(o),
    ...drain(o.drain),
  });
  const why = !o.group.trim() && !o.acquirer.trim() ? 'Enter a group or an acquirer first.' : problem(() => request());
  const target = () => cordonTarget(request());
  const until = () => (o.lasts.trim() ? `for ${o.lasts.trim()}` : cordonEnd(request()));
  return html`<form class="stack" onSubmit=${(e) => (e.preventDefault(), why || setOpen(true))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is being patched.</p>
    <fieldset class="panel">
      <legend>Who is shut out, and for how long</legend>
      <div class="form">
        <${Text} label="Group pattern" value=${o.group} onInput=${(group) => set({ ...o, group })} list="cordon-groups"
          help="A caller is shut out when either pattern matches." />
        <${Text} label="Host (acquirer) pattern" value=${o.acquirer} onInput=${(acquirer) => set({ ...o, acquirer })}
          placeholder="host-3" />
        <${EndFields} value=${o} set=${set} without="Empty: until the cordon is removed." />
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
      extra=${() => html`<p class="lead">${capital(target())} gets no permit for any semaphore, ${until()}.</p>`}
      preview=${async (signal) => post('/v1/preview', { cordon: request() }, signal)}
      run=${async (common) => post('/v1/cordon', { ...request(), ...common })}
      done=${(a) => `${cordoned(a.cordon)}.`}
      onDone=${(a, p) => (cordonsChanged(), done('cordon', cordoned(a.cordon), a, p))}
      onClose=${() => setOpen(false)}
    />`}
  </form>`;
}

export function Move() {
  useTitle('Move and pause');
  const [params] = useQuery();
  const what = params.get('do') ?? 'move';
  return html`<${Title}>Move and pause<//>
    <${Cordons} />
    <${Ran} where=${what} />
    <${Tabs} of=${tabs} query="do" label="What to do" />
    ${what === 'pause'
      ? html`<${PauseForm} key="pause" />`
      : what === 'resume'
        ? html`<${PauseForm} key="resume" resume />`
        : what === 'cordon'
          ? html`<${CordonForm} />`
          : what === 'move'
            ? html`<${MoveForm} />`
            : html`<${Empty} title="There is no such form." />`}`;
}
