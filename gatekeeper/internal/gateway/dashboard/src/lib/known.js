// The known callers, for suggestions in forms.
import { all } from './api.js';
import { session } from './session.js';
import { useStore } from './store.js';
import { useData } from './use.js';

// canListAll reports whether the caller may list all known callers. This needs a grant that is not limited to certain
// semaphores.
const canListAll = (s) => s && (!s.authenticated || s.grants?.some((g) => !g.semaphores?.length && !g.labels));

// useKnown returns {callers, groups, more}. The lists are empty until they are loaded, or if the caller may not list
// them.
export function useKnown(limit = 5000) {
  const allowed = canListAll(useStore(session));
  const result = useData(allowed ? (signal) => all('/v1/known', {}, 'callers', signal, limit) : null, ['known', limit]);
  const callers = result.data?.items ?? [];
  return { callers, groups: [...new Set(callers.map((c) => c.group))].sort(), more: result.data?.more };
}
