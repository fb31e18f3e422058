// Package gktest provides a Gatekeeper server for tests. It runs in the test's process and has switches that simulate
// the failures a job must survive. It is the real server, package gatekeeper, with its data in memory.
//
// In a testing/synctest bubble, the server, the clients and the jobs run on virtual time. An hour passes in an instant
// when every goroutine is waiting, and a test controls exactly when things happen.
//
//	func TestExport_Revoked_Stops(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			srv := gktest.Start(t, "nightly-export")
//			c := srv.Dial(t, "app1")
//			...
//			srv.Advance(t, time.Hour)
//		})
//	}
//
// Outside a bubble, time is real. The server then also listens on loopback, at Endpoint, for programs that dial it
// themselves. NewServer starts a server without a test, for examples and TestMain.
//
// # Switches
//
//	Expire, ExpireAll              end a permit
//	Revoke, TakeOver, CancelJob    order a holder to stop, as an operator or another host
//	Partition, Heal                silently cut off a client's network, and restore it
//	SlowDown                       delay every response to a client
//	Disconnect                     break connections; clients can reconnect
//	Crash                          kill a client as if its process had died; its permits are not released
//	Stop, Restart                  stop the server, and start it again with its data
//	ClockRate                      make a client's clock run fast or slow
//	Define, DefineFile, Edit, Delete  change definitions as an operator would
//	Pause, PauseAndStop, Resume    stop a semaphore from granting permits, and let it resume
//	Move, Cordon, Uncordon, Drain  order holders to stop, with time to finish
//	Advance, Await                 let time pass, or wait for a condition
//	Holders, Waiters               list the holders and the waiters
//	Tasks, Workers                 list a job's tasks, and the workers
//
// The network switches apply to the given clients, which must come from Dial. Without arguments, they apply to all of
// those clients and to the clients that dialled Endpoint.
//
// Everything that a server starts has stopped by the end of its test. In a bubble, synctest fails a test whose job is
// still running. An in-memory server is for tests only; see gatekeeper.Memory.
//
// # Compatibility
//
// The compatibility promise of package client applies to the functions and methods here within major version 1. The
// timing that a test observes on virtual time follows the server's rules, which a minor version may improve. Test a
// job's guarantees, not how many milliseconds a step takes.
package gktest
