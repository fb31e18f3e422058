// Tracks the holders that a change stops until all have stopped.
import { useMemo, useRef, useState } from 'preact/hooks';
import { all } from '../lib/api.js';
import { brief, count, ms, plural, wholeSeconds } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useEverySecond, useStream } from '../lib/use.js';
import { enumText, who } from '../lib/words.js';
import { Bar, Table } from './table.js';

// Follow tracks the holders that stop after a change made at startedAt (ms on this machine's clock). If reopened is
// set, it is unknown how long the holders that have already stopped took to do so.
export function Follow({ change, stopped, startedAt, reopened }) {
  const [ended, setEnded] = useState({}); // by token: {how, after}
  const caughtUp = useRef(!reopened);
  useEverySecond();
  const remaining = stopped.filter((s) => !ended[s.permit.token]);
  const names = [...new Set(remaining.map((s) => s.permit.semaphore))];
  // A long list of names would not fit in a URL, so all semaphores are watched instead.
  const watched = useMemo(() => (names.length <= 40 ? names : []), [change]);

  const mark = (found) => found.length && setEnded((g) => ({ ...Object.fromEntries(found), ...g }));
  const elapsed = () => (caughtUp.current ? Date.now() - startedAt : undefined);
  const check = async () => {
    const { items } = await all('/v1/holders', { names: watched }, 'permits', undefined, 100_000);
    const stillHeld = new Set(items.map((p) => p.token));
    mark(stopped.filter((s) => !stillHeld.has(s.permit.token)).map((s) => [s.permit.token, { how: 'gone', after: elapsed() }]));
    caughtUp.current = true;
  };
  useStream(
    stopped.length ? '/v1/watch' : null,
    { names: watched, permits: true, from_revision: String(BigInt(change) + 1n) },
    {
      message({ events = [] }) {
        const tokens = new Set(stopped.map((s) => s.permit.token));
        mark(
          events
            .filter((e) => e.permit && tokens.has(e.permit.token) && e.ended)
            .map((e) => [e.permit.token, { how: enumText(e.ended, 'PERMIT_END_'), after: elapsed() }]),
        );
      },
      open: () => caughtUp.current || check().catch(() => {}),
      missed: () => check().catch(() => {}),
    },
  );
  if (stopped.length === 0) return html`<p class="lead">No holder had to stop.</p>`;
  const overdue = remaining.filter((s) => Date.now() - startedAt > ms(s.free_within));
  const stoppedCount = stopped.length - remaining.length;
  return html`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${remaining.length === 0
        ? `${plural(stopped.length, 'holder has', 'holders have')} stopped.`
        : `${count(stoppedCount)} of ${plural(stopped.length, 'holder has', 'holders have')} stopped.`}
      ${overdue.length > 0 && html` <strong>${plural(overdue.length, 'holder', 'holders')} did not stop in time.</strong>`}
    </p>
    <${Bar} share=${stoppedCount / stopped.length} tone=${overdue.length ? 'stop' : 'run'}
      label=${`${stoppedCount} of ${stopped.length} stopped`} />
    <${Table}
      caption="Holders that must stop"
      rows=${[...overdue, ...remaining.filter((s) => !overdue.includes(s)),
        ...stopped.filter((s) => ended[s.permit.token])].slice(0, 600)}
      rowKey=${(s) => s.permit.token}
      columns=${[
        ['Semaphore', (s) => html`<a href=${`/s/${encodeURIComponent(s.permit.semaphore)}`}>${s.permit.semaphore}</a>`,
          'name'],
        ['Holder', (s) => who(s.permit.identity), 'name'],
        ['Token', (s) => s.permit.token, 'num'],
        ['Now', (s) => {
          const g = ended[s.permit.token];
          if (g) return html`<span class="tone-run">${g.how}${g.after !== undefined && ` after ${brief(g.after)}`}</span>`;
          const within = startedAt + ms(s.free_within) - Date.now();
          return within > 0 ? html`<span class="tone-wait">slot free
            within <span class="num">${wholeSeconds(within)}</span></span>` : html`<span class="tone-deny">did
            not stop in time</span>`;
        }],
      ]}
    />
  </section>`;
}
