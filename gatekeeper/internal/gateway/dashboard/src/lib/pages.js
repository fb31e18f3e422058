// The definitions that match some filters, of which pages are read as they come into sight.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, pace } from './api.js';
import { recoveries } from './connection.js';
import { useStore } from './store.js';

const size = 100;

const pagesOf = (from, to) => {
  const out = [];
  for (let page = Math.floor(from / size); page <= Math.floor(Math.max(from, to - 1) / size); page++) out.push(page);
  return out;
};

// usePages reads /v1/definitions with query. It returns {at(i), total, error, want(from, to), update(records), refresh()}: at(i) is a
// record, or undefined while it is not read.
export function usePages(query) {
  const key = JSON.stringify(query);
  const recovered = useStore(recoveries);
  const [, render] = useState(0);
  const rerender = () => render((n) => n + 1);
  const state = useMemo(() => ({ pages: new Map(), asked: new Map(), total: undefined, window: [0, 1], round: 0 }), [key]);
  const took = useRef(0); // ms, by the last page
  const current = useRef(state);
  current.current = state;

  const read = (page, again) => {
    if (!again && (state.pages.has(page) || state.asked.has(page))) return;
    state.asked.get(page)?.abort();
    const abort = new AbortController();
    state.asked.set(page, abort);
    const begun = performance.now();
    get('/v1/definitions', { ...query, page_size: size, skip: page * size }, abort.signal).then(
      (answer) => {
        if (current.current !== state) return;
        state.asked.delete(page);
        state.error = undefined;
        took.current = performance.now() - begun;
        state.pages.set(page, answer.records ?? []);
        state.round++;
        state.total = answer.total ?? (answer.records ?? []).length; // 0 is left out
        rerender();
      },
      (error) => {
        if (abort.signal.aborted || current.current !== state) return;
        state.asked.delete(page);
        state.error = error;
        rerender();
      },
    );
  };
  const want = (from, to) => {
    state.window = [from, to];
    const pages = pagesOf(from, to);
    for (const [page, abort] of state.asked) {
      if (pages.includes(page)) continue;
      abort.abort(); // it has been scrolled past
      state.asked.delete(page);
    }
    for (const page of pages) read(page);
  };
  const refresh = () => {
    const pages = pagesOf(...state.window);
    for (const page of state.pages.keys()) if (!pages.includes(page)) state.pages.delete(page);
    for (const page of pages) read(page, true);
  };
  const newest = useRef(refresh);
  newest.current = refresh;

  useEffect(() => {
    read(0);
    return () => state.asked.forEach((abort) => abort.abort());
  }, [key]);
  useEffect(() => {
    if (recovered) newest.current();
  }, [recovered]);
  useEffect(() => {
    const t = setInterval(() => document.hidden || newest.current(), pace(took.current));
    return () => clearInterval(t);
  }, [key, state.round]);

  return {
    at: (i) => state.pages.get(Math.floor(i / size))?.[i % size],
    total: state.total,
    error: state.error,
    want,
    refresh,
    update(records) {
      const by = new Map(records.map((r) => [r.definition.name, r]));
      for (const list of state.pages.values()) {
        list.forEach((r, i) => {
          const fresh = by.get(r.definition.name);
          if (fresh) list[i] = fresh;
        });
      }
      rerender();
    },
  };
}
