// Package sim runs complete clusters in one process, on the virtual time of testing/synctest, and tries to break the
// promises of docs/reliability.md. It consists of tests only: `make sim` runs them over many seeds, `make test` over a
// few.
//
// # What runs
//
// The package runs servers of package gatekeeper and clients of package client, as they ship. They are connected by an
// in-memory network (network_test.go), and the servers use in-memory disks (disk_test.go). A seed determines the number
// of servers, the actions of the clients and the operators, the clock rate of each client, and the faults and their
// times: plan_test.go. It does not determine the order in which goroutines run, so a seed that failed once may pass the
// next time. -repeat runs it several times and reports how often it fails.
//
// Clients reuse identities (lives_test.go): with and without a holder id, on one machine and on two, after a crash
// while calls are in flight, with and without the library. They retry immediately, replace tokens, and ignore the fact
// that they were superseded.
//
// Submitters and workers share tasks (submitters_test.go, workers_test.go). They are killed and hang, reuse their
// identities and job ids, cut submissions short, retry them with the same or different content, and send results late.
// The storage limit for jobs is so low that submissions reach it. Of the semaphores whose permits carry tasks, one is
// paused and moved, one cools, and one limits how long a task may take and keeps lost permits for an operator.
//
// # What is checked
//
// The callers write a history (package internal/history), and the checkers of internal/check read it. In addition,
// log_test.go replays the log that the members agree on, and compares it with the responses and the beliefs of clients:
// no slot is freed while its holder believes that it holds the permit, every member has the same state, and everything
// acknowledged exists. tasks_test.go does the same for tasks: a task is not handed out while a permit carries it or
// after its end, and its end is the one that its worker reported. Every job must have ended by the end of the run.
//
// # Rare paths
//
// The dangerous moments are rare. paths_test.go counts how often each one occurred, from the log and from the servers'
// metrics. A path that never occurred proves nothing, so in that case `make sim` fails.
//
// # Mutants
//
// scenario_test.go recreates individual dangers directly. The mutants in .ci/mutants are known bugs, kept as patches.
// `make mutants` runs a scenario with each, and the checkers must detect the bug.
package sim
