// Hooks that read from the cluster.
import { useEffect, useRef, useState } from 'preact/hooks';
import { recoveries } from './connection.js';
import { store, useStore } from './store.js';
import { stream } from './stream.js';

// A read that takes longer than this (ms) is cancelled when the next one is due.
const patience = 10_000;

// useData reads with load(signal) when its component appears, when deps change, and when the cluster becomes reachable
// again. With every, it also reads at that interval (ms) while the page is visible. It returns {data, error, loading,
// refresh, set}. After an error it keeps the earlier data. Data for other deps is hidden unless keep is set.
// set(change) replaces the data with change(data), unless that is undefined.
export function useData(load, deps, { every = 0, keep = false } = {}) {
  const [state, setState] = useState({});
  const [round, setRound] = useState(0);
  const recovered = useStore(recoveries);
  const key = JSON.stringify(deps);
  const newest = useRef(load);
  newest.current = load;
  const began = useRef(0); // start of the current read; 0 if there is none
  useEffect(() => {
    if (load === null) return;
    const abort = new AbortController();
    const ended = (change) => {
      if (abort.signal.aborted) return;
      began.current = 0;
      setState(change);
    };
    began.current = Date.now();
    newest.current(abort.signal).then(
      (data) => ended({ data, key }),
      (error) => ended((s) => ({ ...s, error, failed: key })),
    );
    return () => abort.abort();
  }, [key, round, recovered, load === null]);
  useEffect(() => {
    if (!every) return;
    const t = setInterval(() => document.hidden || Date.now() - began.current < patience ||
      setRound((n) => n + 1), every);
    return () => clearInterval(t);
  }, [every]);
  const mine = state.key === key;
  const error = state.failed === key ? state.error : undefined;
  return {
    data: mine || keep ? state.data : undefined,
    error,
    loading: !mine && !error,
    refresh: () => setRound((n) => n + 1),
    set: (change) =>
      setState((s) => {
        const data = change(s.key === key ? s.data : undefined);
        return data === undefined ? s : { data, key };
      }),
  };
}

// useStream follows url while its component is mounted. If url is null it does nothing. on may change with each
// rendering.
export function useStream(url, query, on) {
  const newest = useRef(on);
  newest.current = on;
  const key = JSON.stringify([url, query]);
  useEffect(() => {
    if (!url) return;
    const pass = (name) => (...args) => newest.current[name]?.(...args);
    return stream(url, query, {
      message: pass('message'),
      live: pass('live'),
      missed: pass('missed'),
      open: pass('open'),
      error: pass('error'),
      end: pass('end'),
    });
  }, [key]);
}

// One timer for all countdowns.
const second = store(0);
let ticking = null;
let tickers = 0;

export function useSecond() {
  useEffect(() => {
    if (tickers++ === 0) ticking = setInterval(() => document.hidden || second.set(second.get() + 1), 1000);
    return () => {
      if (--tickers === 0) clearInterval(ticking);
    };
  }, []);
  return useStore(second);
}

// useSoon returns a function that calls f after a delay. Further calls during the delay are merged into the first.
// After burst calls of f in a row it pauses between them. A single change is therefore shown immediately, and constant
// change costs the servers little.
export function useSoon(f, delay, { rest = delay, burst = 4 } = {}) {
  const newest = useRef(f);
  newest.current = f;
  const timer = useRef(null);
  const ends = useRef(0); // the time until which the calls so far count against the burst
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    if (timer.current !== null) return;
    const now = performance.now();
    ends.current = Math.max(ends.current, now) + rest;
    timer.current = setTimeout(() => {
      timer.current = null;
      newest.current();
    }, Math.max(delay, ends.current - now - burst * rest));
  };
}

// useMedia reports whether a media query matches.
export function useMedia(query) {
  const [matches, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const m = matchMedia(query);
    const changed = () => set(m.matches);
    m.addEventListener('change', changed);
    return () => m.removeEventListener('change', changed);
  }, [query]);
  return matches;
}
