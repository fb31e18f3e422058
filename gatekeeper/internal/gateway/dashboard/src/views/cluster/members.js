// A table of all servers of the cluster, and all certificates.
import { now } from '../../lib/api.js';
import { brief, bytes, count, duration, ms, plural, when } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { word } from '../../lib/words.js';
import { Empty } from '../../ui/feedback.js';
import { Glyph } from '../../ui/glyph.js';
import { Since, Table } from '../../ui/table.js';

const DAY = 86_400_000;
const lagging = 1000; // entries; a follower under load always lags a little, because it learns of a commit with the next entry

export const leads = (status) => status?.role === 'SERVER_ROLE_LEADER';

// The leader's status, or undefined if it does not answer. After a partition, an old leader may not know yet that it
// has been replaced.
export const leaderOf = (members) =>
  members
    .map((m) => m.status)
    .filter(leads)
    .sort((a, b) => Number(b.term) - Number(a.term))[0];

const port = (c) => (c.port === 'CERTIFICATE_PORT_API' ? 'API' : word(c.port, 'CERTIFICATE_PORT_'));

export const ahead = (d) => (ms(d) < 0 ? `${duration(-ms(d))} behind` : `${duration(ms(d))} ahead`);

// ending describes the expiry of a certificate: [tone, text]. It is not urgent until 30 days before.
function ending(c) {
  if (c.error) return ['deny', c.error];
  const left = Date.parse(c.not_after) - now();
  if (left <= 0) return ['deny', 'has expired'];
  const days = Math.floor(left / DAY);
  return [days < 7 ? 'deny' : days < 30 ? 'wait' : '',
    days < 1 ? `expires in ${brief(left)}` : `expires in ${plural(days, 'day', 'days')}`];
}

// troubles returns the problems of a member: [tone, text], the worst first.
function troubles(m, clock) {
  if (!m.status) return [['deny', `does not answer: ${m.error}`]];
  const certificates = (m.status.certificates ?? []).map((c) => [c, ...ending(c)]).filter(([, tone]) => tone);
  return [
    Number(m.lag ?? 0) >= lagging && ['wait', 'lagging'],
    ...certificates.map(([c, tone, text]) => [tone, `${port(c)} certificate ${c.error ? 'cannot be used' : text}`]),
    clock && ['stop', `clock is ${ahead(clock.ahead)}`],
    m.status.insecure && ['stop', 'started with --insecure'],
  ].filter(Boolean);
}

const shapes = { run: 'running', wait: 'waiting', stop: 'missed', deny: 'denied' };

function Health({ of }) {
  return (of.length ? of : [['run', 'healthy']]).map(
    ([tone, text]) => html`<div class="state tone-${tone}"><${Glyph} word=${shapes[tone]} /><span>${text}</span></div>`,
  );
}

function role(m) {
  if (!m.status) return m.voter ? 'voter' : 'non-voter';
  if (leads(m.status)) return html`<strong class="tone-run">leader</strong>`;
  return m.voter ? word(m.status.role, 'SERVER_ROLE_') || 'stopping' : 'non-voter';
}

// fine keeps microseconds, because a write to a disk often takes less than a millisecond.
const fine = (d) => duration(+(parseFloat(d ?? '0') * 1000).toFixed(2));

// The columns of a member, which is a Member record with status, error and lag. A server that does not answer has
// dashes.
export function memberColumns(id, clocks) {
  const own = (cell) => (m) => (m.status ? cell(m.status, m) : html`<span class="faint">–</span>`);
  const clockOf = (m) => clocks?.find((c) => c.id === m.id);
  return [
    ['Server', (m) => html`${m.id}${m.id === id && html`<span class="faint"> (answers you)</span>`}
      <span class="under">${m.api_address || 'API address not known'}<br />${m.peer_address} (peers)</span>`, 'name'],
    ['State', (m) => html`<${Health} of=${troubles(m, clockOf(m))} />`],
    ['Role', role, 'whole'],
    ['Term', own((s) => s.term), 'num'],
    ['Entries behind', own((s, m) =>
      (m.lag === undefined ? 'not known' : html`<span class=${Number(m.lag) >= lagging ? 'tone-wait' : ''}>${count(m.lag)}</span>`)), 'num'],
    ['Log writes', own((s) =>
      (s.log_writes ? html`${fine(s.log_writes.median)}
        <span class="under">${fine(s.log_writes.longest)} longest</span>` : 'none yet')), 'num'],
    ['Snapshot', own(({ last_snapshot: l }) =>
      l ? html`${l.taken_at ? html`<${Since} at=${l.taken_at} /> ago` : `index ${l.index}`}
        <span class="under">${bytes(l.bytes)}</span>` : 'none yet'), 'num'],
    ['Version', own((s) => html`${s.version || '–'}<span class="under">level ${s.feature_level}</span>`), 'whole'],
    ['Up for', own((s) => s.uptime && brief(ms(s.uptime))), 'num'],
    ['Clock', own((s, m) => (!clocks ? 'not known' : clockOf(m) ? html`<span class="tone-stop">${ahead(clockOf(m).ahead)}</span>` : 'in step')), 'num'],
  ];
}

export function Certificates({ of }) {
  const rows = of.flatMap((m) => (m.status?.certificates ?? []).map((c) => ({ ...c, server: m.id })));
  const silent = of.filter((m) => !m.status).map((m) => m.id);
  return html`<section class="panel">
    <h2>Certificates</h2>
    <${Table}
      caption="Certificates of the servers"
      rows=${rows}
      rowKey=${(c) => `${c.server} ${c.port}`}
      empty=${html`<${Empty} title="No server that answers uses TLS." />`}
      columns=${[
        ['Server', (c) => c.server, 'name'],
        ['Port', port],
        ['Subject', (c) => c.subject || '–', 'name'],
        ['Ends', (c) => {
          const [tone, text] = ending(c);
          return html`<span class=${tone && `tone-${tone}`}>${c.error ? text : html`${when(c.not_after)}, ${text}`}</span>`;
        }],
      ]}
      note=${silent.length > 0 && `Those of ${silent.join(', ')} are not known.`}
    />
  </section>`;
}
