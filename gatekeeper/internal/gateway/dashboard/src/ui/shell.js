// The frame around every view: skip link, navigation, user, and connection status.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from '../lib/api.js';
import { connection } from '../lib/connection.js';
import { html } from '../lib/html.js';
import { address, back, navigate } from '../lib/router.js';
import { author, logout, session } from '../lib/session.js';
import { browserStore, useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { Dialog, Text, useKeys } from './controls.js';
import { Notices, Offline } from './feedback.js';
import { UndoDialog } from './review.js';

const views = [
  ['/', 'Overview'],
  ['/move', 'Move and pause'],
  ['/activity', 'Activity'],
  ['/jobs', 'Jobs'],
  ['/cluster', 'Cluster'],
  ['/access', 'Access'],
];

const theme = browserStore('theme', 'auto');

theme.subscribe((t) => {
  if (t === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = t;
});

function ThemeButton() {
  const t = useStore(theme);
  const next = { auto: 'light', light: 'dark', dark: 'auto' }[t];
  return html`<button type="button" class="plain" onClick=${() => theme.set(next)}
    title="Theme: ${t}. Click for ${next}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <path class="solid" d=${t === 'auto' ? 'M8 2a6 6 0 0 1 0 12z' : t === 'dark' ? 'M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z' : 'M8 8z'} />
    </svg>
    <span class="sr-only">Theme: ${t}. Change to ${next}</span>
  </button>`;
}

const keys = [
  ['/', 'Search'],
  ['↑ ↓', 'Move in a list; Home, End, Page Up and Page Down also work'],
  ['Enter', 'Open'],
  ['Esc', 'Leave a field, close a dialog, or go back'],
  ['g then o, m, a, j, c', 'Overview, Move and pause, Activity, Jobs, Cluster'],
  ['?', 'This help'],
];

const terms = [
  ['Semaphore', 'A named rule: which groups and hosts may run a task, and how many at once.'],
  ['Permit', 'What a caller holds while it runs. It expires unless the holder refreshes it.'],
  ['Group', 'Where a caller runs, for example a zone. Moving work changes the group that a rule admits.'],
  ['Acquirer', 'The caller’s name, normally its host.'],
  ['Drain', 'How long a holder that must stop may continue.'],
  ['Cordon', 'Shuts a group or a host out of every semaphore.'],
  ['Firing', 'One run of a schedule, such as last night’s. It is claimed only once in the whole cluster.'],
  ['Job', 'A list of tasks that workers share.'],
];

function HelpDialog({ onClose }) {
  return html`<${Dialog} title="Help" onClose=${onClose}>
    <h3>Terms</h3>
    <dl class="keys">${terms.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
    <h3>Keys</h3>
    <dl class="keys">${keys.map(([key, text]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
  <//>`;
}

function UserButton() {
  const s = useStore(session);
  const name = useStore(author);
  const [open, setOpen] = useState(false);
  if (!s) return null;
  const label = s.authenticated ? s.principal || s.credential : name || 'dashboard';
  return html`<button type="button" class="plain who" onClick=${() => setOpen(true)}>
    <span class="sr-only">You are </span>${label}</button>
    ${open &&
    html`<${Dialog} title="You" onClose=${() => setOpen(false)}>
      ${s.authenticated
        ? html`<p>You are authenticated as <strong>${s.principal}</strong>,
          with ${s.credential}. <a href="/access">Your permissions</a></p>
            <p class="row end"><button type="button"
              onClick=${() => logout().catch(() => {}).then(() => navigate('/login'))}>Log out</button></p>`
        : html`<p>These servers do not authenticate callers, so anyone may do anything.</p>
            <${Text} label="Your name" help="Shown in the journal as the author of your changes. It is not verified."
              value=${name} onInput=${(v) => author.set(v)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${() => setOpen(false)}>Done</button></p>`}
    <//>`}`;
}

// Leader shows which server is the leader, or that there is none.
function Leader() {
  const status = useData((signal) => get('/v1/status', {}, signal), ['status'], { every: 10_000, keep: true });
  const online = useStore(connection).online;
  const s = status.data;
  if (!online) return html`<a class="leader" href="/cluster">
    <span class="status-dot tone-deny" aria-hidden="true"></span>no response</a>`;
  if (!s) return html`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`;
  return html`<a class="leader" href="/cluster">
    ${s.leader_id ? html`<span class="status-dot tone-run" aria-hidden="true"></span><span><span class="long">leader: </span>${s.leader_id}</span>` : html`<span class="status-dot tone-deny" aria-hidden="true"></span>no leader`}
  </a>`;
}

const jumps = { o: '/', m: '/move', a: '/activity', j: '/jobs', c: '/cluster' };

export function Shell({ children, bare }) {
  const path = useStore(address).split('?')[0];
  const [help, setHelp] = useState(false);
  const main = useRef(null);
  const first = useRef(true);
  const jump = useRef(0);

  // After a view change, move the focus to the heading, so that screen readers start there.
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus();
  }, [path]);

  useKeys({
    '?': () => setHelp(true),
    '/': (e) => {
      const field = document.querySelector('[data-search]');
      if (!field) return;
      e.preventDefault();
      field.focus();
      field.select();
    },
    Escape: (e, typing) => {
      if (typing) e.target.blur();
      else if (path !== '/') back();
    },
    g: () => (jump.current = Date.now()),
    ...Object.fromEntries(
      Object.entries(jumps).map(([key, to]) =>
        [key, () => Date.now() - jump.current < 1500 && document.querySelector(`.nav a[href="${to}"]`)?.click()]),
    ),
  });

  return html`<a class="skip" href="#main">Skip to content</a>
    ${!bare &&
    html`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${views.map(([href, text]) => {
          const active = href === '/' ? path === '/' || path.startsWith('/s/') : path === href || path.startsWith(`${href}/`);
          return html`<a href=${href} aria-current=${active ? 'page' : undefined}>${text}</a>`;
        })}
      </nav>
      <div class="tools">
        <${Leader} />
        <${UserButton} />
        <${ThemeButton} />
        <button type="button" class="plain" onClick=${() => setHelp(true)} title="Help">
        <span aria-hidden="true">?</span><span class="sr-only">Help</span></button>
      </div>
    </header>`}
    <${Offline} />
    <main id="main" tabindex="-1" ref=${main}>${children}</main>
    <${Notices} />
    <${UndoDialog} />
    ${help && html`<${HelpDialog} onClose=${() => setHelp(false)} />`}`;
}

// Title is the heading of a view. It is focused when the view opens.
export function Title({ children, aside }) {
  return html`<div class="title">
    <h1 tabindex="-1">${children}</h1>${aside && html`<div class="row">${aside}</div>`}</div>`;
}
