// A value shared by components.
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

// useStore renders its component again when the value changes.
export function useStore(s) {
  const [value, set] = useState(s.get());
  useEffect(() => {
    set(s.get());
    return s.subscribe(set);
  }, [s]);
  return value;
}

// kept returns a store whose value survives reloads of this tab. It is stored as JSON. Without storage it lasts as long
// as the page.
export function kept(name) {
  const s = store(null);
  try {
    s.set(JSON.parse(sessionStorage.getItem(name)));
  } catch {
    // There is no storage.
  }
  s.subscribe((v) => {
    try {
      sessionStorage.setItem(name, JSON.stringify(v));
    } catch {
      // There is no storage, or it is full.
    }
  });
  return s;
}

// remembered returns a store whose value is kept in this browser. Without storage it lasts as long as the page.
export function remembered(name, otherwise) {
  let value = otherwise;
  try {
    value = localStorage.getItem(name) ?? otherwise;
  } catch {
    // There is no storage.
  }
  const s = store(value);
  s.subscribe((v) => {
    try {
      localStorage.setItem(name, v);
    } catch {
      // There is no storage, or it is full.
    }
  });
  return s;
}
