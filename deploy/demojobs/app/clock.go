package app

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// wrongClock is the machine's clock, and off by a fixed time: what an application sees on a machine whose clock is wrong. Timers run
// as they do everywhere.
type wrongClock struct {
	clockwork.Clock
	off time.Duration
}

func newClock(off time.Duration) clockwork.Clock {
	return wrongClock{Clock: clockwork.NewRealClock(), off: off}
}

func (c wrongClock) Now() time.Time                  { return c.Clock.Now().Add(c.off) }
func (c wrongClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c wrongClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }
