// Tracks whether the cluster is reachable. While it is unreachable, views keep showing their last data. They reload it
// when the cluster is reachable again.
import { store } from './store.js';

// connection is {online}. While offline, it also has since (ms) and message, the last attempt's error.
export const connection = store({ online: true });

// recoveries is incremented whenever the cluster becomes reachable again, because earlier data may be stale.
export const recoveries = store(0);

let probeTimer = null;

export function markOnline() {
  if (connection.get().online) return;
  clearTimeout(probeTimer);
  probeTimer = null;
  connection.set({ online: true });
  recoveries.set(recoveries.get() + 1);
}

export function markOffline(message) {
  const c = connection.get();
  connection.set({ online: false, since: c.since ?? Date.now(), message });
  if (probeTimer === null) probeTimer = setTimeout(probe, 1000);
}

// probe retries a read that only a leader can serve, once a second, until it succeeds.
async function probe() {
  try {
    const r = await fetch('/v1/definitions?page_size=1', { signal: AbortSignal.timeout(10_000) });
    if (r.status < 500) return markOnline();
    const body = await r.json().catch(() => null);
    if (body?.message) connection.set({ ...connection.get(), message: body.message });
  } catch {
    // Still unreachable.
  }
  if (!connection.get().online) probeTimer = setTimeout(probe, 1000);
}
