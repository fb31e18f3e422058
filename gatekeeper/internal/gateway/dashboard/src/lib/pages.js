// The definitions that match some filters. Pages are read when they become visible.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, pace } from './api.js';
import { ms } from './format.js';
import { recoveries } from './connection.js';
import { useStore } from './store.js';

const size = 100;
const between = 100; // ms between two rounds of reading visible pages

const pagesOf = (from, to) => {
  const out = [];
  for (let page = Math.floor(from / size); page <= Math.floor(Math.max(from, to - 1) / size); page++) out.push(page);
  return out;
};

// arrived adds the deadline of the holder's permit (ms on this machine's clock) to a record. It is 0 if only the leader
// knows it.
const arrived = (record) =>
  ({ ...record, deadline: record.holder?.expires_in ? Date.now() + ms(record.holder.expires_in) : 0 });

const changedAt = (record) => Math.max(Number(record.version), Number(record.permit_revision ?? 0));

// usePages reads /v1/definitions with query. It returns {at(i), total, error, want(from, to), since(from, to),
// update(records), alter(f), refresh()}. at(i) is a record, or undefined if it has not been read yet. since is the
// revision after which events can change these records. alter replaces each record r with f(r).
export function usePages(query) {
  const key = JSON.stringify(query);
  const recovered = useStore(recoveries);
  const [, render] = useState(0);
  const rerender = () => render((n) => n + 1);
  const state = useMemo(() =>
    ({ pages: new Map(), revisions: new Map(), asked: new Map(), total: undefined, window: [0, 1], round: 0,
      wanted: 0, timer: 0 }), [key]);
  const took = useRef(0); // ms, of the last page
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
        const known = new Map((state.pages.get(page) ?? []).map((r) => [r.definition.name, r]));
        state.pages.set(page, (answer.records ?? []).map((r) => {
          const k = known.get(r.definition.name); // an event may have been faster than this response
          return k && changedAt(k) > Number(answer.revision) ? k : arrived(r);
        }));
        state.revisions.set(page, Number(answer.revision));
        state.round++;
        state.total = answer.total ?? (answer.records ?? []).length; // 0 is omitted from JSON
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
  const readWanted = () => {
    state.wanted = performance.now();
    state.timer = 0;
    const pages = pagesOf(...state.window);
    for (const [page, abort] of state.asked) {
      if (pages.includes(page)) continue;
      abort.abort(); // it is no longer visible
      state.asked.delete(page);
    }
    for (const page of pages) read(page);
  };
  // During fast scrolling, only some of the pages are read.
  const want = (from, to) => {
    state.window = [from, to];
    state.timer ||= setTimeout(() => current.current === state && readWanted(),
      Math.max(0, state.wanted + between - performance.now()));
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

  const alter = (f) => {
    let changed = false;
    for (const list of state.pages.values()) {
      list.forEach((r, i) => {
        list[i] = f(r);
        changed ||= list[i] !== r;
      });
    }
    if (changed) rerender();
  };
  return {
    at: (i) => state.pages.get(Math.floor(i / size))?.[i % size],
    total: state.total,
    error: state.error,
    want,
    since: (from, to) => Math.min(...pagesOf(from, to).map((page) => state.revisions.get(page) ?? Infinity)),
    refresh,
    alter,
    update(records) {
      const by = new Map(records.map((r) => [r.definition.name, arrived(r)]));
      alter((r) => by.get(r.definition.name) ?? r);
    },
  };
}
