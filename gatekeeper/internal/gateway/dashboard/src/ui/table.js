// Tables (cards on narrow screens), facts, bars and timers.
import { now } from '../lib/api.js';
import { dateTime, wholeSeconds } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useEverySecond } from '../lib/use.js';
import { Empty } from './feedback.js';

// Table shows rows. columns are [heading, cell(row), class]. The first column is the row heading. A table that is too
// wide scrolls within its panel.
export function Table({ caption, columns, rows, rowKey, empty, note, wide }) {
  if (!rows?.length) return empty ?? html`<${Empty} title="Nothing here." />`;
  return html`<div class=${wide ? 'table-wrap wide' : 'table-wrap'}>
    <table>
      <caption class="sr-only">${caption}</caption>
      <thead><tr>${columns.map(([heading, , name]) => html`<th scope="col" class=${name}>${heading}</th>`)}</tr></thead>
      <tbody>
        ${rows.map((row, i) => html`<tr key=${rowKey ? rowKey(row) : i}>
          ${columns.map(([heading, cell, name], n) =>
            n === 0
              ? html`<th scope="row" class=${name} data-label=${heading}>${cell(row)}</th>`
              : html`<td class=${name} data-label=${heading}>${cell(row)}</td>`,
          )}
        </tr>`)}
      </tbody>
    </table>
    ${note && html`<p class="faint">${note}</p>`}
  </div>`;
}

// Facts lists names and values. Empty values are omitted.
export function Facts({ facts }) {
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value !== undefined && value !== null && value !== '').map(
      ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
    )}
  </dl>`;
}

// Bar shows a fraction from 0 to 1.
export function Bar({ share, tone = 'accent', label }) {
  const x = Math.max(0, Math.min(1, share || 0));
  return html`<span class="bar tone-${tone}" role="img" aria-label=${label}>
    <span class="bar-fill" style=${{ transform: `scaleX(${x.toFixed(4)})` }}></span>
  </span>`;
}

// Deadline counts down to a time (ms on this machine's clock). Its bar shows how much of the duration (ms) remains.
export function Deadline({ at, duration, what = 'expires unless it is refreshed' }) {
  useEverySecond();
  if (!at) return html`<span class="faint">–</span>`;
  const left = Math.max(0, at - Date.now());
  const short = duration && left / duration < 0.34;
  return html`<span class="deadline" title=${what}>
    ${duration > 0 && html`<${Bar} share=${left / duration} tone=${short ? 'wait' : 'run'} label="${wholeSeconds(left)} left" />`}
    <span class="num">${wholeSeconds(left)}</span>
  </span>`;
}

// Since counts up from a time on the server's clock.
export function Since({ at }) {
  useEverySecond();
  if (!at) return '–';
  return html`<time class="num" datetime=${at}
    title=${dateTime(at)}>${wholeSeconds(now() - Date.parse(at))}</time>`;
}

// Segments shows the parts of a whole: [number, tone, word].
export function Segments({ parts, total, label }) {
  let x = 0;
  return html`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${parts.filter(([n]) => n > 0).map(([n, tone]) => {
      const width = total ? (1000 * n) / total : 0;
      const rect = html`<rect class="fill-${tone}" x=${x} y="0" width=${width} height="10" />`;
      x += width;
      return rect;
    })}
  </svg>`;
}
