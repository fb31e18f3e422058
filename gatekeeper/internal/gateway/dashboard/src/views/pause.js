// The pause and resume dialogs, shared by several views.
import { useState } from 'preact/hooks';
import { post } from '../lib/api.js';
import { plural, summarizeNames } from '../lib/format.js';
import { html } from '../lib/html.js';
import { Check } from '../ui/controls.js';
import { DrainField, EndFields, drain, timeLimit } from '../ui/options.js';
import { Review } from '../ui/review.js';

export const selectorText = (s) =>
  (s.all ? 'every semaphore' : s.labels ? `semaphores with ${s.labels}` : summarizeNames(s.names ?? []));

const scope = (selector) => (selector.names?.length === 1 ? selector.names[0] : '');

export function PauseDialog({ selector, onClose, onDone }) {
  const [o, set] = useState({ duration: '', until: '', stop: false, drain: '' });
  const request = () => ({ selector, ...timeLimit(o), ...(o.stop ? { stop: true, ...drain(o.drain) } : {}) });
  return html`<${Review}
    title=${`Pause ${selectorText(selector)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${scope(selector)}
    deps=${o}
    preview=${async (signal) => post('/v1/preview', { pause: request() }, signal)}
    run=${async (common, p) => post('/v1/pause', { ...request(), expected: p.digest, ...common })}
    done=${(a) => `${plural(a.names?.length ?? 0, 'semaphore', 'semaphores')} paused.`}
    onClose=${onClose}
    onDone=${onDone}
  >
    <p>No permits are granted until the pause ends. Callers keep their places in the queue.</p>
    <div class="form">
      <${EndFields} value=${o} set=${set} emptyHelp="Empty: until resumed." />
      <${Check} label="Stop holders too" checked=${o.stop} onChange=${(stop) => set({ ...o, stop })}
        help="Otherwise running work continues until it finishes." />
      ${o.stop && html`<${DrainField} value=${o} set=${set} />`}
    </div>
  <//>`;
}

export function ResumeDialog({ selector, onClose, onDone }) {
  return html`<${Review}
    title=${`Resume ${selectorText(selector)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${scope(selector)}
    preview=${async (signal) => post('/v1/preview', { resume: { selector } }, signal)}
    run=${async (common, p) => post('/v1/resume', { selector, expected: p.digest, ...common })}
    done=${(a) => (a.names?.length ? `${plural(a.names.length, 'semaphore', 'semaphores')} resumed.` : 'Nothing was paused.')}
    onClose=${onClose}
    onDone=${onDone}
  />`;
}
