// The cluster: the status of every server, certificates, clocks, and job storage.
import { useState } from 'preact/hooks';
import { get, post } from '../lib/api.js';
import { brief, bytes, count, duration, ms, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useTitle } from '../lib/router.js';
import { useData } from '../lib/use.js';
import { deniedText, who } from '../lib/words.js';
import { Action, Dialog } from '../ui/controls.js';
import { Empty, Failure, Loaded, notify } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';
import { Bar, Facts, Since, Table } from '../ui/table.js';
import { Certificates, clockOffset, findLeader, memberColumns } from './cluster/members.js';
import { RemoveDialog, openRemoval } from './cluster/remove.js';
import { Settings } from './cluster/settings.js';
import { Cordons } from './cordons.js';

function TransferDialog({ member, onClose, onDone }) {
  const [error, setError] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    post('/v1/leadership:transfer', { id: member.id }).then((a) => {
      notify(`${a.leader_id} is the leader.`);
      onDone();
      onClose();
    }, setError);
  };
  return html`<${Dialog} title="Transfer leadership" onClose=${onClose}>
    <form onSubmit=${submit}>
      <p>${member.id} will become the leader. Permits are not affected; calls will be briefly delayed.</p>
      <${Failure} error=${error} />
      <p class="row end"><button type="button" onClick=${onClose}>Cancel</button>
      <button class="primary">Make ${member.id} the leader</button></p>
    </form>
  <//>`;
}

function Members({ members, id, clocks, onChange }) {
  const [to, setTo] = useState(null);
  return html`<section class="panel">
    <h2>Members</h2>
    <${Table}
      caption="Members"
      rows=${members}
      rowKey=${(m) => m.id}
      wide
      columns=${[
        ...memberColumns(id, clocks),
        ['', (m) => m.voter && !m.leader &&
          html`<${Action} role="ROLE_ADMIN" onClick=${() => setTo(m)}>Make leader …<//>`, 'end'],
        ['', (m) => html`<${Action} role="ROLE_ADMIN" kind="danger"
          onClick=${() => openRemoval(m, onChange)}>Remove …<//>`, 'end'],
      ]}
    />
    ${to && html`<${TransferDialog} member=${to} onClose=${() => setTo(null)} onDone=${onChange} />`}
  </section>`;
}

function Clocks({ leader }) {
  const rows = [
    ...(leader?.member_clocks ?? []).map((c) => ({ name: `server ${c.id}`, ahead: c.ahead })),
    ...(leader?.host_clocks ?? []).map((c) => ({ name: who(c), ahead: c.ahead, seen: c.seen })),
  ];
  return html`<section class="panel">
    <h2>Clocks</h2>
    <${Table}
      caption="Clocks that are off"
      rows=${rows.slice(0, 100)}
      empty=${html`<${Empty} title=${leader ? 'No clocks are off.' : 'Only the leader compares clocks, and it is not responding.'} />`}
      columns=${[
        ['Clock', (c) => c.name, 'name'],
        ['Off by', (c) => html`<span class="tone-stop">${clockOffset(c.ahead)}</span>`, 'num'],
        ['Seen', (c) => (c.seen ? html`<${Since} at=${c.seen} /> ago` : 'within the last minute'), 'num'],
      ]}
    />
  </section>`;
}

function JobStorage({ status }) {
  const used = Number(status.work_bytes ?? 0);
  const limit = Number(status.max_work_bytes ?? 0);
  return html`<section class="panel">
    <h2>Job storage</h2>
    <p class="row"><${Bar} share=${limit ? used / limit : 0} label="${bytes(used)} of ${bytes(limit)}" />
    <span class="num">${bytes(used)} of ${bytes(limit)}</span></p>
    <${Table}
      caption="Semaphores with jobs"
      rows=${status.work}
      empty=${html`<${Empty} title="There are no jobs." />`}
      columns=${[
        ['Semaphore', (w) => html`<a href=${`/s/${encodeURIComponent(w.semaphore)}?tab=tasks`}>${w.semaphore}</a>`,
          'name'],
        ['Jobs', (w) => count(w.jobs), 'num'],
        ['Waiting', (w) => count(w.waiting), 'num'],
        ['Running', (w) => count(w.held), 'num'],
        ['Stored', (w) => bytes(w.bytes), 'num'],
      ]}
    />
  </section>`;
}

export function Cluster() {
  useTitle('Cluster');
  const members = useData((signal) => get('/v1/members', {}, signal), ['members'], { every: 3_000, keep: true });
  return html`<${Title}>Cluster<//>
    <${Cordons} />
    <${Loaded} source=${members} what="Loading the servers">
      ${(data) => {
        const all = data.members.map((m) => ({ ...m.member, ...m }));
        const leader = findLeader(all);
        const s = leader ?? all.find((m) => m.id === data.id)?.status ?? all.find((m) => m.status)?.status ?? {};
        const insecure = all.filter((m) => m.status?.insecure).map((m) => m.id);
        return html`<div class="stack">
          ${!s.leader_id && html`<p class="failure" role="alert">There is no leader. No permits are granted until a
            majority of the servers is up.</p>`}
          ${s.recovery_wait && html`<p class="note">After a recovery, no permits are granted for another
            ${brief(ms(s.recovery_wait))}.</p>`}
          ${insecure.length > 0 &&
          html`<p class="note">Started with --insecure: ${insecure.join(', ')}. Their ports may be reachable without TLS
            and authentication.</p>`}
          ${s.denied_semaphores > 0 &&
          html`<div class="note"><p>${plural(s.denied_semaphores, 'semaphore denies', 'semaphores deny')} every caller:</p>
            <ul>${s.denied.map((d) =>
              html`<li key=${d.semaphore}>
                <a href=${`/s/${encodeURIComponent(d.semaphore)}`}>${d.semaphore}</a>: ${deniedText(d)}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>State</h2>
            <${Facts} facts=${[
              ['Cluster', html`<code>${s.cluster_id}</code>`],
              ['Leader', s.leader_id ? html`${s.leader_id}${!leader && html`<span class="tone-deny"> (not responding)</span>`}` : 'none'],
              ['Servers', `${count(all.filter((m) => m.status).length)} of ${count(all.length)} responding`],
              ['Revision', s.revision],
              ['Definitions', count(s.definitions)],
              ['Permits', count(s.permits)],
              ['Waiters', leader ? count(s.waiters) : 'known only to the leader'],
              ['Shortest safe duration', s.smallest_duration && duration(ms(s.smallest_duration))],
            ]} />
          </section>
          <${Members} members=${all} id=${data.id} clocks=${leader && (leader.member_clocks ?? [])}
            onChange=${members.refresh} />
          <div class="panels">
            <${Certificates} members=${all} />
            <${Clocks} leader=${leader} />
            <${JobStorage} status=${s} />
          </div>
          <${Settings} />
          <${RemoveDialog} />
        </div>`;
      }}
    <//>`;
}
