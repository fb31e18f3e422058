// Tables of all servers in the cluster and their certificates.
import { now } from '../../lib/api.js';
import { brief, bytes, count, dateTime, duration, ms, plural } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { enumText } from '../../lib/words.js';
import { Empty } from '../../ui/feedback.js';
import { Glyph } from '../../ui/glyph.js';
import { Since, Table } from '../../ui/table.js';

const DAY = 86_400_000;
// In entries. A follower under load always lags a little, because each commit is announced with the next entry.
const lagThreshold = 1000;

export const isLeader = (status) => status?.role === 'SERVER_ROLE_LEADER';

// findLeader returns the leader's status, or undefined if the leader is not responding. After a partition, an old
// leader may not yet have noticed that it has been replaced.
export const findLeader = (members) =>
  members
    .map((m) => m.status)
    .filter(isLeader)
    .sort((a, b) => Number(b.term) - Number(a.term))[0];

const portName = (c) => (c.port === 'CERTIFICATE_PORT_API' ? 'API' : enumText(c.port, 'CERTIFICATE_PORT_'));

export const clockOffset = (d) => (ms(d) < 0 ? `${duration(-ms(d))} behind` : `${duration(ms(d))} ahead`);

// certificateExpiry describes the expiry of a certificate: [tone, text]. Warnings start 30 days before expiry.
function certificateExpiry(c) {
  if (c.error) return ['deny', c.error];
  const left = Date.parse(c.not_after) - now();
  if (left <= 0) return ['deny', 'has expired'];
  const days = Math.floor(left / DAY);
  return [days < 7 ? 'deny' : days < 30 ? 'wait' : '',
    days < 1 ? `expires in ${brief(left)}` : `expires in ${plural(days, 'day', 'days')}`];
}

// memberProblems returns a member's problems: [tone, text], worst first.
function memberProblems(m, clock) {
  if (!m.status) return [['deny', `not responding: ${m.error}`]];
  const certificates = (m.status.certificates ?? []).map((c) => [c, ...certificateExpiry(c)]).filter(([, tone]) => tone);
  return [
    Number(m.lag ?? 0) >= lagThreshold && ['wait', 'lagging'],
    ...certificates.map(([c, tone, text]) => [tone, `${portName(c)} certificate ${c.error ? 'cannot be used' : text}`]),
    clock && ['stop', `clock is ${clockOffset(clock.ahead)}`],
    m.status.insecure && ['stop', 'started with --insecure'],
  ].filter(Boolean);
}

const shapes = { run: 'running', wait: 'waiting', stop: 'missed', deny: 'denied' };

function Health({ problems }) {
  return (problems.length ? problems : [['run', 'healthy']]).map(
    ([tone, text]) => html`<div class="state tone-${tone}"><${Glyph} word=${shapes[tone]} /><span>${text}</span></div>`,
  );
}

function roleName(m) {
  if (!m.status) return m.voter ? 'voter' : 'non-voter';
  if (isLeader(m.status)) return html`<strong class="tone-run">leader</strong>`;
  return m.voter ? enumText(m.status.role, 'SERVER_ROLE_') || 'stopping' : 'non-voter';
}

// preciseDuration keeps hundredths of a millisecond, because a disk write often takes less than a millisecond.
const preciseDuration = (d) => duration(+(parseFloat(d ?? '0') * 1000).toFixed(2));

// memberColumns returns the columns for members, which are Member records with status, error and lag. Servers that are
// not responding are shown with dashes.
export function memberColumns(id, clocks) {
  const ifUp = (cell) => (m) => (m.status ? cell(m.status, m) : html`<span class="faint">–</span>`);
  const clockFor = (m) => clocks?.find((c) => c.id === m.id);
  return [
    ['Server', (m) => html`${m.id}${m.id === id && html`<span class="faint"> (serves this page)</span>`}
      <span class="second-line">${m.api_address || 'API address unknown'}<br />${m.peer_address} (peers)</span>`, 'name'],
    ['State', (m) => html`<${Health} problems=${memberProblems(m, clockFor(m))} />`],
    ['Role', roleName, 'nowrap'],
    ['Term', ifUp((s) => s.term), 'num'],
    ['Entries behind', ifUp((s, m) =>
      (m.lag === undefined ? 'unknown' : html`<span class=${Number(m.lag) >= lagThreshold ? 'tone-wait' : ''}>${count(m.lag)}</span>`)), 'num'],
    ['Log writes', ifUp((s) =>
      (s.log_writes ? html`${preciseDuration(s.log_writes.median)}
        <span class="second-line">longest ${preciseDuration(s.log_writes.longest)}</span>` : 'none yet')), 'num'],
    ['Snapshot', ifUp(({ last_snapshot: l }) =>
      l ? html`${l.taken_at ? html`<${Since} at=${l.taken_at} /> ago` : `index ${l.index}`}
        <span class="second-line">${bytes(l.bytes)}</span>` : 'none yet'), 'num'],
    ['Version', ifUp((s) => html`${s.version || '–'}<span class="second-line">level ${s.feature_level}</span>`), 'nowrap'],
    ['Uptime', ifUp((s) => s.uptime && brief(ms(s.uptime))), 'num'],
    ['Clock', ifUp((s, m) => (!clocks ? 'unknown' : clockFor(m) ? html`<span class="tone-stop">${clockOffset(clockFor(m).ahead)}</span>` : 'in sync')), 'num'],
  ];
}

export function Certificates({ members }) {
  const rows = members.flatMap((m) => (m.status?.certificates ?? []).map((c) => ({ ...c, server: m.id })));
  const unresponsive = members.filter((m) => !m.status).map((m) => m.id);
  return html`<section class="panel">
    <h2>Certificates</h2>
    <${Table}
      caption="Server certificates"
      rows=${rows}
      rowKey=${(c) => `${c.server} ${c.port}`}
      empty=${html`<${Empty} title="No responding server uses TLS." />`}
      columns=${[
        ['Server', (c) => c.server, 'name'],
        ['Port', portName],
        ['Subject', (c) => c.subject || '–', 'name'],
        ['Expires', (c) => {
          const [tone, text] = certificateExpiry(c);
          return html`<span class=${tone && `tone-${tone}`}>${c.error ? text : html`${dateTime(c.not_after)}, ${text}`}</span>`;
        }],
      ]}
      note=${unresponsive.length > 0 && `No data from ${unresponsive.join(', ')}: not responding.`}
    />
  </section>`;
}
