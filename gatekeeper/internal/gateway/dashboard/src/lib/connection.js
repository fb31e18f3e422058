// Tracks whether the cluster is reachable. While it is unreachable, views keep showing their last data. They read again
// when it becomes reachable.
import { store } from './store.js';

// connection is {online}. While offline it also has since (ms) and message, the error of the last attempt.
export const connection = store({ online: true });

// recoveries increases each time the cluster becomes reachable again, because earlier data may be outdated.
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

// probe repeats a read that only a leader can answer, once a second, until it succeeds.
async function probe() {
  try {
    const r = await fetch('/v1/definitions?page_size=1', { signal: AbortSignal.timeout(10_000) });
    if (r.status < 500) return answered();
    const body = await r.json().catch(() => null);
    if (body?.message) connection.set({ ...connection.get(), message: body.message });
  } catch {
    // Still unreachable.
  }
  if (!connection.get().online) probing = setTimeout(probe, 1000);
}
