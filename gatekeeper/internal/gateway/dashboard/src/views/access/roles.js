// The roles, worded as in gkctl auth roles: [role, what it includes, what it allows].
export const roles = [
  ['viewer', '–', 'see definitions, permits, queues, history, jobs and status'],
  ['acquirer', 'viewer', 'acquire, hold and release permits, take over, verify, submit jobs and work on them'],
  ['verifier', '–', 'verify permits, for a guarded resource'],
  ['operator', 'viewer', 'pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo such changes'],
  ['editor', 'viewer', 'create, replace and delete definitions; undo such changes'],
  ['admin', 'all', 'everything, including members, settings, bindings and tokens; it cannot be scoped'],
];

export const roleOptions = roles.map(([name]) => [`ROLE_${name.toUpperCase()}`, name]);
