// Calls to the JSON API under /v1/. Message and field names match proto/gatekeeper/v1.
import { markOffline, markOnline } from './connection.js';

// APIError is thrown by every failed call. code is the gRPC code, such as NOT_FOUND; reason is the server's, such as
// STALE_VERSION. fields lists the {field, rule} violations of an invalid request. offline means that no server
// responded, so the outcome of a change is unknown.
export class APIError extends Error {
  constructor(status, body) {
    super(body?.message || (status ? `The server returned status ${status}.` : 'The server is not responding.'));
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

// now returns the time on the server's clock, estimated from its responses.
export const now = () => Date.now() + offset;

// newRequestID returns a new request id and the newest known revision. They make a repeated change a no-op, however
// late it arrives.
export function newRequestID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return { request_id: `dashboard-${id}`, request_revision: revision.toString() };
}

function noteRevision(body) {
  try {
    const r = BigInt(body?.revision ?? 0);
    if (r > revision) revision = r;
  } catch {
    // Ignore it: it is not a number.
  }
}

// call sends a request and returns the body of the response. A 401 shows the login page, which returns to this page.
export async function call(method, url, { query, body, signal } = {}) {
  const request = { method, signal, headers: { Accept: 'application/json' } };
  if (body !== undefined) {
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  let response;
  let data = null;
  try {
    response = await fetch(url + search(query), request);
    data = response.ok ? await response.json() : await response.json().catch(() =>
      null); // an error from a proxy may be HTML
  } catch (error) {
    if (signal?.aborted) throw error;
    markOffline('The server is not responding.');
    throw new APIError(0);
  }
  return settle(response, data);
}

// settle returns the body of a successful response, and throws an APIError for any other.
export function settle(response, data) {
  const date = Date.parse(response.headers.get('Date') ?? '');
  if (date) {
    const skew = date - Date.now();
    offset = Math.abs(skew) > 2000 ? skew : 0; // the header is in whole seconds and arrives with a delay
  }
  if (response.ok) {
    markOnline();
    noteRevision(data);
    return data ?? {};
  }
  const error = new APIError(response.status, data);
  if (error.offline) markOffline(error.message);
  else markOnline();
  if (response.status === 401) login();
  throw error;
}

// pollInterval returns the interval (ms) for repeating a read that took the given time (ms), so that a single page does
// not keep a server busy.
export const pollInterval = (elapsed) => (elapsed < 40 ? 10_000 : elapsed < 300 ? 30_000 : 60_000);

export const get = (url, query, signal) => call('GET', url, { query, signal });
export const post = (url, body, signal) => call('POST', url, { body, signal });
export const put = (url, body, signal) => call('PUT', url, { body, signal });
export const del = (url, query) => call('DELETE', url, { query });

// login shows the login page, which returns to this page.
export function login() {
  if (location.pathname === '/login') return;
  const back = location.pathname + location.search;
  history.replaceState(null, '', `/login${search({ next: back === '/' ? '' : back })}`);
  dispatchEvent(new PopStateEvent('popstate'));
}

// all reads the pages of a list until it has at least limit entries. more reports whether any entries remain.
export async function all(url, query, field, signal, limit = 5000) {
  const out = [];
  let token = '';
  do {
    const page = await get(url, { page_size: 1000, ...query, page_token: token }, signal);
    out.push(...(page[field] ?? []));
    token = page.next_page_token ?? '';
  } while (token && out.length < limit);
  return { items: out, more: token !== '' };
}
