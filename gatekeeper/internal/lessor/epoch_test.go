package lessor

import (
	"runtime"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Two leaderships in a row: the goroutine of the first must neither miss its end nor take what wakes the second.
func TestRun_LeadershipsInARow_EachEnds(t *testing.T) {
	l := New(Config{
		State:    fsm.New("test").State,
		Propose:  func(fsm.Command, func(batcher.Outcome)) {},
		Overheld: func(*semaphore.Permit) {},
	})
	state := l.cfg.State()
	for term := range uint64(100_000) {
		l.Promote(term+1, time.Now(), state)
		if term%2 == 0 {
			runtime.Gosched()
		}
		l.Demote(term + 1)
	}
	closed := make(chan struct{})
	go func() { l.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Fatal("a goroutine of an earlier leadership waits for a timer")
	}
}
