// Options shared by several changes: how long a change lasts, and how long holders may continue.
import { seconds } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Text } from './controls.js';

// timeLimit converts the user's input to the {lasts} or {until} of a request, or to {} if both are empty.
export function timeLimit({ lasts, until }) {
  if (lasts?.trim()) return { lasts: seconds(lasts) };
  if (until) return { until: new Date(until).toISOString() };
  return {};
}

export const drain = (text) => (text?.trim() ? { drain: seconds(text) } : {});

export function problem(f) {
  try {
    f();
    return '';
  } catch (error) {
    return error.message;
  }
}

export function EndFields({ value, set, emptyHelp = 'Empty: no limit.', error }) {
  return html`<${Text}
      label="For"
      placeholder="2h"
      value=${value.lasts ?? ''}
      onInput=${(lasts) => set({ ...value, lasts, until: '' })}
      error=${problem(() => seconds(value.lasts ?? '')) || error}
      help=${`For example 30m or 2h. ${emptyHelp}`}
    />
    <${Text} label="Or until" type="datetime-local" value=${value.until ?? ''}
      onInput=${(until) => set({ ...value, until, lasts: '' })} />`;
}

export function DrainField({ value, set }) {
  return html`<${Text}
    label="Drain"
    placeholder="2m"
    value=${value.drain ?? ''}
    onInput=${(drain) => set({ ...value, drain })}
    error=${problem(() => seconds(value.drain ?? ''))}
    help="How long holders that must stop may keep running. Empty: they must stop now."
  />`;
}
