// Every semaphore: its state, the permits in use, the holder and how long it has held its permit, and the waiters.
import { Component } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, pollInterval } from '../lib/api.js';
import { brief, count, ms, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useKnown } from '../lib/known.js';
import { usePages } from '../lib/pages.js';
import { navigate, useDraft, useQuery, useTitle } from '../lib/router.js';
import { useData, useMedia, useStream, useThrottled } from '../lib/use.js';
import { recordNotes, rowNote, states, who } from '../lib/words.js';
import { Action, Dialog, Select, Text } from '../ui/controls.js';
import { Empty, Failure, Loading } from '../ui/feedback.js';
import { RecordState, State } from '../ui/glyph.js';
import { Title } from '../ui/shell.js';
import { Bar, Deadline, Since } from '../ui/table.js';
import { Virtual } from '../ui/virtual.js';
import { Cordons, cordonsChanged } from './cordons.js';

// parseFilters returns the filters in a query string as fields of ListDefinitions.
export function parseFilters(params) {
  return {
    search: params.get('q') ?? '',
    group: params.get('group') ?? '',
    labels: params.get('labels') ?? '',
    states: params.getAll('state').map((s) => `DEFINITION_STATE_${s.toUpperCase()}`),
  };
}

const stateName = (state) => state.value.slice('DEFINITION_STATE_'.length).toLowerCase();

// StateFilter shows the number of semaphores in each state and filters by state.
function StateFilter({ counts, total }) {
  const [params, change] = useQuery();
  const selected = params.getAll('state');
  const toggle = (name) => change({ state: selected.includes(name) ? selected.filter((s) =>
    s !== name) : [...selected, name] });
  return html`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${selected.length === 0} onClick=${() => change({ state: '' })}>
      <span class="stat-n num">${total === undefined ? '–' : count(total)}</span><span class="stat-w">all</span>
    </button>
    ${states.map((s) => {
      const n = counts?.get(s.value);
      return html`<button
        type="button"
        key=${s.value}
        class="stat ${counts && !n ? 'zero' : ''} tone-${s.tone}"
        aria-pressed=${selected.includes(stateName(s))}
        title="${s.help} A semaphore can be in several states."
        onClick=${() => toggle(stateName(s))}
      >
        <span class="stat-n num">${counts ? count(n) : '–'}</span><span class="stat-w">
        <${State} value=${s.value} text=${stateName(s)} /></span>
      </button>`;
    })}
  </div>`;
}

const quote = (value) => (/[,=!()"]/.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value);

// LabelFilter offers the existing labels and accepts any selector as text.
function LabelFilter({ labels }) {
  const [params, change] = useQuery();
  const selector = params.get('labels') ?? '';
  const [text, setText] = useDraft(selector, (labels) => change({ labels }), 400);
  const [key, setKey] = useState('');
  const values = labels?.find((l) => l.key === key)?.values ?? [];
  const add = (value) => {
    if (!value) return;
    change({ labels: [selector, value === '*' ? key : `${key}=${quote(value)}`].filter(Boolean).join(',') });
    setKey('');
  };
  return html`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${text} placeholder="team=data,tier!=test" onInput=${(e) => setText(e.target.value)}
        autocomplete="off" spellcheck=${false} />
    </div>
    ${labels?.length > 0 &&
    html`<${Select} label="Add a label" value=${key} onChange=${setKey}
      options=${[['', 'Label …'], ...labels.map((l) => [l.key, l.key])]} />
      ${key &&
      html`<${Select} label="Value" value="" onChange=${add}
        options=${[['', 'Value …'], ['*', 'any value'],
          ...values.map((v) => [v.value, `${v.value} (${count(v.count)})`])]} />`}`}`;
}

function Filters({ summary, shown }) {
  const [params, change] = useQuery();
  const [q, setQ] = useDraft(params.get('q') ?? '', (q) => change({ q }));
  const [group, setGroup] = useDraft(params.get('group') ?? '', (group) => change({ group }), 400);
  const active = ['q', 'group', 'labels', 'state'].filter((k) => params.get(k));
  const { groups } = useKnown();
  const wide = useMedia('(min-width: 60rem)');
  const onKeyDown = (e) => {
    if (e.key !== 'ArrowDown' && e.key !== 'Enter') return;
    e.preventDefault();
    dispatchEvent(new Event('enter-list'));
  };
  return html`<form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd class="hover-only" aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${q} placeholder="Words in the name, description or labels"
        onInput=${(e) => setQ(e.target.value)} onKeyDown=${onKeyDown} autocomplete="off" spellcheck=${false} />
    </div>
    <details class="more-filters" open=${wide || active.some((k) => k === 'group' || k === 'labels')}>
      <summary>Filters</summary>
      <div class="filters-body">
        <div class="field">
          <label for="group">Admits group</label>
          <input id="group" value=${group} list="groups" placeholder="any" onInput=${(e) => setGroup(e.target.value)}
            autocomplete="off" spellcheck=${false} />
          <datalist id="groups">${groups.map((g) => html`<option value=${g} />`)}</datalist>
        </div>
        <${LabelFilter} labels=${summary?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${shown}</span>
      ${active.length > 0 && html`<button type="button"
        onClick=${() => change({ q: '', group: '', labels: '', state: '' })}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...params, ['from_filter', '1']])}`}>Move or pause</a>
    </p>
  </form>`;
}

const head = ['State', 'Semaphore', 'In use', 'Holder', 'Time left', 'Queue', 'Group pattern'];

// Row shows one semaphore. It re-renders only if its record has changed, because scrolling moves many rows.
class Row extends Component {
  shouldComponentUpdate(next) {
    return next.record !== this.props.record;
  }

  render({ record }) {
    return html`<${Cells} record=${record} />`;
  }
}

// The cells keep their positions when numbers change.
function Cells({ record }) {
  if (!record) return html`<span class="row-loading" role="gridcell" aria-colspan=${head.length}>Loading …</span>`;
  const d = record.definition;
  const permit = record.holder;
  const more = (record.holders ?? 0) - 1;
  const note = rowNote(record);
  const href = `/s/${encodeURIComponent(d.name)}`;
  const used = Number(record.used ?? 0);
  const permits = d.permits ?? 0;
  const waiters = record.waiters ?? 0;
  return html`
    <span class="c-state" role="gridcell"><${RecordState} record=${record} /></span>
    <span class="c-name" role="rowheader">
      <a href=${href} tabindex="-1">${d.name}</a>
      <span class="sub" title=${note && recordNotes(record).join('\n')}>${note ?? d.description ?? ''}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${Bar} share=${permits ? used / permits : used ? 1 : 0} tone=${used > permits ? 'deny' : 'accent'}
        label="${used} of ${permits} permits in use" />
      <span>${count(used)}<span class="faint"> / ${count(permits)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${permit
        ? html`<span class="clip">${who(permit.identity)}</span>
          <span class="sub">${permit.drain_left ? html`drains for ${brief(ms(permit.drain_left))}` : html`for <${Since} at=${permit.granted_at} />`}${more > 0 &&
            ` and ${count(more)} more`}</span>`
        : html`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${permit ? html`<${Deadline} at=${record.deadline}
      duration=${ms(permit.duration)} />` : html`<span class="faint">–</span>`}</span>
    <span class="c-queue num"
      role="gridcell">${waiters ? html`<span class="tag tone-wait">${count(waiters)}</span>` : html`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${d.group_pattern}</code></span>`;
}

const maxNamesLength = 6000; // characters of names in a URL

export function Overview() {
  useTitle('Overview');
  const [params] = useQuery();
  const filters = parseFilters(params);
  const list = usePages(filters);
  const narrow = useMedia('(max-width: 47.99rem)');
  const medium = useMedia('(max-width: 63.99rem)');
  const height = narrow ? 104 : medium ? 76 : 52;
  const { search, group, labels } = filters;
  const [pollEvery, setPollEvery] = useState(10_000);
  const summary = useData(
    async (signal) => {
      const started = performance.now();
      const data = await get('/v1/definitions:summarize', { search, group, labels }, signal);
      setPollEvery(pollInterval(performance.now() - started));
      return data;
    },
    ['summary', search, group, labels],
    { every: pollEvery, keep: true },
  );
  // A server caches its counts for a second.
  const recount = useThrottled(summary.refresh, 1200, { rest: 2 * pollEvery, burst: 2 });
  const counts = useMemo(() => summary.data &&
    new Map((summary.data.states ?? []).map((s) => [s.state, s.count])), [summary.data]);

  // A list filtered by state must be reloaded when the counts of those states change.
  const selectedCounts = filters.states.map((s) => counts?.get(s) ?? 0).join();
  const lastCounts = useRef(selectedCounts);
  useEffect(() => {
    if (counts && lastCounts.current !== selectedCounts) {
      lastCounts.current = selectedCounts;
      list.refresh();
    }
  }, [selectedCounts, counts]);

  // The visible semaphores are watched from the revision at which they were read.
  const [watched, setWatched] = useState({ names: [] });
  const visible = useRef([0, 0]);
  const watchVisible = useThrottled(() => {
    const [from, to] = visible.current;
    const next = [];
    let length = 0;
    for (let i = from; i < to && length < maxNamesLength; i++) {
      const name = list.at(i)?.definition.name;
      if (!name) continue;
      next.push(name);
      length += name.length + 8;
    }
    setWatched((old) => (old.names.join('\n') === next.join('\n') ? old : { names: next, from_revision: list.since(from, to) + 1 }));
  }, 150);
  const range = (from, to) => {
    visible.current = [from, to];
    list.load(from, to);
    watchVisible();
  };
  useEffect(watchVisible);

  useStream(watched.names.length ? '/v1/watch' : null, { ...watched, permits: true, records: true, live_every: '2s' }, {
    open: (again) => again && list.refresh(),
    missed() { // also after a change to the cordons, which affects every semaphore
      list.refresh();
      recount();
      cordonsChanged();
    },
    message({ records = [], undefined: deleted = [] }) {
      list.update(records);
      if (deleted.length) list.refresh();
      if (records.length || deleted.length) recount();
    },
    live(data) {
      const live = new Map((data.live.semaphores ?? []).map((s) => [s.semaphore, s]));
      const at = Date.now();
      list.alter((r) => {
        if (!watched.names.includes(r.definition.name)) return r;
        const s = live.get(r.definition.name);
        const waiters = s?.waiters ?? 0;
        const left = s?.deadlines?.find((d) => d.token === r.holder?.token)?.expires_in;
        const deadline = left ? at + ms(left) : r.deadline;
        return waiters === (r.waiters ?? 0) && Math.abs(deadline - r.deadline) < 200 ? r : { ...r, waiters, deadline };
      });
    },
  });

  const open = (i) => {
    const r = list.at(i);
    if (r) navigate(`/s/${encodeURIComponent(r.definition.name)}`);
  };
  const total = list.total;
  const shown = total === undefined ? '…' : plural(total, 'semaphore', 'semaphores');
  // The header does not depend on the scroll position, so it is not re-rendered while scrolling.
  const header = useMemo(
    () => html`<${Title} aside=${html`<${NewSemaphore} />`}>Overview<//>
      <${Cordons} />
      <${StateFilter} counts=${counts} total=${summary.data && (summary.data.total ?? 0)} />
      <${Filters} summary=${summary.data} shown=${shown} />`,
    [counts, summary.data, shown],
  );
  return html`${header}
    ${list.error && !list.error.offline && html`<${Failure} error=${list.error} retry=${list.refresh} />`}
    ${total === undefined
      ? !list.error && html`<${Loading} what="Loading the semaphores" />`
      : total === 0
        ? html`<${NoSemaphores} filtered=${[...params].length > 0} />`
        : html`<${Virtual}
            label="Semaphores"
            total=${total}
            height=${height}
            columns=${head.length}
            range=${range}
            open=${open}
            head=${head.map((text) => html`<span role="columnheader">${text}</span>`)}
            row=${(i) => html`<${Row} record=${list.at(i)} />`}
          />`}`;
}

// NewSemaphore asks for a name, then opens the form for a new rule.
function NewSemaphore() {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const submit = (event) => {
    event.preventDefault();
    if (name.trim()) navigate(`/s/${encodeURIComponent(name.trim())}?tab=rule`);
  };
  return html`<${Action} role="ROLE_EDITOR" onClick=${() => setOpen(true)}>New semaphore …<//>
    ${open &&
    html`<${Dialog} title="New semaphore" onClose=${() => setOpen(false)}>
      <form onSubmit=${submit}>
        <${Text} label="Name" value=${name} onInput=${setName} maxlength="256" required
          help="Callers acquire it by this name. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${() => setOpen(false)}>Cancel</button>
        <button class="primary">Define its rule …</button></p>
      </form>
    <//>`}`;
}

function NoSemaphores({ filtered }) {
  if (filtered) return html`<${Empty} title="No semaphores match.">Remove a filter to see more.<//>`;
  return html`<${Empty} title="There are no semaphores yet.">A semaphore is a
    named rule: which groups and hosts may run a task, and how many at once. Create one here, with <code>gkctl apply -f
    FILE</code>, or with <code>gatekeeperd --definitions FILE</code>.<//>`;
}
