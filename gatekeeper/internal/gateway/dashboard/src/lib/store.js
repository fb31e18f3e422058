// Values shared by components.
import { useEffect, useState } from 'preact/hooks';

export function store(value) {
  const subscribers = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const f of [...subscribers]) f(value);
    },
    subscribe(f) {
      subscribers.add(f);
      return () => subscribers.delete(f);
    },
  };
}

// useStore re-renders its component when the value changes.
export function useStore(s) {
  const [value, set] = useState(s.get());
  useEffect(() => {
    set(s.get());
    return s.subscribe(set);
  }, [s]);
  return value;
}

// tabStore returns a store whose value survives reloads of this tab. It is stored as JSON. If storage is unavailable,
// the value lasts only as long as the page.
export function tabStore(name) {
  const s = store(null);
  try {
    s.set(JSON.parse(sessionStorage.getItem(name)));
  } catch {
    // Storage is unavailable.
  }
  s.subscribe((v) => {
    try {
      sessionStorage.setItem(name, JSON.stringify(v));
    } catch {
      // Storage is unavailable or full.
    }
  });
  return s;
}

// browserStore returns a store whose value is kept in this browser. If storage is unavailable, the value lasts only as
// long as the page.
export function browserStore(name, fallback) {
  let value = fallback;
  try {
    value = localStorage.getItem(name) ?? fallback;
  } catch {
    // Storage is unavailable.
  }
  const s = store(value);
  s.subscribe((v) => {
    try {
      localStorage.setItem(name, v);
    } catch {
      // Storage is unavailable or full.
    }
  });
  return s;
}
