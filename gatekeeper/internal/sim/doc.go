// Package sim runs complete clusters in one process, in the virtual time of testing/synctest, and tries to violate the
// guarantees in docs/reliability.md. It contains only tests: `make sim` runs them with many seeds, `make test` with a
// few.
//
// # What runs
//
// The package runs the servers from package gatekeeper and the clients from package client unmodified. They are
// connected by an in-memory network (network_test.go), and the servers use in-memory disks (disk_test.go). A seed
// determines the number of servers, what the clients and operators do, the rate of each client's clock, and the faults
// and when they occur (plan_test.go). It does not determine the order in which goroutines run, so a seed that failed
// once may pass the next time. -repeat runs each seed several times and reports how often it fails.
//
// Clients reuse identities (acquirer_test.go): with and without a holder id, on one machine and on two, after a crash
// while calls are in flight, with and without the library. They retry immediately, replace tokens, and ignore the fact
// that they have been superseded.
//
// Submitters and workers share tasks (submitters_test.go, workers_test.go). They crash and hang, reuse their identities
// and job ids, cut submissions short, retry them with the same or different content, and send results late. The storage
// limit for jobs is low enough for submissions to reach it. Three semaphores have permits that carry tasks: the first
// is paused and moved, the second cools, and the third limits how long a task may take and holds lost permits for an
// operator.
//
// # What is checked
//
// The callers record a history (package internal/history), which the checkers in internal/check read. In addition,
// log_test.go replays the log that the members agree on, and compares it with the responses that clients received and
// the permits that they considered valid. No slot may be freed while its holder considers the permit valid, every
// member must have the same state, and no acknowledged change may be lost. tasks_test.go does the same for tasks: a
// task must not be handed out while a permit carries it or after it has ended, and its outcome must be the one that its
// worker reported. Every job must have ended by the end of the run.
//
// # Rare paths
//
// The dangerous situations are rare. paths_test.go counts how often each one occurred, using the log and the servers'
// metrics. A run in which one of them never occurred says nothing about it, so `make sim` fails.
//
// # Mutants
//
// scenario_test.go recreates individual dangerous situations. The mutants in .ci/mutants are known bugs, kept as
// patches. `make mutants` runs a scenario against each of them, and the checkers must detect the bug.
package sim
