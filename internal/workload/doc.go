// Package workload is the traffic with which gkctl bench and deploy/bench measure a cluster, and the semaphores in
// which it works.
//
// A Field is the semaphores of a run. It creates them in one edit, which is refused when a single one of their names is
// taken. At the end it deletes first their definitions, after which nothing can be granted in them any more, and then
// their permits. It never edits, deletes or releases anything else.
//
// Each kind of traffic is a Kind. It says which semaphores it needs, and prepares for a number of callers. The result
// is a Session, whose call package loop repeats, and which gives back every permit at its end. Nothing here decides how
// often or for how long anything is called.
package workload
