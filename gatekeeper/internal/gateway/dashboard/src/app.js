// The dashboard of Gatekeeper: chooses the view for the address.
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

function Missing() {
  useTitle('No such page');
  return html`<${Title}>No such page<//><${Empty} title="There is nothing at this address.">
    <a href="/">Go to the overview</a><//>`;
}

function App() {
  const path = useStore(address).split('?')[0];
  const recovered = useStore(recoveries);
  const [asked, setAsked] = useState(false);
  const known = useStore(session);
  useEffect(() => {
    if (path !== '/login' && !session.get()) loadSession().catch(() => {}).then(() => setAsked(true));
  }, [path === '/login', recovered]);
  if (path === '/login') return html`<${Shell} bare><${Login} /><//>`;
  if (!known && !asked) return html`<${Shell} bare>
    <${Loading} what="Asking who you are" /><//>`; // calls before the session is known would be refused
  const [View, names] = match(path, routes) ?? [Missing, []];
  return html`<${Shell}><${View} key=${path} name=${names[0]} /><//>`;
}

render(html`<${App} />`, document.getElementById('app'));
