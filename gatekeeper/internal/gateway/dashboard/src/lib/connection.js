// Whether the cluster answers. Views show what they have while it does not, and read again as soon as it does.
import { store } from './store.js';

// connection is {online}, and while it is not: since (ms), and message, which says what the last attempt met.
export const connection = store({ online: true });

// recoveries rises each time the cluster answers again: what was read before may be old.
export const recoveries = store(0);

let probing = null;

export function answered() {
  if (connection.get().online) return;
  clearTimeout(probing);
  probing = null;
  connection.set({ online: true });
  recoveries.set(recoveries.get() + 1);
}

export function failed(message) {
  const c = connection.get();
  connection.set({ online: false, since: c.since ?? Date.now(), message });
  if (probing === null) probing = setTimeout(probe, 1000);
}

// probe asks for what only a leader can answer, once a second, until somebody answers.
async function probe() {
  try {
    const r = await fetch('/v1/definitions?page_size=1', { signal: AbortSignal.timeout(10_000) });
    if (r.status < 500) return answered();
    const body = await r.json().catch(() => null);
    if (body?.message) connection.set({ ...connection.get(), message: body.message });
  } catch {
    // Still nothing.
  }
  if (!connection.get().online) probing = setTimeout(probe, 1000);
}
