// Who the servers see, and what it may do. The servers decide; this only asks them, to say why a button would be
// refused.
import { useEffect, useState } from 'preact/hooks';
import { call, get, post } from './api.js';
import { sentence } from './format.js';
import { remembered, store, useStore } from './store.js';

// session is null until it is known; then WhoAmIResponse, with authenticates: whether the servers authenticate callers
// at all.
export const session = store(null);

// author is what the journal shows where the servers do not authenticate callers.
export const author = remembered('author', '');

// byline is the author of a change: the servers know it where they authenticate.
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

// useCan says why the caller may not do something, as the servers say it: which role it lacks where, and who can grant
// it. It is empty when the caller may, or when that is not known.
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
