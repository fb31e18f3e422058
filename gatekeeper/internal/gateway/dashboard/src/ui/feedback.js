// Loading, empty and error states of views, the offline banner, and notices.
import { useEffect } from 'preact/hooks';
import { connection } from '../lib/connection.js';
import { sentence, timeOfDay } from '../lib/format.js';
import { html } from '../lib/html.js';
import { store, useStore } from '../lib/store.js';
import { useEverySecond } from '../lib/use.js';

export function Loading({ what = 'Loading' }) {
  return html`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${what} …</p>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<p>${children}</p>`}</div>`;
}

// Failure shows an error, what to do next, and a button to retry.
export function Failure({ error, retry }) {
  if (!error) return null;
  const fields = error.fields ?? [];
  return html`<div class="failure" role="alert">
    <p class="failure-text">${sentence(error.message)}</p>
    ${error.code === 'UNAUTHENTICATED' && html`<p>Log in again.</p>`}
    ${fields.length > 0 && html`<ul>${fields.map((f) => html`<li><code>${f.field}</code>: ${f.rule}</li>`)}</ul>`}
    ${error.offline && html`<p>If you were making a change, its outcome is unknown; check Activity. It is safe to press
      the same button again: the change is made only once.</p>`}
    <p class="row">
      ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
      ${(error.reason || error.code) && html`<span class="faint">${error.reason || error.code}</span>`}
    </p>
  </div>`;
}

// Loaded shows its children once the data has been loaded, and a loading state or the error until then. Data stays
// visible if a reload fails.
export function Loaded({ source, what, children }) {
  if (source.data === undefined) {
    if (source.error && !source.error.offline) return html`<${Failure} error=${source.error} retry=${source.refresh} />`;
    return html`<${Loading} what=${what} />`;
  }
  return html`${source.error && !source.error.offline &&
    html`<${Failure} error=${source.error} retry=${source.refresh} />`}${children(source.data)}`;
}

// Offline is the banner shown while the cluster is unreachable.
export function Offline() {
  const c = useStore(connection);
  useEverySecond();
  if (c.online) return html`<div role="status" class="sr-only"></div>`;
  return html`<div class="offline" role="status">
    <strong>${sentence(c.message)}</strong>
    <span> This page shows the state as of ${timeOfDay(new Date(c.since))}. It retries every second and
    recovers automatically.</span>
  </div>`;
}

// Notices report what was done. They disappear when dismissed, or after a few seconds: a few more if they have a
// button.
const notices = store([]);
let lastID = 0;

export function notify(text, { tone = 'run', action } = {}) {
  notices.set([...notices.get().slice(-2), { id: ++lastID, text, tone, action }]);
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
