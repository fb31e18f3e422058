package gktest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Advance lets virtual time pass, and returns when all that it makes happen has happened: every goroutine of the bubble
// waits for something. With 0 only that. It fails outside of a bubble of testing/synctest, where time is real.
func (s *Server) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	if !s.virtual {
		t.Fatal("gktest: Advance needs virtual time: start the server within synctest.Test of testing/synctest")
	}
	time.Sleep(d)
	synctest.Wait()
}

// Await waits until cond holds, and fails the test if it does not within half a minute, of virtual time in a bubble.
// what says what is waited for.
func (s *Server) Await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	const poll = 10 * time.Millisecond
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for deadline := time.Now().Add(within); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("gktest: waited in vain for: %s", what)
		}
	}
}
