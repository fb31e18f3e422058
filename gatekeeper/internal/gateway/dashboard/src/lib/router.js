// The URL selects the view and its contents. It contains all the state that is worth sharing.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { store, useStore } from './store.js';

const currentURL = () => location.pathname + location.search;
export const address = store(currentURL());

// depth counts the pages opened in the dashboard, so that going back never leaves it.
let depth = 0;

addEventListener('popstate', () => address.set(currentURL()));

export function navigate(to, { replace = false } = {}) {
  if (to === currentURL()) return;
  if (replace) history.replaceState(history.state, '', to);
  else {
    depth++;
    history.pushState({ depth }, '', to);
  }
  address.set(currentURL());
}

// back goes to the previous page, or to the overview if there is none.
export function back() {
  if (history.state?.depth > 0) history.back();
  else navigate('/');
}

// Links within the dashboard change the view without reloading the page.
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey ||
    event.shiftKey || event.altKey) return;
  const a = event.target.closest?.('a[href]');
  if (!a || a.target || a.hasAttribute('download') || a.origin !== location.origin) return;
  if (a.pathname.startsWith('/v1/')) return;
  event.preventDefault();
  if (a.hash && a.pathname === location.pathname) document.getElementById(a.hash.slice(1))?.focus();
  else navigate(a.pathname + a.search);
});

// useQuery returns the query string and a function that changes some of its keys. An empty value removes the key.
export function useQuery() {
  const url = useStore(address);
  const params = useMemo(() => new URLSearchParams(url.split('?')[1] ?? ''), [url]);
  const change = (values, { replace = true } = {}) => {
    const next = new URLSearchParams(location.search);
    for (const [key, value] of Object.entries(values)) {
      next.delete(key);
      for (const v of [value].flat()) if (v) next.append(key, v);
    }
    const text = next.toString();
    navigate(location.pathname + (text ? `?${text}` : ''), { replace });
  };
  return [params, change];
}

// useTitle sets the page title.
export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · Gatekeeper` : 'Gatekeeper';
  }, [title]);
}

// match finds the view for a path in a list of [pattern, view], and decodes the captured parts of the path.
export function match(path, routes) {
  for (const [pattern, view] of routes) {
    const m = pattern.exec(path);
    if (!m) continue;
    try {
      return [view, m.slice(1).map(decodeURIComponent)];
    } catch {
      return null; // an invalid escape
    }
  }
  return null;
}

// useDraft holds the text of an input. It commits the text, usually to the URL, shortly after the last keystroke.
export function useDraft(value, commit, delay = 200) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const t = setTimeout(() => commit(text), delay);
    return () => clearTimeout(t);
  }, [text]);
  return [text, setText];
}
