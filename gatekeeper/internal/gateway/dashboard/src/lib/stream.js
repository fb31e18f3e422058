// Server-Sent Events over fetch. Unlike EventSource, this reads the JSON body of an error, and detects when the server
// is unreachable.
import { APIError, search, settle } from './api.js';
import { markOffline } from './connection.js';

const silenceTimeout = 40_000; // ms without a byte until the connection counts as dead; servers send every 15 s
const maxDelay = 5_000; // ms between attempts

// stream follows url and returns a function that stops it. on has these optional functions:
//  message(data, id)   an event of type message; the other types, such as live and missed, work the same way
//  open(again)         connected; again is false the first time
//  error(APIError)     refused; the stream is not retried
//  end()               the server has sent everything
// It reconnects automatically and resumes after the last event. While the page is hidden, the stream is closed.
export function stream(url, query, on) {
  let closed = false;
  let attempt = 0;
  let connected = false;
  let lastID = '';
  let abort = null;
  let timer = null;

  const stop = () => {
    clearTimeout(timer);
    abort?.abort();
    abort = null;
  };
  const close = () => {
    closed = true;
    stop();
    document.removeEventListener('visibilitychange', onVisibility);
  };
  const onVisibility = () => {
    if (document.hidden) stop();
    else if (!abort) connect();
  };

  const dispatch = (event) => {
    if (event.id) lastID = event.id;
    if (!event.data) return;
    const data = JSON.parse(event.data);
    if (event.type === 'end') {
      close();
      on.end?.();
    } else if (event.type === 'error') {
      const error = new APIError(data.status ?? 500, data);
      if (!retryable(data.code)) {
        close();
        on.error?.(error);
      } // otherwise the server closes the stream, and it is reopened
    } else {
      on[event.type]?.(data, event.id);
    }
  };

  async function connect() {
    clearTimeout(timer);
    const controller = (abort = new AbortController());
    let watchdog = null;
    const resetWatchdog = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => controller.abort(), silenceTimeout);
    };
    try {
      resetWatchdog();
      const headers = { Accept: 'text/event-stream' };
      if (lastID) headers['Last-Event-ID'] = lastID;
      const response = await fetch(url + search(query), { headers, signal: controller.signal });
      if (!response.ok || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        settle(response, await response.json().catch(() => null)); // throws unless it is a stream
        throw new APIError(500, { message: 'The response is not an event stream.' });
      }
      attempt = 0;
      settle(response, {});
      on.open?.(connected);
      connected = true;
      await read(response.body, (event) => !closed && dispatch(event), resetWatchdog);
    } catch (error) {
      if (!(error instanceof APIError)) {
        if (!controller.signal.aborted) markOffline('The connection to the server was lost.');
      } else if (!error.offline && !retryable(error.code) && error.status !== 401) {
        close();
        on.error?.(error);
      } else if (error.status === 401) {
        close();
      }
    } finally {
      clearTimeout(watchdog);
    }
    if (closed || abort !== controller) return;
    abort = null;
    if (document.hidden) return;
    attempt++;
    timer = setTimeout(connect, Math.min(maxDelay, 500 * attempt) * (0.75 + Math.random() / 2));
  }

  document.addEventListener('visibilitychange', onVisibility);
  if (!document.hidden) connect();
  return close;
}

const retryable = (code) =>
  ['UNAVAILABLE', 'ABORTED', 'CANCELLED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'UNKNOWN'].includes(code);

// read calls event with each {type, id, data} in a body.
async function read(body, event, onData) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let next = { type: 'message', id: '', data: '' };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onData();
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (let line of lines) {
      if (line.endsWith('\r')) line = line.slice(0, -1);
      if (line === '') {
        event(next);
        next = { type: 'message', id: '', data: '' };
        continue;
      }
      const colon = line.indexOf(':');
      if (colon <= 0) continue; // a comment
      const value = line.slice(colon + 1).replace(/^ /, '');
      switch (line.slice(0, colon)) {
        case 'event':
          next.type = value;
          break;
        case 'id':
          next.id = value;
          break;
        case 'data':
          next.data += value;
      }
    }
  }
}
