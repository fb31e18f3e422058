// A semaphore's holders over time, as far back as the journal goes.
import { get } from '../../lib/api.js';
import { brief, dateTime, plural, shortTime } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { useQuery } from '../../lib/router.js';
import { useData, useEverySecond } from '../../lib/use.js';
import { enumText, who } from '../../lib/words.js';
import { Empty, Loaded } from '../../ui/feedback.js';

const spans = [['1h', 3_600_000], ['6h', 6 * 3_600_000], ['24h', 24 * 3_600_000], ['7d', 7 * 24 * 3_600_000]];
const ticks = 4;
const maxLanes = 12;

const tones = { released: 'run', expired: 'stop', abandoned: 'idle', cancelled: 'idle', cleared: 'stop',
  'freed unsafely': 'deny', superseded: 'idle' };

export function Timeline({ name, permits, events }) {
  const [params, change] = useQuery();
  const span = spans.find(([text]) => text === params.get('span')) ?? spans[0];
  useEverySecond();
  const from = Date.now() - span[1];
  const past = useData(
    (signal) => get('/v1/history',
      { names: [name], permits: true, since: new Date(Date.now() - span[1]).toISOString(), page_size: 1000 }, signal),
    ['timeline', name, span[0], events],
    { keep: true },
  );
  return html`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Time span">
        ${spans.map(([text]) => html`<button type="button" key=${text} aria-pressed=${text === span[0]} onClick=${() => change({ span: text === '1h' ? '' : text })}>${text}</button>`)}
      </div>
    </div>
    <${Loaded} source=${past} what="Loading the journal">
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
        const how = enumText(e.permit.ended, 'PERMIT_END_') || enumText(e.kind, 'EVENT_KIND_');
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
  if (lanes.size === 0) return html`<${Empty} title="No permits were held during this time." />`;
  const x = (t) => (1000 * (Math.max(t, from) - from)) / (to - from);
  const marks = entries.filter((e) => !e.permit && Date.parse(e.at) >= from);
  return html`<div class="timeline">
    ${[...lanes].slice(0, maxLanes).map(([name, list]) => {
      const last = list[0];
      const text = `${name}: ${plural(list.length, 'permit', 'permits')}, the last from ${dateTime(last.from)}, ${last.how}`;
      return html`<div class="lane" key=${name}>
        <span class="lane-name">${name}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${text}>
          <rect class="track" width="1000" height="18" />
          ${list.map((h) => html`<rect key=${h.token} class="fill-${h.tone}" x=${x(h.from)} y="2" height="14" width=${Math.max(1.5, x(h.to) - x(h.from))}>
            <title>${`${h.who}: ${dateTime(h.from)}, ${h.how} after ${brief(h.to - h.from)}, token ${h.token}`}</title>
          </rect>`)}
          ${marks.map((e) => html`<line key=${e.revision} class="mark" x1=${x(Date.parse(e.at))} x2=${x(Date.parse(e.at))} y1="0" y2="18"><title>${`${enumText(e.kind, 'EVENT_KIND_')} by ${e.author ?? '–'} at ${dateTime(e.at)}`}</title></line>`)}
        </svg>
      </div>`;
    })}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({ length: ticks + 1 },
        (_, i) => html`<span key=${i}>${i === ticks ? 'now' : shortTime(from + ((to - from) * i) / ticks).slice(0, -3)}</span>`)}</span>
    </div>
    ${(lanes.size > maxLanes || more) &&
      html`<p class="faint">Not everything fits here. The <a href="?tab=history&permits=1">history</a>
        shows everything.</p>`}
  </div>`;
}
