// The definitions that match some filters, of which pages are read as they come into sight.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get } from './api.js';
import { recoveries } from './connection.js';
import { useStore } from './store.js';

const size = 100;

// usePages reads /v1/definitions with query. It returns {at(i), total, error, want(from, to), update(records), refresh()}: at(i) is a
// record, or undefined while it is not read. Servers that know no skip are read page after page.
export function usePages(query) {
  const key = JSON.stringify(query);
  const recovered = useStore(recoveries);
  const [, render] = useState(0);
  const rerender = () => render((n) => n + 1);
  const state = useMemo(() => ({ pages: new Map(), asked: new Map(), tokens: [''], total: undefined, window: [0, 30], skips: usePages.skips }), [key]);
  const current = useRef(state);
  current.current = state;

  const read = (page, again) => {
    if (!again && (state.pages.has(page) || state.asked.has(page))) return;
    if (!state.skips && state.tokens[page] === undefined) return; // the page before must come first
    state.asked.get(page)?.abort();
    const abort = new AbortController();
    state.asked.set(page, abort);
    const where = state.skips ? { skip: page * size } : { page_token: state.tokens[page] };
    get('/v1/definitions', { ...query, page_size: size, ...where }, abort.signal).then(
      (answer) => {
        if (current.current !== state) return;
        state.asked.delete(page);
        state.error = undefined;
        const records = answer.records ?? [];
        state.pages.set(page, records);
        if (answer.total === undefined && records.length > 0) state.skips = usePages.skips = false; // an older server
        if (answer.total !== undefined) state.total = answer.total;
        else if (answer.next_page_token) {
          state.tokens[page + 1] = answer.next_page_token;
          state.total = Math.max(state.total ?? 0, (page + 1) * size + 1);
          state.more = true;
        } else {
          state.total = page * size + records.length;
          state.more = false;
        }
        rerender();
        want(...state.window);
      },
      (error) => {
        if (abort.signal.aborted || current.current !== state) return;
        state.asked.delete(page);
        if (state.skips && error.status === 400 && /skip|search|parameter/i.test(error.message)) {
          state.skips = usePages.skips = false;
          return read(0, true);
        }
        state.error = error;
        rerender();
      },
    );
  };
  const want = (from, to) => {
    state.window = [from, to];
    const first = Math.floor(from / size);
    const last = Math.floor(Math.max(from, to - 1) / size);
    for (const [page, abort] of state.asked) {
      if (state.skips && (page < first - 1 || page > last + 1)) {
        abort.abort();
        state.asked.delete(page);
      }
    }
    if (!state.skips) {
      const next = state.pages.size;
      if (last >= next) read(next);
      return;
    }
    for (let page = first; page <= last; page++) read(page);
  };
  const refresh = () => {
    const [from, to] = state.window;
    const keep = new Set();
    for (let page = Math.floor(from / size); page <= Math.floor(Math.max(from, to - 1) / size); page++) keep.add(page);
    if (state.skips) for (const page of [...state.pages.keys()]) if (!keep.has(page)) state.pages.delete(page);
    for (const page of keep) read(page, true);
  };
  const mine = useRef(refresh);
  mine.current = refresh;

  useEffect(() => {
    read(0);
    return () => state.asked.forEach((abort) => abort.abort());
  }, [key]);
  useEffect(() => {
    if (recovered) mine.current();
  }, [recovered]);
  useEffect(() => {
    const t = setInterval(() => document.hidden || mine.current(), 15_000);
    return () => clearInterval(t);
  }, []);

  return {
    at: (i) => state.pages.get(Math.floor(i / size))?.[i % size],
    total: state.total,
    more: state.more,
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

usePages.skips = true;
