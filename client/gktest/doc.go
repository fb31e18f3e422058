// Package gktest is a Gatekeeper server for tests, in the test's own process, with switches to make happen what a job
// must survive. The rules are the real server's: it is package gatekeeper, kept in memory.
//
// Within a bubble of testing/synctest all of it, server, clients and jobs, runs on virtual time: an hour passes as soon
// as nothing is left to do, and a test says exactly when things happen.
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
// Outside of a bubble time is real, and the server also listens on loopback, at Endpoint, for programs that dial by
// themselves. NewServer starts one without a test, for examples and TestMain.
//
// # Switches
//
//	Expire, ExpireAll              the permit ends
//	Revoke, TakeOver, CancelJob    its holder must stop, by the word of an operator or of another host
//	Partition, Heal                the network of a client swallows everything; nobody notices
//	SlowDown                       every answer to a client is late
//	Disconnect                     connections break, and may be made again
//	Crash                          a client is gone as with its process, its permits not released
//	Stop, Restart                  the server is gone; it comes back with its data
//	ClockRate                      a client's clock runs fast or slow
//	Define, DefineFile, Edit, Delete  what an operator does to definitions
//	Pause, PauseAndStop, Resume    a semaphore grants nothing for a while
//	Move, Cordon, Uncordon, Drain  holders must stop, and may finish what they have begun
//	Advance, Await                 time passes, until something is so
//	Holders, Waiters               who holds, and who waits
//	Tasks, Workers                 what became of a job, and who works
//
// The switches on the network act on the clients that Dial made; given none, on all of them and on the clients that
// dialled Endpoint.
//
// All that a server starts has ended when its test has ended; in a bubble, synctest fails the test of a job that goes
// on. A server in memory is for tests only, as gatekeeper.Memory says.
//
// # Compatibility
//
// As package client, within major version 1, for the functions and methods here. Times that a test observes on virtual
// time follow the server's rules, and these may become better in a minor version: test what a job promises, not how
// many milliseconds a step takes.
package gktest
