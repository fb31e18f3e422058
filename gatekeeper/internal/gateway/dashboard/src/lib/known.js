// The known callers, for suggestions in forms.
import { all } from './api.js';
import { session } from './session.js';
import { useStore } from './store.js';
import { useData } from './use.js';

// seesAll reports whether the caller may list all known callers, because its view is not limited to some semaphores.
const seesAll = (s) => s && (!s.authenticated || s.grants?.some((g) => !g.semaphores?.length && !g.labels));

// useKnown returns {callers, groups, more}. The lists are empty until they are read, and if the caller may not list
// them.
export function useKnown(most = 5000) {
  const may = seesAll(useStore(session));
  const known = useData(may ? (signal) => all('/v1/known', {}, 'callers', signal, most) : null, ['known', most]);
  const callers = known.data?.items ?? [];
  return { callers, groups: [...new Set(callers.map((c) => c.group))].sort(), more: known.data?.more };
}
