// Package sim runs whole clusters in one process, on the virtual time of testing/synctest, and tries to break what
// docs/reliability.md promises. All of it is tests: `make sim` runs them over many seeds, `make test` over a few.
//
// # What runs
//
// Servers of package gatekeeper and clients of package client, as they ship. Between them lies a network in memory
// (network_test.go), under the servers lie disks in memory (disk_test.go). A seed decides how many servers there are,
// what the clients and the operators do, how fast each client's clock runs, and what breaks when: plan_test.go. It does
// not decide in which order goroutines run, so a seed that failed once may pass the next time: -repeat runs it again
// and again, and says how often it fails.
//
// Clients use an identity again and again (lives_test.go): with a holder id and without one, on one machine and on two,
// after a crash while calls are on their way, with the library and without it. They retry at once, replace tokens, and
// ignore that they were superseded.
//
// Submitters and workers share tasks (submitters_test.go, workers_test.go): they are killed and hang, use their
// identities and job ids again, cut submissions, repeat them with the same content and with other content, and send
// results late. What jobs may store is so little that submissions meet the limit. Of the semaphores whose permits carry
// tasks one is paused and moved, one cools, and one limits how long a task may take and keeps lost permits for an
// operator.
//
// # What is checked
//
// The callers write a history (package internal/history), and the checkers of internal/check read it. Beside them,
// log_test.go replays the log that the members agree on, and compares it with what clients were answered and believed:
// no slot is freed while its holder believes in it, every member has the same state, and what was acknowledged is
// there. tasks_test.go does so for tasks: none is handed out while a permit carries it or after its end, and each has
// the end that its worker stated. In the end every job must be over.
//
// # Rare paths
//
// The dangerous moments are rare. paths_test.go counts how often each was met, from the log and from the servers' own
// metrics. A path that no seed met proves nothing, so `make sim` fails then.
//
// # Mutants
//
// scenario_test.go leads into single dangers. The mutants in .ci/mutants are known bugs, kept as patches: `make
// mutants` runs a scenario with each, and the checkers must see it.
package sim
