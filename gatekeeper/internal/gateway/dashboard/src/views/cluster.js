// The cluster as this server sees it: members, the leader, how far behind, disks, certificates and clocks.
import { useState } from 'preact/hooks';
import { get, now, post } from '../lib/api.js';
import { brief, bytes, count, duration, ms, plural, when } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useTitle } from '../lib/router.js';
import { useData } from '../lib/use.js';
import { who, word } from '../lib/words.js';
import { Action, Dialog } from '../ui/controls.js';
import { Empty, Failure, Read, notify } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';
import { Bar, Facts, Since, Table } from '../ui/table.js';
import { Cordons } from './cordons.js';

function TransferDialog({ member, onClose, onDone }) {
  const [error, setError] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    post('/v1/leadership:transfer', { id: member.id }).then((a) => {
      notify(`${a.leader_id} leads.`);
      onDone();
      onClose();
    }, setError);
  };
  return html`<${Dialog} title="Hand leadership over" onClose=${onClose}>
    <form onSubmit=${submit}>
      <p>${member.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${Failure} error=${error} />
      <p class="row end"><button type="button" onClick=${onClose}>Cancel</button><button class="primary">Let ${member.id} lead</button></p>
    </form>
  <//>`;
}

function Members({ status, onChange }) {
  const [to, setTo] = useState(null);
  return html`<section class="panel">
    <h2>Members</h2>
    <${Table}
      caption="Members"
      rows=${status.members}
      rowKey=${(m) => m.id}
      columns=${[
        ['Server', (m) => html`${m.id}${m.id === status.id && html`<span class="faint"> (answers you)</span>`}`, 'name'],
        ['Role', (m) => (m.leader ? html`<strong class="tone-run">leader</strong>` : m.voter ? 'follower' : 'non-voter')],
        ['API', (m) => m.api_address || '–', 'name'],
        ['Peers', (m) => m.peer_address || '–', 'name'],
        ['', (m) => m.voter && !m.leader && html`<${Action} role="ROLE_ADMIN" onClick=${() => setTo(m)}>Let it lead …<//>`, 'end'],
      ]}
    />
    ${to && html`<${TransferDialog} member=${to} onClose=${() => setTo(null)} onDone=${onChange} />`}
  </section>`;
}

function Certificates({ of }) {
  return html`<section class="panel">
    <h2>Certificates</h2>
    <${Table}
      caption="Certificates of this server"
      rows=${of}
      empty=${html`<${Empty} title="This server uses no TLS." />`}
      columns=${[
        ['Port', (c) => word(c.port, 'CERTIFICATE_PORT_')],
        ['Subject', (c) => c.subject || '–', 'name'],
        ['Ends', (c) => {
          if (c.error) return html`<span class="tone-deny">${c.error}</span>`;
          const left = Date.parse(c.not_after) - now();
          return html`<span class=${left < 7 * 86_400_000 ? 'tone-deny' : left < 30 * 86_400_000 ? 'tone-wait' : ''}>${when(c.not_after)}, ${left > 0 ? `in ${brief(left)}` : 'it has ended'}</span>`;
        }],
      ]}
    />
  </section>`;
}

const ahead = (d) => (ms(d) < 0 ? `${duration(-ms(d))} behind` : `${duration(ms(d))} ahead`);

function Clocks({ status }) {
  const rows = [
    ...(status.member_clocks ?? []).map((c) => ({ name: `server ${c.id}`, ahead: c.ahead })),
    ...(status.host_clocks ?? []).map((c) => ({ name: who(c), ahead: c.ahead, seen: c.seen })),
  ];
  const leads = status.role === 'SERVER_ROLE_LEADER';
  return html`<section class="panel">
    <h2>Clocks</h2>
    <${Table}
      caption="Clocks that are off"
      rows=${rows.slice(0, 100)}
      empty=${html`<${Empty} title=${leads ? 'No clock is off.' : 'Only the leader compares clocks.'} />`}
      columns=${[
        ['Whose', (c) => c.name, 'name'],
        ['Off by', (c) => html`<span class="tone-stop">${ahead(c.ahead)}</span>`, 'num'],
        ['Seen', (c) => (c.seen ? html`<${Since} at=${c.seen} /> ago` : 'within the last minute'), 'num'],
      ]}
    />
  </section>`;
}

function Work({ status }) {
  const used = Number(status.work_bytes ?? 0);
  const most = Number(status.max_work_bytes ?? 0);
  return html`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${Bar} share=${most ? used / most : 0} label="${bytes(used)} of ${bytes(most)}" /><span class="num">${bytes(used)} of ${bytes(most)}</span></p>
    <${Table}
      caption="Semaphores with jobs"
      rows=${status.work}
      empty=${html`<${Empty} title="There are no jobs." />`}
      columns=${[
        ['Semaphore', (w) => html`<a href=${`/s/${encodeURIComponent(w.semaphore)}?tab=tasks`}>${w.semaphore}</a>`, 'name'],
        ['Jobs', (w) => count(w.jobs), 'num'],
        ['Waiting', (w) => count(w.waiting), 'num'],
        ['Running', (w) => count(w.held), 'num'],
        ['Stored', (w) => bytes(w.bytes), 'num'],
      ]}
    />
  </section>`;
}

function Settings() {
  const settings = useData((signal) => get('/v1/settings', { stale: true }, signal), ['settings']);
  const text = (name, v) => (typeof v === 'string' && /s$/.test(v) ? duration(ms(v)) : /bytes/.test(name) ? bytes(v) : count(v));
  return html`<section class="panel">
    <h2>Settings</h2>
    <${Read} of=${settings} what="Reading the settings">
      ${(data) => html`<${Facts} of=${Object.entries(data.settings ?? {}).map(([name, v]) => [name, text(name, v)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`;
}

export function Cluster() {
  useTitle('Cluster');
  const status = useData((signal) => get('/v1/status', {}, signal), ['status'], { every: 2_000, keep: true });
  return html`<${Title}>Cluster<//>
    <${Cordons} />
    <${Read} of=${status} what="Asking this server">
      ${(s) => {
        const lag = Number(s.commit_index ?? 0) - Number(s.applied_index ?? 0);
        return html`<div class="stack">
          ${!s.leader_id && html`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${s.recovery_wait && html`<p class="note">Nothing is granted for another ${brief(ms(s.recovery_wait))}: a recovery is being waited out.</p>`}
          ${s.insecure && html`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${s.denied_semaphores > 0 &&
          html`<div class="note"><p>${plural(s.denied_semaphores, 'semaphore is', 'semaphores are')} asked for in vain:</p>
            <ul>${s.denied.map((d) => html`<li key=${d.semaphore}><a href=${`/s/${encodeURIComponent(d.semaphore)}`}>${d.semaphore}</a>: ${d.text || d.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${s.id}</h2>
            <${Facts} of=${[
              ['Cluster', html`<code>${s.cluster_id}</code>`],
              ['Leader', s.leader_id || 'none'],
              ['This server is', word(s.role, 'SERVER_ROLE_') || 'stopping'],
              ['Term', s.term],
              ['Revision', s.revision],
              ['Applied', html`${s.applied_index}${lag > 0 && html`<span class="tone-wait"> (${count(lag)} behind)</span>`}`],
              ['Definitions', count(s.definitions)],
              ['Permits', count(s.permits)],
              ['Waiters', s.role === 'SERVER_ROLE_LEADER' ? count(s.waiters) : 'the leader knows'],
              ['Log writes', s.log_writes && html`<span>${duration(ms3(s.log_writes.median))} median, ${duration(ms3(s.log_writes.longest))} longest, of ${count(s.log_writes.count)}</span>`],
              ['Last snapshot', s.last_snapshot ? html`${s.last_snapshot.taken_at ? html`<${Since} at=${s.last_snapshot.taken_at} /> ago` : `index ${s.last_snapshot.index}`}, ${bytes(s.last_snapshot.bytes)}` : 'none yet'],
              ['Smallest safe duration', s.smallest_duration && duration(ms(s.smallest_duration))],
              ['Version', s.version],
              ['Feature level', s.feature_level],
              ['Up for', s.uptime && brief(ms(s.uptime))],
            ]} />
          </section>
          <div class="panels">
            <${Members} status=${s} onChange=${status.refresh} />
            <${Certificates} of=${s.certificates} />
            <${Clocks} status=${s} />
            <${Work} status=${s} />
          </div>
          <${Settings} />
        </div>`;
      }}
    <//>`;
}

// ms3 keeps microseconds: a write to a disk is often shorter than a millisecond.
const ms3 = (d) => +(parseFloat(d ?? '0') * 1000).toFixed(2);
