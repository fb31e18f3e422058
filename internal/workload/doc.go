// Package workload provides the traffic that gkctl bench and deploy/bench use to measure a cluster, and the semaphores
// that the traffic needs.
//
// A Fixture manages the semaphores of a run. It creates them in one edit, which fails if any of their names is in use.
// At the end it first deletes their definitions, so that no more permits can be granted, and then releases their
// permits. It never edits, deletes or releases anything else.
//
// A Kind is one kind of traffic. It lists the semaphores that it needs, and prepares a Session for a number of callers.
// Package loop repeats the session's call, and closing the session releases every permit. This package does not decide
// how often or for how long calls are made.
package workload
