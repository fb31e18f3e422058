// Calls to the JSON API under /v1/. Messages and field names are those of proto/gatekeeper/v1.
import { answered, failed } from './connection.js';

// APIError is thrown by every failed call. code is gRPC's, such as NOT_FOUND. reason is the server's, such as
// STALE_VERSION. fields are the {field, rule} of an invalid request. offline means that no server answered, so the
// outcome of a change is unknown.
export class APIError extends Error {
  constructor(status, body) {
    super(body?.message || (status ? `The server answered with status ${status}.` : 'The server does not answer.'));
    this.name = 'APIError';
    this.status = status;
    this.code = body?.code ?? (status ? '' : 'UNAVAILABLE');
    this.reason = body?.reason ?? '';
    this.metadata = body?.metadata ?? {};
    this.fields = body?.fields ?? [];
    this.offline = status === 0 || status === 502 || status === 503 || status === 504;
  }
}

// path builds a path from segments that may contain any character: path`/v1/definitions/${name}`.
export function path(strings, ...values) {
  return String.raw({ raw: strings }, ...values.map((v) => encodeURIComponent(v)));
}

// search builds a query string. Arrays repeat their key. Empty, 0, false and absent values are omitted.
export function search(query = {}) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v !== undefined && v !== null && v !== '' && v !== false && v !== 0) params.append(key, v);
    }
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}

let revision = 0n; // the highest revision in any response
let offset = 0; // server's clock minus this clock, in ms

// now returns the time on the server's clock, as estimated from its responses.
export const now = () => Date.now() + offset;

// drawn returns a new request id and the newest known revision, so that a repeated change has no further effect,
// however late it arrives.
export function drawn() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return { request_id: `dashboard-${id}`, request_revision: revision.toString() };
}

function saw(body) {
  try {
    const r = BigInt(body?.revision ?? 0);
    if (r > revision) revision = r;
  } catch {
    // Not a number, so it is ignored.
  }
}

// call sends a request and returns its response. A 401 leads to the login page and back.
export async function call(method, url, { query, body, signal } = {}) {
  const request = { method, signal, headers: { Accept: 'application/json' } };
  if (body !== undefined) {
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  let response;
  let answer = null;
  try {
    response = await fetch(url + search(query), request);
    answer = response.ok ? await response.json() : await response.json().catch(() =>
      null); // a proxy's error may be HTML
  } catch (error) {
    if (signal?.aborted) throw error;
    failed('The server does not answer.');
    throw new APIError(0);
  }
  return settle(response, answer);
}

// settle returns the body of a response, or throws.
export function settle(response, answer) {
  const date = Date.parse(response.headers.get('Date') ?? '');
  if (date) {
    const off = date - Date.now();
    offset = Math.abs(off) > 2000 ? off : 0; // the header has whole seconds and is delayed by the network
  }
  if (response.ok) {
    answered();
    saw(answer);
    return answer ?? {};
  }
  const error = new APIError(response.status, answer);
  if (error.offline) failed(error.message);
  else answered();
  if (response.status === 401) login();
  throw error;
}

// pace returns the interval (ms) at which to repeat a read that took the given time (ms), so that one page does not
// keep a server busy.
export const pace = (took) => (took < 40 ? 10_000 : took < 300 ? 30_000 : 60_000);

export const get = (url, query, signal) => call('GET', url, { query, signal });
export const post = (url, body, signal) => call('POST', url, { body, signal });
export const put = (url, body, signal) => call('PUT', url, { body, signal });
export const del = (url, query) => call('DELETE', url, { query });

// login shows the login page, which leads back to this page.
export function login() {
  if (location.pathname === '/login') return;
  const back = location.pathname + location.search;
  history.replaceState(null, '', `/login${search({ next: back === '/' ? '' : back })}`);
  dispatchEvent(new PopStateEvent('popstate'));
}

// all reads the pages of a list until it has at least most entries. more reports whether the list has others.
export async function all(url, query, field, signal, most = 5000) {
  const out = [];
  let token = '';
  do {
    const page = await get(url, { page_size: 1000, ...query, page_token: token }, signal);
    out.push(...(page[field] ?? []));
    token = page.next_page_token ?? '';
  } while (token && out.length < most);
  return { items: out, more: token !== '' };
}
