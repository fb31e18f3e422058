// Follows the holders that a change stops until all have stopped.
import { useMemo, useRef, useState } from 'preact/hooks';
import { all } from '../lib/api.js';
import { brief, count, counting, ms, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useSecond, useStream } from '../lib/use.js';
import { who, word } from '../lib/words.js';
import { Bar, Table } from './table.js';

// Follow shows how holders stop after a change made at begun (ms on this machine's clock). If later is set, Follow was
// opened after the change, and does not know how long the holders that had already stopped took to do so.
export function Follow({ change, stopped, begun, later }) {
  const [gone, setGone] = useState({}); // by token: {how, after}
  const caughtUp = useRef(!later);
  useSecond();
  const left = stopped.filter((s) => !gone[s.permit.token]);
  const names = [...new Set(left.map((s) => s.permit.semaphore))];
  // A long list of names does not fit into a URL, so all semaphores are watched.
  const watched = useMemo(() => (names.length <= 40 ? names : []), [change]);

  const mark = (found) => found.length && setGone((g) => ({ ...Object.fromEntries(found), ...g }));
  const after = () => (caughtUp.current ? Date.now() - begun : undefined);
  const check = async () => {
    const { items } = await all('/v1/holders', { names: watched }, 'permits', undefined, 100_000);
    const there = new Set(items.map((p) => p.token));
    mark(stopped.filter((s) => !there.has(s.permit.token)).map((s) => [s.permit.token, { how: 'gone', after: after() }]));
    caughtUp.current = true;
  };
  useStream(
    stopped.length ? '/v1/watch' : null,
    { names: watched, permits: true, from_revision: String(BigInt(change) + 1n) },
    {
      message({ events = [] }) {
        const ours = new Set(stopped.map((s) => s.permit.token));
        mark(
          events
            .filter((e) => e.permit && ours.has(e.permit.token) && e.ended)
            .map((e) => [e.permit.token, { how: word(e.ended, 'PERMIT_END_'), after: after() }]),
        );
      },
      open: () => caughtUp.current || check().catch(() => {}),
      missed: () => check().catch(() => {}),
    },
  );
  if (stopped.length === 0) return html`<p class="lead">No holder had to stop.</p>`;
  const late = left.filter((s) => Date.now() - begun > ms(s.free_within));
  const done = stopped.length - left.length;
  return html`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${left.length === 0
        ? `${plural(stopped.length, 'holder has', 'holders have')} stopped.`
        : `${count(done)} of ${plural(stopped.length, 'holder has', 'holders have')} stopped.`}
      ${late.length > 0 && html` <strong>${plural(late.length, 'holder', 'holders')} did not stop in time.</strong>`}
    </p>
    <${Bar} share=${done / stopped.length} tone=${late.length ? 'stop' : 'run'}
      label=${`${done} of ${stopped.length} stopped`} />
    <${Table}
      caption="Holders that must stop"
      rows=${[...late, ...left.filter((s) => !late.includes(s)),
        ...stopped.filter((s) => gone[s.permit.token])].slice(0, 600)}
      rowKey=${(s) => s.permit.token}
      columns=${[
        ['Semaphore', (s) => html`<a href=${`/s/${encodeURIComponent(s.permit.semaphore)}`}>${s.permit.semaphore}</a>`,
          'name'],
        ['Holder', (s) => who(s.permit.identity), 'name'],
        ['Token', (s) => s.permit.token, 'num'],
        ['Now', (s) => {
          const g = gone[s.permit.token];
          if (g) return html`<span class="tone-run">${g.how}${g.after !== undefined && ` after ${brief(g.after)}`}</span>`;
          const within = begun + ms(s.free_within) - Date.now();
          return within > 0 ? html`<span class="tone-wait">slot free
            within <span class="num">${counting(within)}</span></span>` : html`<span class="tone-deny">did
            not stop in time</span>`;
        }],
      ]}
    />
  </section>`;
}
