package client

import (
	"context"
	"testing"
	"time"
)

// handClock is a clock set by the test.
type handClock struct{ now time.Duration }

func (c *handClock) Now() time.Duration { return c.now }

// idleRenewer returns a renewer whose goroutines do not run; the test does their work.
func idleRenewer(t testing.TB) (*renewer, *handClock) {
	clock := &handClock{now: time.Hour}
	c := &Client{settings: &settings{clock: clock}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	k := newRenewer(c)
	k.start.Do(func() {})
	t.Cleanup(func() {
		k.close()
		c.cancel()
	})
	return k, clock
}

// granted makes the renewer keep a permit that is granted now.
func (r *renewer) granted(t testing.TB, token uint64, duration time.Duration) *Permit {
	t.Helper()
	id, now := "h", r.clock.Now()
	p := must(r.take(t.Context(), &acquisition{holderID: &id},
		answer{grant: grant("s", token, duration, 0), belief: newBelief(now, 0, duration, now)}))(t)
	return p
}

// woken reports whether the alarm has rung, and clears it.
func woken(n *alarm) bool {
	select {
	case <-n.wake:
		return true
	default:
		return false
	}
}

// rest sets both alarms, as the goroutines would.
func (r *renewer) rest() {
	r.untilDue()
	r.expire()
	woken(&r.serving)
	woken(&r.watching)
}

func TestRenewer_PermitThatIsDueBeforeTheAlarms_WakesBoth(t *testing.T) {
	k, _ := idleRenewer(t)
	k.rest() // for an hour, because there is no permit
	k.granted(t, 1, time.Minute)
	if !woken(&k.serving) || !woken(&k.watching) {
		t.Error("the first permit did not ring the alarms")
	}
	k.rest()
	k.granted(t, 2, 90*time.Millisecond)
	if !woken(&k.serving) || !woken(&k.watching) {
		t.Error("a permit that is due before all others did not ring the alarms")
	}
}

func TestRenewer_PermitThatIsDueAfterTheAlarms_WakesNeither(t *testing.T) {
	k, clock := idleRenewer(t)
	k.granted(t, 1, time.Second) // due within 0.4 s
	k.rest()
	clock.now += 10 * time.Millisecond
	k.granted(t, 2, time.Minute)
	if woken(&k.serving) || woken(&k.watching) {
		t.Error("a permit that is due later rang an alarm")
	}
}

func TestRenewer_MachineWasSuspended_WakesBoth(t *testing.T) {
	k, clock := idleRenewer(t)
	k.granted(t, 1, time.Minute)
	k.rest()
	clock.now += time.Minute // the timers have not advanced
	k.granted(t, 2, time.Minute)
	if !woken(&k.serving) || !woken(&k.watching) {
		t.Error("the alarms did not ring even though the goroutines should have been awake")
	}
}

func TestPermit_RefreshWhileServeSleeps_WakesIt(t *testing.T) {
	k, _ := idleRenewer(t)
	p := k.granted(t, 1, time.Minute)
	k.rest()
	must(k.ask(p))(t)
	if !woken(&k.serving) {
		t.Error("Refresh did not ring the alarm")
	}
}
