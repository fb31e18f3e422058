import { useState } from 'preact/hooks';
import { html } from '../lib/html.js';
import { navigate, useQuery, useTitle } from '../lib/router.js';
import { login } from '../lib/session.js';
import { Text } from '../ui/controls.js';
import { Failure } from '../ui/feedback.js';
import { Title } from '../ui/shell.js';

// Login asks for a bearer token and returns to the page that required it.
export function Login() {
  useTitle('Log in');
  const [params] = useQuery();
  const [token, setToken] = useState('');
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const next = params.get('next') ?? '/';
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await login(token.trim());
      navigate(/^\/(?![/\\])/.test(next) ? next : '/', { replace: true });
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return html`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Title}>Log in to Gatekeeper<//>
    <form onSubmit=${submit}>
      <${Text}
        label="Bearer token"
        help="Created with gkctl auth token create. This browser keeps it for 12 hours in a cookie that scripts cannot read."
        type="password"
        autocomplete="current-password"
        value=${token}
        onInput=${setToken}
        required
        autofocus
      />
      ${error && html`<${Failure} error=${error.status === 401 ? { message: 'The servers do not recognize this token. It may have expired or been revoked.' } : error} />`}
      <p class="row end"><button class="primary"
        disabled=${busy || !token.trim()}>${busy ? 'Logging in …' : 'Log in'}</button></p>
    </form>
  </div>`;
}
