// The caller's identity and permissions, as reported by the servers. The servers enforce them; this module only
// explains why a button is disabled.
import { useEffect, useState } from 'preact/hooks';
import { call, get, post } from './api.js';
import { sentence } from './format.js';
import { browserStore, store, useStore } from './store.js';

// session is null until it is known. After that it is the WhoAmIResponse plus authenticates, which is true if the
// servers authenticate callers.
export const session = store(null);

// author is shown in the journal if the servers do not authenticate callers.
export const author = browserStore('author', '');

// byline returns the author of a change, which the servers determine themselves if they authenticate callers.
export const byline = () => (session.get()?.authenticated ? {} : { author: author.get() || 'dashboard' });

export async function loadSession() {
  const s = await get('/session');
  session.set({ authenticates: s.authenticated ?? false, ...s });
  cache.clear();
}

export async function login(token) {
  await call('POST', '/session', { body: { token } });
  await loadSession();
}

export async function logout() {
  await call('DELETE', '/session');
  session.set(null);
}

const cache = new Map();

export function canI(query) {
  const key = JSON.stringify(query);
  let cached = cache.get(key);
  if (!cached || cached.at < Date.now() - 60_000) {
    cached = { at: Date.now(), promise: post('/v1/can-i', query) };
    cached.promise.catch(() => cache.delete(key));
    cache.set(key, cached);
  }
  return cached.promise;
}

// useCan returns the server's explanation of why the caller may not do something: the missing role, and who can grant
// it. It returns '' if the caller may do it, or if that is unknown.
export function useCan(role, semaphore = '', group = '', acquirer = '') {
  const s = useStore(session);
  const [reason, setReason] = useState('');
  useEffect(() => {
    if (!role || !s?.authenticated) return setReason('');
    let cancelled = false;
    canI({ role, semaphore, group, acquirer }).then(
      (a) => cancelled || setReason(a.allowed ? '' : sentence(a.reason)),
      () => cancelled || setReason(''),
    );
    return () => (cancelled = true);
  }, [role, semaphore, group, acquirer, s]);
  return reason;
}
