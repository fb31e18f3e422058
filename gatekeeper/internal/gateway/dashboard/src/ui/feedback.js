// What a view shows while it loads, when it is empty and when it fails, and the notices.
import { useEffect } from 'preact/hooks';
import { connection } from '../lib/connection.js';
import { clock, sentence } from '../lib/format.js';
import { html } from '../lib/html.js';
import { store, useStore } from '../lib/store.js';
import { useSecond } from '../lib/use.js';

export function Loading({ what = 'Reading' }) {
  return html`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${what} …</p>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<p>${children}</p>`}</div>`;
}

// Failure shows an error, what to do next, and a button to try again.
export function Failure({ error, retry }) {
  if (!error) return null;
  const fields = error.fields ?? [];
  return html`<div class="failure" role="alert">
    <p class="failure-text">${sentence(error.message)}</p>
    ${error.code === 'UNAUTHENTICATED' && html`<p>Log in again.</p>`}
    ${fields.length > 0 && html`<ul>${fields.map((f) => html`<li><code>${f.field}</code>: ${f.rule}</li>`)}</ul>`}
    ${error.offline && html`<p>The outcome of a change is unknown; Activity shows it. Pressing the same button again is
      safe: the change is made only once.</p>`}
    <p class="row">
      ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
      ${(error.reason || error.code) && html`<span class="faint">${error.reason || error.code}</span>`}
    </p>
  </div>`;
}

// Read shows the children when data is available, and otherwise the reason. Data stays visible when reading it again
// fails.
export function Read({ of, what, children }) {
  if (of.data === undefined) {
    if (of.error && !of.error.offline) return html`<${Failure} error=${of.error} retry=${of.refresh} />`;
    return html`<${Loading} what=${what} />`;
  }
  return html`${of.error && !of.error.offline &&
    html`<${Failure} error=${of.error} retry=${of.refresh} />`}${children(of.data)}`;
}

// Offline is the banner shown while the cluster is unreachable.
export function Offline() {
  const c = useStore(connection);
  useSecond();
  if (c.online) return html`<div role="status" class="sr-only"></div>`;
  return html`<div class="offline" role="status">
    <strong>${sentence(c.message)}</strong>
    <span> This page shows the state at ${clock(new Date(c.since))}. It retries every second and
    recovers automatically.</span>
  </div>`;
}

// Notices report what was done. They disappear after a few seconds, later if they have a button, or when dismissed.
const notices = store([]);
let number = 0;

export function notify(text, { tone = 'run', action } = {}) {
  notices.set([...notices.get().slice(-2), { id: ++number, text, tone, action }]);
}

const dismiss = (id) => notices.set(notices.get().filter((n) => n.id !== id));

function Notice({ id, text, tone, action }) {
  useEffect(() => {
    const t = setTimeout(() => dismiss(id), action ? 15_000 : 6_000);
    return () => clearTimeout(t);
  }, [id]);
  return html`<div class="notice tone-${tone}">
    <span>${text}</span>
    ${action && html`<button type="button" onClick=${() => (dismiss(id), action.run())}>${action.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${() => dismiss(id)}>×</button>
  </div>`;
}

export function Notices() {
  const list = useStore(notices);
  return html`<div class="notices" role="status">${list.map((n) => html`<${Notice} key=${n.id} ...${n} />`)}</div>`;
}
