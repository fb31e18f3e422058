// The shapes of the states: a signal arm that is up, level or crossed out, so that no state is shown by colour alone.
import { shortTime } from '../lib/format.js';
import { html } from '../lib/html.js';
import { findState, recordStates } from '../lib/words.js';

const post = 'M4 14V2';
const shapes = {
  idle: [post, 'M4 4l8-2'],
  running: [post, 'M4 3l9 4v-3l-9-2z'],
  waiting: [post, 'M4 5h9', 'M8 9h1M11 9h1M14 9h0'],
  paused: ['M5.5 3v10', 'M10.5 3v10'],
  stopping: [post, 'M4 4h9v4H4z'],
  'held for an operator': ['M5 7V5a3 3 0 0 1 6 0v2', 'M4 7h8v6H4z'],
  unmatched: ['M8 2a6 6 0 1 0 .1 0z', 'M6.2 6.3a1.8 1.8 0 1 1 2.4 1.7l-.6.4v1', 'M8 11.4v.4'],
  missed: ['M8 2a6 6 0 1 0 .1 0z', 'M8 5v3.5l2.5 1.5'],
  denied: ['M8 2a6 6 0 1 0 .1 0z', 'M4.5 8h7'],
  disabled: ['M3.5 3.5l9 9', 'M12.5 3.5l-9 9'],
  cordoned: ['M8 2a6 6 0 1 0 .1 0z', 'M4 4l8 8'],
};

export function Glyph({ word }) {
  const paths = shapes[word] ?? shapes.idle;
  return html`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${paths.map((d) => html`<path d=${d} />`)}
  </svg>`;
}

// State shows a state of a semaphore by shape, colour and words.
export function State({ value, text }) {
  const s = findState(value);
  return html`<span class="state tone-${s.tone}"><${Glyph} word=${s.word} /><span>${text ?? s.word}</span></span>`;
}

// RecordState shows the most urgent state of a definition, and when its pause ends.
export function RecordState({ record }) {
  const first = recordStates(record)[0];
  const until = first?.word === 'paused' && record.pause?.until;
  return html`<${State} value=${first?.value} />${until && html`<span class="sub">until ${shortTime(until)}</span>`}`;
}

export function Tag({ tone = 'idle', children }) {
  return html`<span class="tag tone-${tone}">${children}</span>`;
}
