// The identity and the permissions of the caller, as the servers report them. The servers decide. This module asks them
// in order to explain why a button is disabled.
import { useEffect, useState } from 'preact/hooks';
import { call, get, post } from './api.js';
import { sentence } from './format.js';
import { remembered, store, useStore } from './store.js';

// session is null until it is known. After that it is the WhoAmIResponse with authenticates, which is true if the
// servers authenticate callers.
export const session = store(null);

// author is shown in the journal if the servers do not authenticate callers.
export const author = remembered('author', '');

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
  let known = cache.get(key);
  if (!known || known.at < Date.now() - 60_000) {
    known = { at: Date.now(), answer: post('/v1/can-i', query) };
    known.answer.catch(() => cache.delete(key));
    cache.set(key, known);
  }
  return known.answer;
}

// useCan returns why the caller may not do something, in the words of the server: the missing role, and who can grant
// it. It returns '' if the caller may, or if that is unknown.
export function useCan(role, semaphore = '', group = '', acquirer = '') {
  const s = useStore(session);
  const [why, setWhy] = useState('');
  useEffect(() => {
    if (!role || !s?.authenticated) return setWhy('');
    let gone = false;
    canI({ role, semaphore, group, acquirer }).then(
      (a) => gone || setWhy(a.allowed ? '' : sentence(a.reason)),
      () => gone || setWhy(''),
    );
    return () => (gone = true);
  }, [role, semaphore, group, acquirer, s]);
  return why;
}
