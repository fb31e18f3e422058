// Bearer tokens for a binding: creating and revoking them.
import { useEffect, useRef, useState } from 'preact/hooks';
import { now, path, post } from '../../lib/api.js';
import { dateTime, ms } from '../../lib/format.js';
import { html } from '../../lib/html.js';
import { Action, Dialog, Text } from '../../ui/controls.js';
import { Failure } from '../../ui/feedback.js';
import { EndFields, problem, timeLimit } from '../../ui/options.js';
import { Review } from '../../ui/review.js';

const unknownOutcome = { message: 'The token may or may not have been created. If the list shows a new one, revoke it.' };

// expiry returns the {expires_at} of a request from the user's input, or {} if the token does not expire.
function expiry(o) {
  const { duration, until } = timeLimit(o);
  if (duration) return { expires_at: new Date(now() + ms(duration)).toISOString() };
  return until ? { expires_at: until } : {};
}

// Secret shows a token, which is stored only in this component.
function Secret({ created, binding, onClose }) {
  const field = useRef(null);
  const [copied, setCopied] = useState('');
  useEffect(() => field.current.querySelector('input').select(), []);
  const copy = async () => {
    field.current.querySelector('input').select();
    try {
      await navigator.clipboard.writeText(created.secret);
      setCopied('Copied.');
    } catch {
      setCopied('The browser does not allow copying: press Ctrl-C to copy the selected text.');
    }
  };
  const validity = created.token.expires_at ? `until ${dateTime(created.token.expires_at)}` : 'until it is revoked';
  return html`<div class="stack" ref=${field}>
    <p class="note" role="alert">Copy the token now. It is shown only once: the servers keep only its hash.</p>
    <${Text} label="Token" value=${created.secret} onInput=${() => {}} readonly />
    <p>A caller that presents it acts as ${binding}, ${validity}. Its id is <code>${created.token.id}</code>.</p>
    <p class="row end">
      <span class="grow" role="status">${copied}</span>
      <button type="button" onClick=${copy}>Copy</button>
      <button type="button" class="primary" onClick=${onClose}>Done</button>
    </p>
  </div>`;
}

export function TokenDialog({ binding, onClose, onDone }) {
  const [o, set] = useState({ duration: '30d', until: '' });
  const [reason, setReason] = useState('');
  const [created, setCreated] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const expiryError = problem(() => expiry(o));
  const submit = async (event) => {
    event.preventDefault();
    if (busy || expiryError) return;
    setBusy(true);
    setError(null);
    try {
      setCreated(await post('/v1/tokens', { binding, reason, ...expiry(o) }));
      onDone();
    } catch (e) {
      setError(e.offline ? unknownOutcome : e);
      if (e.offline) onDone();
    }
    setBusy(false);
  };
  const rule = error?.fields?.find((f) => f.field === 'expires_at')?.rule;
  return html`<${Dialog} title=${`${created ? 'Token' : 'Create a token'} for ${binding}`} onClose=${onClose} persistent>
    ${created
      ? html`<${Secret} created=${created} binding=${binding} onClose=${onClose} />`
      : html`<form onSubmit=${submit}>
          <p>A caller that presents the token may do everything that the binding grants.</p>
          <div class="form">
            <${EndFields} value=${o} set=${(v) => (set(v), setError(null))}
              emptyHelp="Empty: until it is revoked." error=${rule} />
          </div>
          <${Text} label="Reason" help="Why you are doing this. Shown in Activity." value=${reason}
            onInput=${setReason} maxlength="1024" />
          ${error && !rule && html`<${Failure} error=${error} />`}
          <p class="row end">
            <button type="button" onClick=${onClose}>Cancel</button>
            <${Action} role="ROLE_ADMIN" type="submit" kind="primary"
              why=${expiryError}>${busy ? 'Working …' : 'Create'}<//>
          </p>
        </form>`}
  <//>`;
}

export function RevokeTokenDialog({ binding, token, onClose, onDone }) {
  return html`<${Review}
    title=${`Revoke token ${token.id}`}
    verb="Revoke"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${false}
    preview=${async () => ({})}
    show=${() => html`<p>Callers that present this token of ${binding} are refused immediately, and their streams
      end within a second. Permits last until they expire.</p>`}
    run=${({ reason }) => post(path`/v1/tokens/${token.id}:revoke`, { reason })}
    done=${() => `Token ${token.id} revoked.`}
    onClose=${onClose}
    onDone=${onDone}
  />`;
}
