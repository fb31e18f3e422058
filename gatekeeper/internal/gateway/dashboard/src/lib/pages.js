// The definitions that match the filters. Pages are loaded when they become visible.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, pollInterval } from './api.js';
import { ms } from './format.js';
import { recoveries } from './connection.js';
import { useStore } from './store.js';

const pageSize = 100;
const readInterval = 100; // ms between reads of the visible pages

const pagesBetween = (from, to) => {
  const out = [];
  for (let page = Math.floor(from / pageSize); page <= Math.floor(Math.max(from, to - 1) / pageSize); page++) out.push(page);
  return out;
};

// withDeadline adds the deadline of the holder's permit (ms on this machine's clock) to a record; 0 if it is unknown.
const withDeadline = (record) =>
  ({ ...record, deadline: record.holder?.expires_in ? Date.now() + ms(record.holder.expires_in) : 0 });

const lastChange = (record) => Math.max(Number(record.version), Number(record.permit_revision ?? 0));

// usePages reads /v1/definitions with query. It returns {at(i), total, error, load(from, to), since(from, to),
// update(records), alter(f), refresh()}. at(i) is a record, or undefined if it has not been loaded yet. since is the
// revision at which these records were read; later events can change them. alter replaces each record r with f(r).
export function usePages(query) {
  const key = JSON.stringify(query);
  const recovered = useStore(recoveries);
  const [, render] = useState(0);
  const rerender = () => render((n) => n + 1);
  const state = useMemo(() =>
    ({ pages: new Map(), revisions: new Map(), requests: new Map(), total: undefined, window: [0, 1], round: 0,
      lastRead: 0, timer: 0 }), [key]);
  const lastElapsed = useRef(0); // ms, for the last page
  const current = useRef(state);
  current.current = state;

  const read = (page, force) => {
    if (!force && (state.pages.has(page) || state.requests.has(page))) return;
    state.requests.get(page)?.abort();
    const abort = new AbortController();
    state.requests.set(page, abort);
    const started = performance.now();
    get('/v1/definitions', { ...query, page_size: pageSize, skip: page * pageSize }, abort.signal).then(
      (data) => {
        if (current.current !== state) return;
        state.requests.delete(page);
        state.error = undefined;
        lastElapsed.current = performance.now() - started;
        const known = new Map((state.pages.get(page) ?? []).map((r) => [r.definition.name, r]));
        state.pages.set(page, (data.records ?? []).map((r) => {
          const old = known.get(r.definition.name); // an event may have arrived before this response
          return old && lastChange(old) > Number(data.revision) ? old : withDeadline(r);
        }));
        state.revisions.set(page, Number(data.revision));
        state.round++;
        state.total = data.total ?? (data.records ?? []).length; // 0 is omitted from JSON
        rerender();
      },
      (error) => {
        if (abort.signal.aborted || current.current !== state) return;
        state.requests.delete(page);
        state.error = error;
        rerender();
      },
    );
  };
  const readVisible = () => {
    state.lastRead = performance.now();
    state.timer = 0;
    const pages = pagesBetween(...state.window);
    for (const [page, abort] of state.requests) {
      if (pages.includes(page)) continue;
      abort.abort(); // it is no longer visible
      state.requests.delete(page);
    }
    for (const page of pages) read(page);
  };
  // During fast scrolling, pages are skipped.
  const load = (from, to) => {
    state.window = [from, to];
    state.timer ||= setTimeout(() => current.current === state && readVisible(),
      Math.max(0, state.lastRead + readInterval - performance.now()));
  };
  const refresh = () => {
    const pages = pagesBetween(...state.window);
    for (const page of state.pages.keys()) if (!pages.includes(page)) state.pages.delete(page);
    for (const page of pages) read(page, true);
  };
  const latest = useRef(refresh);
  latest.current = refresh;

  useEffect(() => {
    read(0);
    return () => state.requests.forEach((abort) => abort.abort());
  }, [key]);
  useEffect(() => {
    if (recovered) latest.current();
  }, [recovered]);
  useEffect(() => {
    const t = setInterval(() => document.hidden || latest.current(), pollInterval(lastElapsed.current));
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
    at: (i) => state.pages.get(Math.floor(i / pageSize))?.[i % pageSize],
    total: state.total,
    error: state.error,
    load,
    since: (from, to) => Math.min(...pagesBetween(from, to).map((page) => state.revisions.get(page) ?? Infinity)),
    refresh,
    alter,
    update(records) {
      const byName = new Map(records.map((r) => [r.definition.name, withDeadline(r)]));
      alter((r) => byName.get(r.definition.name) ?? r);
    },
  };
}
