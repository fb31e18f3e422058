// Hooks for reading from the cluster.
import { useEffect, useRef, useState } from 'preact/hooks';
import { recoveries } from './connection.js';
import { store, useStore } from './store.js';
import { stream } from './stream.js';

// A read that takes longer than this (ms) is cancelled when the next one is due.
const readTimeout = 10_000;

// useData calls load(signal) when its component mounts, when deps change, and when the cluster becomes reachable again.
// If every is set, it also does so at that interval (ms) while the page is visible. It returns {data, error, loading,
// refresh, set}. After an error it keeps the earlier data. Data loaded for different deps is hidden unless keep is set.
// set(change) replaces the data with change(data), unless that is undefined.
export function useData(load, deps, { every = 0, keep = false } = {}) {
  const [state, setState] = useState({});
  const [round, setRound] = useState(0);
  const recovered = useStore(recoveries);
  const key = JSON.stringify(deps);
  const latest = useRef(load);
  latest.current = load;
  const startedAt = useRef(0); // start of the current read; 0 if there is none
  useEffect(() => {
    if (load === null) return;
    const abort = new AbortController();
    const finish = (change) => {
      if (abort.signal.aborted) return;
      startedAt.current = 0;
      setState(change);
    };
    startedAt.current = Date.now();
    latest.current(abort.signal).then(
      (data) => finish({ data, key }),
      (error) => finish((s) => ({ ...s, error, failed: key })),
    );
    return () => abort.abort();
  }, [key, round, recovered, load === null]);
  useEffect(() => {
    if (!every) return;
    const t = setInterval(() => document.hidden || Date.now() - startedAt.current < readTimeout ||
      setRound((n) => n + 1), every);
    return () => clearInterval(t);
  }, [every]);
  const current = state.key === key;
  const error = state.failed === key ? state.error : undefined;
  return {
    data: current || keep ? state.data : undefined,
    error,
    loading: !current && !error,
    refresh: () => setRound((n) => n + 1),
    set: (change) =>
      setState((s) => {
        const data = change(s.key === key ? s.data : undefined);
        return data === undefined ? s : { data, key };
      }),
  };
}

// useStream follows url while its component is mounted. If url is null, it does nothing. on may change between renders.
export function useStream(url, query, on) {
  const latest = useRef(on);
  latest.current = on;
  const key = JSON.stringify([url, query]);
  useEffect(() => {
    if (!url) return;
    const forward = (name) => (...args) => latest.current[name]?.(...args);
    return stream(url, query, {
      message: forward('message'),
      live: forward('live'),
      missed: forward('missed'),
      open: forward('open'),
      error: forward('error'),
      end: forward('end'),
    });
  }, [key]);
}

// One timer for all countdowns.
const tick = store(0);
let tickTimer = null;
let tickers = 0;

export function useEverySecond() {
  useEffect(() => {
    if (tickers++ === 0) tickTimer = setInterval(() => document.hidden || tick.set(tick.get() + 1), 1000);
    return () => {
      if (--tickers === 0) clearInterval(tickTimer);
    };
  }, []);
  return useStore(tick);
}

// useThrottled returns a function that calls f after a delay. Further calls during the delay are merged into the first.
// After a burst of calls to f, it pauses between them. A single change is shown immediately, but constant changes put
// little load on the servers.
export function useThrottled(f, delay, { rest = delay, burst = 4 } = {}) {
  const latest = useRef(f);
  latest.current = f;
  const timer = useRef(null);
  const busyUntil = useRef(0); // the time until which the calls so far count against the burst
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    if (timer.current !== null) return;
    const now = performance.now();
    busyUntil.current = Math.max(busyUntil.current, now) + rest;
    timer.current = setTimeout(() => {
      timer.current = null;
      latest.current();
    }, Math.max(delay, busyUntil.current - now - burst * rest));
  };
}

// useMedia reports whether a media query matches.
export function useMedia(query) {
  const [matches, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const m = matchMedia(query);
    const onChange = () => set(m.matches);
    m.addEventListener('change', onChange);
    return () => m.removeEventListener('change', onChange);
  }, [query]);
  return matches;
}
