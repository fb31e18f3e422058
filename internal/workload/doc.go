// Package workload provides the traffic with which gkctl bench and deploy/bench measure a cluster, and the semaphores
// that the traffic uses.
//
// A Field is the set of semaphores of a run. It creates them in one edit, which is refused if any of their names is in
// use. At the end it first deletes their definitions, so that nothing more can be granted, and then releases their
// permits. It never edits, deletes or releases anything else.
//
// Each kind of traffic is a Kind. It says which semaphores it needs, and prepares a Session for a number of callers.
// Package loop repeats the session's call, and closing the session releases every permit. This package does not decide
// how often or how long calls are made.
package workload
