// The entry point of the Gatekeeper dashboard: picks the view for the URL.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { html } from './lib/html.js';
import { address, match, useTitle } from './lib/router.js';
import { loadSession, session } from './lib/session.js';
import { useStore } from './lib/store.js';
import { recoveries } from './lib/connection.js';
import { Empty, Loading } from './ui/feedback.js';
import { Shell, Title } from './ui/shell.js';
import { Access } from './views/access.js';
import { Activity } from './views/activity.js';
import { Cluster } from './views/cluster.js';
import { Job } from './views/job.js';
import { Jobs } from './views/jobs.js';
import { Login } from './views/login.js';
import { Move } from './views/move.js';
import { Overview } from './views/overview.js';
import { Semaphore } from './views/semaphore.js';

const routes = [
  [/^\/$/, Overview],
  [/^\/s\/(.+)$/, Semaphore],
  [/^\/move$/, Move],
  [/^\/activity$/, Activity],
  [/^\/jobs$/, Jobs],
  [/^\/jobs\/(.+)$/, Job],
  [/^\/cluster$/, Cluster],
  [/^\/access$/, Access],
];

function NotFound() {
  useTitle('No such page');
  return html`<${Title}>No such page<//><${Empty} title="There is nothing at this URL.">
    <a href="/">Go to the overview</a><//>`;
}

function App() {
  const path = useStore(address).split('?')[0];
  const recovered = useStore(recoveries);
  const [checked, setChecked] = useState(false);
  const identity = useStore(session);
  useEffect(() => {
    if (path !== '/login' && !session.get()) loadSession().catch(() => {}).then(() => setChecked(true));
  }, [path === '/login', recovered]);
  if (path === '/login') return html`<${Shell} bare><${Login} /><//>`;
  if (!identity && !checked) return html`<${Shell} bare>
    <${Loading} what="Checking who you are" /><//>`; // until the session is known, calls would be refused
  const [View, names] = match(path, routes) ?? [NotFound, []];
  return html`<${Shell}><${View} key=${path} name=${names[0]} /><//>`;
}

render(html`<${App} />`, document.getElementById('app'));
