// The holders of a semaphore over time, as far back as the journal reaches.
import { get } from '../../lib/api.js';
import { brief, plural, soon, when } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useQuery } from '../../lib/router.js';
import { useData, useSecond } from '../../lib/use.js';
import { who, word } from '../../lib/words.js';
import { Empty, Read } from '../../ui/feedback.js';

const spans = [['1h', 3_600_000], ['6h', 6 * 3_600_000], ['24h', 24 * 3_600_000], ['7d', 7 * 24 * 3_600_000]];
const ticks = 4;
const mostLanes = 12;

const tones = { released: 'run', expired: 'stop', abandoned: 'idle', cancelled: 'idle', cleared: 'stop',
  'freed unsafely': 'deny', superseded: 'idle' };

export function Timeline({ name, permits, events }) {
  const [params, change] = useQuery();
  const span = spans.find(([text]) => text === params.get('span')) ?? spans[0];
  useSecond();
  const from = Date.now() - span[1];
  const past = useData(
    (signal) => get('/v1/history',
      { names: [name], permits: true, since: new Date(Date.now() - span[1]).toISOString(), page_size: 1000 }, signal),
    ['timeline', name, span[0], events],
    { keep: true },
  );
  return html`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${spans.map(([text]) => html`<button type="button" key=${text} aria-pressed=${text === span[0]} onClick=${() => change({ span: text === '1h' ? '' : text })}>${text}</button>`)}
      </div>
    </div>
    <${Read} of=${past} what="Reading the journal">
      ${(data) => html`<${Chart} entries=${data.entries ?? []} permits=${permits} from=${from} to=${Date.now()}
        more=${data.next_page_token} />`}
    <//>
  </section>`;
}

function Chart({ entries, permits, from, to, more }) {
  const holds = [
    ...permits.map((p) => ({ who: who(p.identity), from: Date.parse(p.granted_at), to, how: 'holds it now', tone: p.stop ? 'stop' : 'accent', token: p.token })),
    ...entries
      .filter((e) => e.permit && e.kind !== 'EVENT_KIND_GRANTED' && e.permit.granted_at)
      .map((e) => {
        const how = word(e.permit.ended, 'PERMIT_END_') || word(e.kind, 'EVENT_KIND_');
        return { who: who(e.permit.identity), from: Date.parse(e.permit.granted_at),
          to: Date.parse(e.permit.ended_at ?? e.at), how, tone: tones[how] ?? 'idle', token: e.permit.token };
      }),
  ];
  const seen = new Set();
  const lanes = new Map();
  for (const h of holds) {
    if (seen.has(h.token) || h.to < from) continue;
    seen.add(h.token);
    lanes.set(h.who, [...(lanes.get(h.who) ?? []), h]);
  }
  if (lanes.size === 0) return html`<${Empty} title="Nobody held it during this time." />`;
  const x = (t) => (1000 * (Math.max(t, from) - from)) / (to - from);
  const marks = entries.filter((e) => !e.permit && Date.parse(e.at) >= from);
  return html`<div class="timeline">
    ${[...lanes].slice(0, mostLanes).map(([name, list]) => {
      const last = list[0];
      const text = `${name}: ${plural(list.length, 'permit', 'permits')}, the last from ${when(last.from)}, ${last.how}`;
      return html`<div class="lane" key=${name}>
        <span class="lane-name">${name}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${text}>
          <rect class="track" width="1000" height="18" />
          ${list.map((h) => html`<rect key=${h.token} class="fill-${h.tone}" x=${x(h.from)} y="2" height="14" width=${Math.max(1.5, x(h.to) - x(h.from))}>
            <title>${`${h.who}: ${when(h.from)}, ${h.how} after ${brief(h.to - h.from)}, token ${h.token}`}</title>
          </rect>`)}
          ${marks.map((e) => html`<line key=${e.revision} class="mark" x1=${x(Date.parse(e.at))} x2=${x(Date.parse(e.at))} y1="0" y2="18"><title>${`${word(e.kind, 'EVENT_KIND_')} by ${e.author ?? '–'} at ${when(e.at)}`}</title></line>`)}
        </svg>
      </div>`;
    })}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({ length: ticks + 1 },
        (_, i) => html`<span key=${i}>${i === ticks ? 'now' : soon(from + ((to - from) * i) / ticks).slice(0, -3)}</span>`)}</span>
    </div>
    ${(lanes.size > mostLanes || more) &&
      html`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history
        has all of it.</a></p>`}
  </div>`;
}
