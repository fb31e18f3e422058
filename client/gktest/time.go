package gktest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Advance lets virtual time pass and returns once every goroutine in the bubble is blocked, so that all effects have
// occurred. If d is 0, it only waits for that. Outside a testing/synctest bubble, where time is real, it fails the
// test.
func (s *Server) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	if !s.virtual {
		t.Fatal("gktest: Advance requires virtual time: start the server inside testing/synctest.Test")
	}
	time.Sleep(d)
	synctest.Wait()
}

// Await waits until cond returns true. It fails the test after 30 seconds, which are virtual in a bubble. what
// describes the condition in the failure message.
func (s *Server) Await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	const poll = 10 * time.Millisecond
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for deadline := time.Now().Add(callTimeout); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("gktest: timed out waiting for %s", what)
		}
	}
}
