// Package workload is what gkctl bench asks of a cluster: kinds of traffic, and the semaphores of a run's own in which all of them work.
//
// A Field is the semaphores of a run. It creates them in one edit, which is refused when a single one of their names is taken, and clears
// them away afterwards: first their definitions, after which nothing can be granted in them any more, then their permits. It never edits, deletes
// or releases anything else.
//
// Each kind of traffic is a Kind. It says which semaphores it needs, and prepares for a number of callers: what it has prepared is a Session,
// whose call package loop repeats, and which gives back every permit at its end. Nothing here decides how often or for how long anything is called.
package workload
