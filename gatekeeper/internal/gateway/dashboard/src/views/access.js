// Who one is to the servers, what one may do, and, for administrators, who else may.
import { useState } from 'preact/hooks';
import { get, post } from '../lib/api.js';
import { when } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useTitle } from '../lib/router.js';
import { session } from '../lib/session.js';
import { useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { grantText } from '../lib/words.js';
import { Select, Text } from '../ui/controls.js';
import { Empty, Failure, Loading } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';
import { Facts, Table } from '../ui/table.js';

// The roles, as gkctl auth roles has them.
const roles = [
  ['viewer', '–', 'see definitions, permits, queues, history, jobs and status'],
  ['acquirer', 'viewer', 'acquire, keep and release permits, take over, verify, submit jobs and work on them'],
  ['verifier', '–', 'verify permits, for a guarded resource'],
  ['operator', 'viewer', 'pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these'],
  ['editor', 'viewer', 'create, replace and delete definitions; undo that'],
  ['admin', 'all', 'everything, also change members, settings, bindings and tokens'],
];

function CanI() {
  const [o, set] = useState({ role: 'ROLE_OPERATOR', semaphore: '' });
  const [answer, setAnswer] = useState(null);
  const [error, setError] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    post('/v1/can-i', { role: o.role, semaphore: o.semaphore.trim() }).then((a) => (setAnswer(a), setError(null)), setError);
  };
  return html`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${submit}>
      <${Select} label="Role" value=${o.role} onChange=${(role) => set({ ...o, role })} options=${roles.map(([name]) => [`ROLE_${name.toUpperCase()}`, name])} />
      <${Text} label="On semaphore" value=${o.semaphore} onInput=${(semaphore) => set({ ...o, semaphore })} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${answer && (answer.allowed ? html`<p class="lead tone-run">Yes.</p>` : html`<p class="lead"><strong class="tone-deny">No.</strong> ${answer.reason}</p>`)}
    </div>
    ${error && html`<${Failure} error=${error} />`}
  </section>`;
}

function Bindings() {
  const bindings = useData((signal) => get('/v1/bindings', {}, signal), ['bindings']);
  if (bindings.error) {
    return bindings.error.code === 'PERMISSION_DENIED'
      ? html`<${Empty} title="Only administrators see who may do what." />`
      : html`<${Failure} error=${bindings.error} retry=${bindings.refresh} />`;
  }
  if (!bindings.data) return html`<${Loading} what="Reading the bindings" />`;
  return html`<${Table}
      caption="Bindings"
      rows=${bindings.data.bindings}
      rowKey=${(b) => b.name}
      empty=${html`<${Empty} title="There are no bindings." />`}
      columns=${[
        ['Name', (b) => b.name, 'name'],
        ['Subjects', (b) => (b.subjects ?? []).join(', ') || '–', 'name'],
        ['May', (b) => html`<ul class="changes">${(b.grants ?? []).map((g) => html`<li>${grantText(g)}</li>`)}</ul>`],
        ['Tokens', (b) => (b.tokens ?? []).map((t) => `${t.id}${t.expires_at ? ` until ${when(t.expires_at)}` : ''}`).join(', ') || '–'],
        ['Changed', (b) => `${when(b.updated_at)}${b.updated_by ? ` by ${b.updated_by}` : ''}`, 'num'],
      ]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`;
}

export function Access() {
  useTitle('Access');
  const s = useStore(session);
  return html`<${Title}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${!s
          ? html`<${Loading} what="Asking who you are" />`
          : s.authenticated
            ? html`<${Facts} of=${[
                ['Principal', s.principal],
                ['Credential', s.credential],
                ['You may', (s.grants ?? []).map(grantText).join('; ') || 'nothing'],
                ['Acquirers', (s.acquirers ?? []).join(', ')],
              ]} />`
            : html`<p>These servers do not authenticate callers: everybody may do everything.</p>`}
      </section>
      <div class="panels">
        <${CanI} />
        <section class="panel"><h2>Roles</h2>
          <${Table} caption="Roles" rows=${roles} columns=${[['Role', (r) => r[0]], ['Includes', (r) => r[1]], ['May', (r) => r[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${Bindings} /></section>
    </div>`;
}
