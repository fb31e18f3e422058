// The caller's identity and permissions and, for administrators, all bindings.
import { useState } from 'preact/hooks';
import { get, post } from '../lib/api.js';
import { count, dateTime } from '../lib/format.js';
import { html } from '../lib/html.js';
import { useTitle } from '../lib/router.js';
import { session } from '../lib/session.js';
import { useStore } from '../lib/store.js';
import { useData } from '../lib/use.js';
import { grantText } from '../lib/words.js';
import { Action, Select, Text } from '../ui/controls.js';
import { Empty, Failure, Loaded, Loading } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';
import { Facts, Table } from '../ui/table.js';
import { BindingDialog, RemoveBindingDialog } from './access/binding.js';
import { roleOptions, roles } from './access/roles.js';
import { RevokeTokenDialog, TokenDialog } from './access/token.js';

function CanI() {
  const [o, set] = useState({ role: 'ROLE_OPERATOR', semaphore: '' });
  const [result, setResult] = useState(null);
  const [error, setError] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    post('/v1/can-i', { role: o.role, semaphore: o.semaphore.trim() }).then((a) =>
      (setResult(a), setError(null)), setError);
  };
  return html`<section class="panel stack">
    <h2>Can I?</h2>
    <form class="form" onSubmit=${submit}>
      <${Select} label="Role" value=${o.role} onChange=${(role) => set({ ...o, role })} options=${roleOptions} />
      <${Text} label="On semaphore" value=${o.semaphore} onInput=${(semaphore) => set({ ...o, semaphore })}
        help="Empty: anywhere." />
      <p class="row full"><button class="primary">Check</button></p>
    </form>
    <div role="status">
      ${result && (result.allowed ? html`<p class="lead tone-run">Yes.</p>` : html`<p class="lead"><strong class="tone-deny">No.</strong> ${result.reason}</p>`)}
    </div>
    ${error && html`<${Failure} error=${error} />`}
  </section>`;
}

// limit is the maximum number of bindings shown.
const limit = 200;

function Bindings({ session: s }) {
  const bindings = useData((signal) => get('/v1/bindings', {}, signal), ['bindings'], { keep: true });
  const [dialog, setDialog] = useState(null); // [which, binding, token]
  const [filter, setFilter] = useState('');
  if (bindings.error?.code === 'PERMISSION_DENIED')
    return html`<${Empty} title="Only administrators can see who may do what." />`;
  const why = s?.authenticates === false ? 'These servers do not authenticate callers, so bindings have no effect.' : '';
  const button = (text, kind, ...target) =>
    html`<${Action} role="ROLE_ADMIN" why=${why} kind=${kind} onClick=${() => setDialog(target)}>${text}<//>`;
  const close = { onClose: () => setDialog(null), onDone: bindings.refresh };
  const [which, binding, token] = dialog ?? [];
  return html`<div class="title"><h2>Who may do what</h2>${button('Create a binding …', 'primary', 'edit')}</div>
    <${Loaded} source=${bindings} what="Loading the bindings">
      ${({ bindings: all = [] }) => {
        const matching = all.filter((b) =>
          filter.toLowerCase().split(/\s+/).every((w) => JSON.stringify(b).toLowerCase().includes(w)));
        return html`${(all.length > 10 || filter) &&
          html`<${Text} label="Find" value=${filter} onInput=${setFilter}
            help="Words in names, subjects, grants or tokens." />`}
        <${Table}
          caption="Bindings"
          rows=${matching.slice(0, limit)}
          rowKey=${(b) => b.name}
          empty=${html`<${Empty} title=${filter ? 'No bindings match.' : 'There are no bindings.'} />`}
          note=${matching.length > limit && `and ${count(matching.length - limit)} more: narrow them down with Find`}
          columns=${[
            ['Name', (b) => b.name, 'name'],
            ['Subjects', (b) => html`<ul class="changes">${(b.subjects ?? []).map((t) => html`<li>${t}</li>`)}</ul>`,
              'name'],
            ['Grants', (b) => html`<ul class="changes">
              ${(b.grants ?? []).map((g) => html`<li>${grantText(g)}</li>`)}
            </ul>`],
            ['Tokens', (b) => html`<ul class="changes">
              ${(b.tokens ?? []).map((t) => html`<li class="row">
                <span><code>${t.id}</code>${t.expires_at &&
                  ` until ${dateTime(t.expires_at)}`}</span>${button('Revoke …', '', 'revoke', b, t)}
              </li>`)}
            </ul>`],
            ['Changed', (b) => `${dateTime(b.updated_at)}${b.updated_by ? ` by ${b.updated_by}` : ''}`],
            ['', (b) => html`<span class="row end">
              ${button('Edit …', '', 'edit', b)}${button('Create a token …', '', 'token', b)}${button('Remove …',
                'danger', 'remove', b)}
            </span>`, 'end'],
          ]}
        />`;
      }}
    <//>
    ${which === 'edit' && html`<${BindingDialog} binding=${binding} ...${close} />`}
    ${which === 'remove' && html`<${RemoveBindingDialog} binding=${binding} ...${close} />`}
    ${which === 'token' && html`<${TokenDialog} binding=${binding.name} ...${close} />`}
    ${which === 'revoke' && html`<${RevokeTokenDialog} binding=${binding.name} token=${token} ...${close} />`}`;
}

export function Access() {
  useTitle('Access');
  const s = useStore(session);
  return html`<${Title}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${!s
          ? html`<${Loading} what="Checking who you are" />`
          : s.authenticated
            ? html`<${Facts} facts=${[
                ['Principal', s.principal],
                ['Credential', s.credential],
                ['Roles', (s.grants ?? []).map(grantText).join('; ') || 'none'],
                ['Acquirers', (s.acquirers ?? []).join(', ')],
              ]} />`
            : html`<p>These servers do not authenticate callers, so anyone may do anything.</p>`}
      </section>
      <div class="panels">
        <${CanI} />
        <section class="panel"><h2>Roles</h2>
          <${Table} caption="Roles" rows=${roles}
            columns=${[['Role', (r) => r[0], 'num'], ['Includes', (r) => r[1]], ['May', (r) => r[2]]]} />
        </section>
      </div>
      <section class="panel"><${Bindings} session=${s} /></section>
    </div>`;
}
