package client

import (
	"context"
	"testing"
	"time"
)

// manualClock is a clock set by the test.
type manualClock struct{ now time.Duration }

func (c *manualClock) Now() time.Duration { return c.now }

// idleRenewer returns a renewer without running goroutines. The test does their work.
func idleRenewer(t testing.TB) (*renewer, *manualClock) {
	clock := &manualClock{now: time.Hour}
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

// grantNow adds a permit that is granted at the current time.
func (r *renewer) grantNow(t testing.TB, token uint64, duration time.Duration) *Permit {
	t.Helper()
	id, now := "h", r.clock.Now()
	p := must(r.add(t.Context(), &acquisition{holderID: &id},
		attemptResult{grant: grant("s", token, duration, 0), belief: newBelief(now, 0, duration, now)}))(t)
	return p
}

// hasRung reports whether the alarm has rung, and resets it.
func hasRung(n *alarm) bool {
	select {
	case <-n.wake:
		return true
	default:
		return false
	}
}

// setAlarms sets both alarms, as the goroutines would.
func (r *renewer) setAlarms() {
	r.untilDue()
	r.expire()
	hasRung(&r.serveAlarm)
	hasRung(&r.watchAlarm)
}

func TestRenewer_PermitDueBeforeAlarms_WakesBoth(t *testing.T) {
	k, _ := idleRenewer(t)
	k.setAlarms() // for an hour, because there is no permit
	k.grantNow(t, 1, time.Minute)
	if !hasRung(&k.serveAlarm) || !hasRung(&k.watchAlarm) {
		t.Error("first permit did not ring both alarms")
	}
	k.setAlarms()
	k.grantNow(t, 2, 90*time.Millisecond)
	if !hasRung(&k.serveAlarm) || !hasRung(&k.watchAlarm) {
		t.Error("permit due before all others did not ring both alarms")
	}
}

func TestRenewer_PermitDueAfterAlarms_WakesNeither(t *testing.T) {
	k, clock := idleRenewer(t)
	k.grantNow(t, 1, time.Second) // due within 0.4 s
	k.setAlarms()
	clock.now += 10 * time.Millisecond
	k.grantNow(t, 2, time.Minute)
	if hasRung(&k.serveAlarm) || hasRung(&k.watchAlarm) {
		t.Error("permit due later rang an alarm")
	}
}

func TestRenewer_MachineWasSuspended_WakesBoth(t *testing.T) {
	k, clock := idleRenewer(t)
	k.grantNow(t, 1, time.Minute)
	k.setAlarms()
	clock.now += time.Minute // the timers have not advanced
	k.grantNow(t, 2, time.Minute)
	if !hasRung(&k.serveAlarm) || !hasRung(&k.watchAlarm) {
		t.Error("permit granted after a suspend did not ring both alarms")
	}
}

func TestPermit_RefreshWhileServeSleeps_WakesIt(t *testing.T) {
	k, _ := idleRenewer(t)
	p := k.grantNow(t, 1, time.Minute)
	k.setAlarms()
	must(k.requestRefresh(p))(t)
	if !hasRung(&k.serveAlarm) {
		t.Error("Refresh did not ring the alarm")
	}
}
