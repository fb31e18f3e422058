// A semaphore's current and past holders, its waiters, and its denied callers.
import { useState } from 'preact/hooks';
import { get, path, post } from '../../lib/api.js';
import { count, dateTime, ms, plural, seconds } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { byline } from '../../lib/session.js';
import { useData } from '../../lib/use.js';
import { enumText, firingName, permitState, permitTone, who } from '../../lib/words.js';
import { Action, Check, Dialog, Text } from '../../ui/controls.js';
import { Empty, Failure, Loaded, notify } from '../../ui/feedback.js';
import { problem } from '../../ui/options.js';
import { Deadline, Since, Table } from '../../ui/table.js';
import { Timeline } from './timeline.js';

function RevokeDialog({ permit, onClose, onDone }) {
  const [o, set] = useState({ reason: '', drain: '', unsafe: false });
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      const body = { reason: o.reason, ...byline() };
      if (o.drain.trim()) body.drain = seconds(o.drain);
      if (o.unsafe) body.unsafe_now = true;
      await post(path`/v1/permits/${permit.token}:revoke`, body);
      notify(`The permit of ${who(permit.identity)} was revoked.`);
      onDone();
      onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return html`<${Dialog} title="Revoke a permit" onClose=${onClose}>
    <form onSubmit=${submit}>
      <p>${who(permit.identity)} must stop. Its refreshes will be refused, and its slot will be freed when it releases its
      permit or the permit expires.</p>
      <${Text} label="Reason" value=${o.reason} onInput=${(reason) => set({ ...o, reason })} maxlength="1024" />
      <${Text} label="Drain" placeholder="2m" value=${o.drain} onInput=${(drain) => set({ ...o, drain })}
        error=${problem(() => seconds(o.drain))} help="How long it may keep running. Empty: it must stop now." />
      <${Check} label="Free the slot immediately" checked=${o.unsafe} onChange=${(unsafe) => set({ ...o, unsafe })}
        help="Unsafe: if the holder is still running, it runs at the same time as the next one, and only fencing tokens protect what they write." />
      <${Failure} error=${error} />
      <p class="row end">
        <button type="button" onClick=${onClose}>Cancel</button>
        <button class=${o.unsafe ? 'danger' : 'primary'}>${busy ? 'Working …' : o.unsafe ? 'Revoke and free the slot' : 'Revoke'}</button>
      </p>
    </form>
  <//>`;
}

function ClearDialog({ permit, onClose, onDone }) {
  const [reason, setReason] = useState('');
  const [error, setError] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    post(path`/v1/permits/${permit.token}:clear`, { reason, ...byline() }).then(() => {
      notify('The slot is free.');
      onDone();
      onClose();
    }, setError);
  };
  return html`<${Dialog} title="Clear a slot" onClose=${onClose}>
    <form onSubmit=${submit}>
      <p>The permit of ${who(permit.identity)} expired, and its slot is held. Clear it once you know that its job
      is no longer running.</p>
      <${Text} label="Reason" value=${reason} onInput=${setReason} maxlength="1024" />
      <${Failure} error=${error} />
      <p class="row end"><button type="button" onClick=${onClose}>Cancel</button>
      <button class="primary">Clear the slot</button></p>
    </form>
  <//>`;
}

const metadata = (m) => Object.entries(m ?? {}).map(([k, v]) => `${k}=${v}`).join(', ');

function Holders({ permits, onChange }) {
  const [dialog, setDialog] = useState(null);
  const close = () => setDialog(null);
  return html`<section class="panel">
    <h2>Holders</h2>
    <${Table}
      caption="Holders"
      rows=${permits}
      rowKey=${(p) => p.token}
      empty=${html`<${Empty} title="No permits are held." />`}
      columns=${[
        ['Holder', (p) => html`${who(p.identity)}${p.identity?.holder_id && html`<div class="sub">${p.identity.holder_id}</div>`}`, 'name'],
        ['State', (p) => html`<span class="tone-${permitTone(p)}">${permitState(p)}</span>`],
        ['Since', (p) => html`<${Since} at=${p.granted_at} />`, 'num'],
        ['Time left', (p) => html`<${Deadline} at=${p.deadline} duration=${ms(p.duration)} />`, 'num'],
        ['Weight', (p) => count(p.weight), 'num'],
        ['Token', (p) => p.token, 'num'],
        ['Details', (p) => [firingName(p.firing), metadata(p.metadata)].filter(Boolean).join('; ') || '–'],
        ['', (p) =>
          p.state === 'PERMIT_STATE_HELD'
            ? html`<${Action} role="ROLE_OPERATOR" semaphore=${p.semaphore}
              onClick=${() => setDialog({ clear: p })}>Clear …<//>`
            : p.state === 'PERMIT_STATE_COOLING'
              ? null
              : html`<${Action} role="ROLE_OPERATOR" semaphore=${p.semaphore} group=${p.identity?.group}
                acquirer=${p.identity?.acquirer} onClick=${() => setDialog({ revoke: p })}>Revoke …<//>`,
          'end'],
      ]}
    />
    ${dialog?.revoke && html`<${RevokeDialog} permit=${dialog.revoke} onClose=${close} onDone=${onChange} />`}
    ${dialog?.clear && html`<${ClearDialog} permit=${dialog.clear} onClose=${close} onDone=${onChange} />`}
  </section>`;
}

function Waiters({ data }) {
  const since = (w) => new Date(data.at - ms(w.waiting)).toISOString();
  return html`<section class="panel">
    <h2>Queue</h2>
    <${Table}
      caption="Waiters"
      rows=${data.waiters}
      rowKey=${(w) => `${w.request_id}/${w.place}`}
      empty=${html`<${Empty} title="No callers are waiting." />`}
      columns=${[
        ['Position', (w) => w.place || 'idle worker', 'num'],
        ['Waiter', (w) => who(w.identity), 'name'],
        ['Weight', (w) => count(w.weight), 'num'],
        ['Waiting for', (w) => html`<${Since} at=${since(w)} />`, 'num'],
      ]}
      note=${data.next_page_token && 'More callers are waiting than are shown here.'}
    />
    ${(data.tasks ?? []).map((t) =>
      html`<p key=${t.job}><a href=${`/jobs/${encodeURIComponent(t.job)}`}>${t.job}</a>:
        ${plural(t.tasks, 'task is', 'tasks are')} waiting for a worker.</p>`)}
  </section>`;
}

const explainLink = (d) =>
  `?${new URLSearchParams({ tab: 'explain', group: d.identity?.group ?? '', acquirer: d.identity?.acquirer ?? '' })}`;

function DeniedTable({ rows, caption }) {
  return html`<${Table}
    caption=${caption}
    rows=${rows}
    rowKey=${(d) => `${d.semaphore} ${who(d.identity)}`}
    columns=${[
      ['Caller', (d) => who(d.identity), 'name'],
      ['Why', (d) => html`${d.message}
        <div class="second-line">${enumText(d.reason, 'REASON_')}${d.other_holder &&
          `; ${who(d.other_holder)} got a permit, so this may be a standby`}${d.resolved && '; no longer denied for this reason'}${d.semaphore &&
            html`. <a class="nowrap" href=${explainLink(d)}>Explain</a>`}</div>`],
      ['Times', (d) => count(d.count), 'num'],
      ['Last', (d) => html`<span title=${dateTime(d.last)}><${Since} at=${d.last} /> ago</span>`, 'num'],
    ]}
  />`;
}

function Denied({ name, events }) {
  const denied = useData((signal) => get('/v1/denied', { names: [name], resolved: true }, signal),
    ['denied', name, events], { every: 10_000, keep: true });
  return html`<section class="panel">
    <h2>Denied</h2>
    <${Loaded} source=${denied} what="Loading the denied callers">
      ${(data) => html`
        ${data.callers?.length
          ? html`<${DeniedTable} rows=${data.callers} caption="Callers that were denied" />`
          : html`<${Empty} title="No callers are denied.">Callers appear here when waiting would not
            help them${data.since ? `. Recorded since ${dateTime(data.since)}` : ''}.<//>`}
        ${data.misspelled?.length > 0 &&
        html`<h3>Possible typos of this name</h3>
          <ul>${data.misspelled.map((d) =>
            html`<li>${who(d.identity)} requested <code>${d.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`;
}

export function Now({ name, semaphore }) {
  return html`<div class="stack">
    <${Loaded} source=${semaphore.holders}
      what="Loading the holders">${(permits) => html`<${Holders} permits=${permits} onChange=${semaphore.reload} />`}<//>
    <${Timeline} name=${name} permits=${semaphore.holders.data ?? []} events=${semaphore.events} />
    <div class="panels">
      <${Loaded} source=${semaphore.waiters} what="Loading the queue">${(data) => html`<${Waiters} data=${data} />`}<//>
      <${Denied} name=${name} events=${semaphore.events} />
    </div>
  </div>`;
}
