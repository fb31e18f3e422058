// Options shared by several changes: how long a change lasts, and how long holders may continue.
import { seconds } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Text } from './controls.js';

// timeLimit converts the user's input to the {duration} or {until} of a request, or to {} if both are empty.
export function timeLimit({ duration, until }) {
  if (duration?.trim()) return { duration: seconds(duration) };
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
      value=${value.duration ?? ''}
      onInput=${(duration) => set({ ...value, duration, until: '' })}
      error=${problem(() => seconds(value.duration ?? '')) || error}
      help=${`For example 30m or 2h. ${emptyHelp}`}
    />
    <${Text} label="Or until" type="datetime-local" value=${value.until ?? ''}
      onInput=${(until) => set({ ...value, until, duration: '' })} />`;
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
