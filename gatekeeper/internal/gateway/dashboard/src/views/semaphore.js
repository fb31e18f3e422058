// One semaphore: its rule, holders, waiters, denied callers and history.
import { useState } from 'preact/hooks';
import { all, get, path, post } from '../lib/api.js';
import { count, ms } from '../lib/format.js';
import { html } from '../lib/html.js';
import { navigate, useQuery, useTitle } from '../lib/router.js';
import { useData, useStream, useThrottled } from '../lib/use.js';
import { recordNotes, recordStates } from '../lib/words.js';
import { Action, Tabs } from '../ui/controls.js';
import { Empty, Failure, Loading } from '../ui/feedback.js';
import { State } from '../ui/glyph.js';
import { Review } from '../ui/review.js';
import { Title } from '../ui/shell.js';
import { Bar } from '../ui/table.js';
import { Cordons, cordonsChanged } from './cordons.js';
import { PauseDialog, ResumeDialog } from './pause.js';
import { Explain } from './semaphore/explain.js';
import { Firings } from './semaphore/firings.js';
import { History } from './semaphore/history.js';
import { Now } from './semaphore/now.js';
import { Rule } from './semaphore/rule.js';
import { Tasks } from './semaphore/tasks.js';

const tabs = [
  ['now', 'Now'],
  ['rule', 'Rule'],
  ['history', 'History'],
  ['firings', 'Firings'],
  ['tasks', 'Tasks'],
  ['explain', 'Explain'],
];

const withDeadlines = (permits, at) =>
  permits.map((p) => ({ ...p, deadline: p.expires_in ? at + ms(p.expires_in) : 0 }));

// useSemaphore loads a semaphore and follows its changes.
function useSemaphore(name) {
  const record = useData((signal) => get(path`/v1/definitions/${name}`, {}, signal),
    ['record', name], { every: 15_000 });
  const holders = useData(
    async (signal) => {
      const at = Date.now();
      return withDeadlines((await all('/v1/holders', { names: [name] }, 'permits', signal)).items, at);
    },
    ['holders', name],
    { every: 15_000 },
  );
  const waiters = useData(
    async (signal) => ({ at: Date.now(), ...(await get('/v1/waiters', { names: [name], page_size: 200 }, signal)) }),
    ['waiters', name],
    { every: 5_000 },
  );
  const [live, setLive] = useState(null);
  const [events, setEvents] = useState(0);
  const reload = useThrottled(() => {
    holders.refresh();
    waiters.refresh();
    setEvents((n) => n + 1);
  }, 40, { rest: 1_000 });
  const reloadAll = () => {
    record.refresh();
    reload();
  };
  useStream('/v1/watch', { names: [name], permits: true, records: true, live_every: '1s' }, {
    open: (again) => again && reloadAll(),
    missed() {
      reloadAll();
      cordonsChanged();
    },
    message({ records = [], undefined: deleted = [] }) {
      if (records.length) record.set(() => ({ record: records[0] }));
      if (deleted.length) record.refresh();
      if (records.length || deleted.length) reload();
    },
    live(data) {
      const mine = (data.live.semaphores ?? []).find((s) => s.semaphore === name);
      const at = Date.now();
      const ends = new Map((mine?.deadlines ?? []).map((d) => [d.token, at + ms(d.expires_in)]));
      holders.set((list) => list?.map((p) => (ends.has(p.token) ? { ...p, deadline: ends.get(p.token) } : p)));
      if (live && (mine?.waiters ?? 0) !== live.waiters) waiters.refresh();
      setLive({ waiters: mine?.waiters ?? 0 });
    },
  });
  return { record, holders, waiters, live, events, reload: reloadAll };
}

function Actions({ record, onChange }) {
  const [dialog, setDialog] = useState('');
  const name = record.definition.name;
  const close = () => setDialog('');
  return html`
    ${record.pause
      ? html`<${Action} role="ROLE_OPERATOR" semaphore=${name} onClick=${() => setDialog('resume')}>Resume …<//>`
      : html`<${Action} role="ROLE_OPERATOR" semaphore=${name} onClick=${() => setDialog('pause')}>Pause …<//>`}
    <a class="button" href=${`/move?${new URLSearchParams({ names: name, ...(/^[\w-]+$/.test(record.definition.group_pattern) && { from: record.definition.group_pattern }) })}`}>Move …</a>
    <${Action} role="ROLE_EDITOR" semaphore=${name} kind="danger" onClick=${() => setDialog('delete')}>Delete …<//>
    ${dialog === 'pause' && html`<${PauseDialog} selector=${{ names: [name] }} onClose=${close} onDone=${onChange} />`}
    ${dialog === 'resume' && html`<${ResumeDialog} selector=${{ names: [name] }} onClose=${close}
      onDone=${onChange} />`}
    ${dialog === 'delete' &&
    html`<${Review}
      title=${`Delete ${name}`}
      verb="Delete"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${name}
      preview=${(signal) => post('/v1/preview',
        { edits: { edits: [{ delete: name, expected_version: record.version }] } }, signal)}
      run=${(common) => post('/v1/definitions:edit',
        { edits: [{ delete: name, expected_version: record.version }], ...common })}
      done=${() => `${name} deleted.`}
      onDone=${() => navigate('/')}
      onClose=${close}
    />`}`;
}

// Figures shows a semaphore's current numbers.
function Figures({ record, holders, live }) {
  const used = Number(record.used ?? 0);
  const permits = record.definition.permits ?? 0;
  return html`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${count(used)}<span class="faint"> / ${count(permits)}</span></dd>
      <dd><${Bar} share=${permits ? used / permits : used ? 1 : 0} label="${used} of ${permits} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${count(holders?.length ?? record.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${count(live?.waiters ?? record.waiters)}</dd></div>
  </dl>`;
}

export function Semaphore({ name }) {
  useTitle(name);
  const s = useSemaphore(name);
  const [params] = useQuery();
  const tab = params.get('tab') ?? 'now';
  const record = s.record.data?.record;
  const missing = s.record.error?.code === 'NOT_FOUND';
  const gone = missing && !record;
  return html`
    <${Title} aside=${record && html`<${Actions} record=${record} onChange=${s.reload} />`}>${name}<//>
    <${Cordons} />
    ${missing && html`<p class="note">This semaphore ${record ? 'was deleted' : 'does not exist'}. Its history and firings
      may still be available.</p>`}
    ${record && !missing &&
    html`<div class="semaphore-status">
      <p class="row">${recordStates(record).map((st) => html`<${State} key=${st.value} value=${st.value} />`)}</p>
      ${recordNotes(record).map((text, i) => html`<p class="note ${i === 0 ? `tone-${recordStates(record)[0]?.tone}` : ''}">${text}</p>`)}
      <${Figures} record=${record} holders=${s.holders.data} live=${s.live} />
    </div>`}
    ${s.record.error && !missing && !s.record.error.offline &&
      html`<${Failure} error=${s.record.error} retry=${s.record.refresh} />`}
    <${Tabs} tabs=${tabs} label="Parts of this semaphore" />
    ${!record && !missing
      ? !s.record.error && html`<${Loading} what="Loading the semaphore" />`
      : tab === 'rule'
        ? html`<${Rule} key=${name} name=${name} record=${missing ? null : record} onSaved=${s.reload} />`
        : tab === 'history'
          ? html`<${History} name=${name} events=${s.events} onChange=${s.reload} />`
          : tab === 'firings'
            ? html`<${Firings} name=${name} events=${s.events} />`
            : tab === 'explain'
              ? html`<${Explain} name=${name} record=${record} />`
              : gone
                ? html`<${Empty} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at
                  its <a href="?tab=history">history</a>.<//>`
                : tab === 'tasks'
                  ? html`<${Tasks} name=${name} events=${s.events} />`
                  : html`<${Now} name=${name} semaphore=${s} />`}`;
}
