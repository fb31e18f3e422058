package keeper

import (
	"bytes"
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// firingCall returns a call for a firing of "nightly" that is due after the given time. The host's clock is ahead of
// the test's by clock.
func firingCall(host, requestID string, ahead, clock time.Duration) *AcquireCall {
	call := newCall(host, requestID)
	call.Firing = &semaphore.Firing{Name: "nightly", Due: time.Now().Add(ahead).UTC()}
	call.SentAt = time.Now().Add(clock)
	return call
}

// The leader's own clock may be wrong, so the denial shows both clocks and does not say which is wrong.
func TestTryAcquire_LeaderClockIsAnHourOff(t *testing.T) {
	t.Run("behind", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.cfg.WallClock = func() time.Time { return time.Now().Add(-time.Hour) }
			w.define("job", nil)
			d := w.wantDenied(firingCall("a", "1", 0, 0), semaphore.FiringTooFarAhead)
			if now := time.Now(); !d.LeaderClock.Equal(now.Add(-time.Hour)) || !d.CallerClock.Equal(now) {
				t.Fatalf("LeaderClock = %v, CallerClock = %v; want %v, %v", d.LeaderClock, d.CallerClock, now.Add(-time.Hour), now)
			}
			if !strings.Contains(d.Message, "is due 1h ahead of the leader's clock") || !strings.Contains(d.Message, "the caller's clock shows") {
				t.Fatalf("message = %q, want both clocks", d.Message)
			}
		})
	})
	t.Run("ahead", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.cfg.WallClock = func() time.Time { return time.Now().Add(time.Hour) }
			w.define("job", nil)
			w.release(w.mustAcquire(firingCall("a", "1", 0, 0)).Token)
			w.wantDenied(firingCall("b", "2", 0, 0), semaphore.FiringDone)
		})
	})
}

func TestTryAcquire_FiringTooFarAhead_IsLoggedOncePerMinute(t *testing.T) {
	inWorld(t, func(w *world) {
		var log bytes.Buffer
		w.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		w.define("job", nil)
		for i := range 10 {
			w.wantDenied(firingCall("a", fmt.Sprint(i), time.Hour, 0), semaphore.FiringTooFarAhead)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Fatalf("got %d warnings, want 1:\n%s", n, log.String())
		}
	})
}

// A firing named after a business date may be due at any time.
func TestTryAcquire_FiringUnbounded_AcceptsAnyDueTime(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.FiringMaxAhead = semaphore.FiringUnbounded })
		w.mustAcquire(firingCall("a", "1", 365*24*time.Hour, 0))
	})
}

// A host whose clock is a year ahead must not block the job on the other hosts.
func TestHousekeep_HostClockYearAhead_DoesNotBlockJob(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.FiringLimit, d.FiringMaxAhead = 10, semaphore.FiringUnbounded })
		for i := range 100 {
			w.release(w.mustAcquire(firingCall("ahead", fmt.Sprint(i), 365*24*time.Hour+time.Duration(i)*time.Minute, 0)).Token)
		}
		w.release(w.mustAcquire(firingCall("right", "before", 0, 0)).Token)
		w.sleep(trimInterval + time.Second)
		if n := w.machine.State().ClaimCount("job"); n != 10 {
			t.Fatalf("ClaimCount() = %d, want 10", n)
		}
		w.wantDenied(firingCall("other", "before", -trimInterval-time.Second, 0), semaphore.FiringDone)
		w.release(w.mustAcquire(firingCall("right", "after", 0, 0)).Token)
	})
}

func TestHostClocks_SkewedClocks_AreReturned(t *testing.T) {
	inWorld(t, func(w *world) {
		var log bytes.Buffer
		w.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		w.define("job", nil)
		acquireWithClock := func(host string, clock time.Duration) {
			call := newCall(host, "")
			call.SentAt = time.Now().Add(clock)
			w.tryAcquire(call)
		}
		acquireWithClock("right", 5*time.Minute)
		for range 5 {
			acquireWithClock("ahead", time.Hour)
			acquireWithClock("behind", -6*time.Minute)
		}
		clocks := w.HostClocks()
		if len(clocks) != 2 || clocks[0].Acquirer != "ahead" || clocks[0].Ahead != time.Hour || clocks[1].Ahead != -6*time.Minute {
			t.Fatalf("HostClocks() = %+v, want one ahead and one behind", clocks)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 2 {
			t.Fatalf("got %d warnings, want 2:\n%s", n, log.String())
		}
		acquireWithClock("ahead", 0)
		w.sleep(clockRetention + time.Second)
		if clocks := w.HostClocks(); len(clocks) != 0 {
			t.Fatalf("HostClocks() = %+v, want none", clocks)
		}
	})
}

// The limit drops the firings due furthest from now, and the low-water mark never rises above now.
func TestForgettable_KeepsFiringsDueNearNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		def := &semaphore.Definition{Name: "job", FiringRetention: 24 * time.Hour, FiringLimit: rapid.Uint32Range(1, 20).Draw(t, "limit")}
		def.FiringMaxAhead = rapid.SampledFrom([]time.Duration{0, semaphore.FiringUnbounded, time.Minute}).Draw(t, "bound")
		var claims []*semaphore.Claim
		for i := range rapid.IntRange(0, 40).Draw(t, "firings") {
			c := &semaphore.Claim{State: semaphore.ClaimDone, At: now}
			from := time.Duration(rapid.Int64Range(-30*60, 30*60).Draw(t, "due")) * time.Minute
			c.Firing = semaphore.Firing{Name: fmt.Sprint(i), Due: now.Add(from)}
			if rapid.Bool().Draw(t, "held") {
				c.State = semaphore.ClaimHeld
			}
			claims = append(claims, c)
		}
		forget, _ := forgettable(def, claims, now)
		if forget.UpTo.After(now) {
			t.Fatalf("UpTo = %v, want at most %v", forget.UpTo, now)
		}
		forgotten := func(c *semaphore.Claim) bool {
			return c.State != semaphore.ClaimHeld && (slices.Contains(forget.Firings, c.Firing) || !c.Firing.Due.After(forget.UpTo))
		}
		near := now.Add(cmp.Or(max(def.FiringMaxAhead, 0), semaphore.DefaultFiringMaxAhead))
		farthest, kept := time.Duration(0), 0
		for _, c := range claims {
			dueSoon := c.Firing.Due.After(now) && !c.Firing.Due.After(near)
			switch {
			case forgotten(c) && dueSoon:
				t.Fatalf("%v was forgotten even though it is due soon", c.Firing)
			case forgotten(c):
			case c.State != semaphore.ClaimHeld && !dueSoon:
				farthest = max(farthest, c.Firing.Due.Sub(now).Abs())
				kept++
			}
		}
		for _, c := range claims {
			if forgotten(c) && c.Firing.Due.Sub(now).Abs() < farthest && now.Sub(c.Firing.Due) < def.FiringRetention {
				t.Fatalf("%v was forgotten even though a firing due %v from now was kept", c.Firing, farthest)
			}
		}
		if kept > int(def.FiringLimit) {
			t.Fatalf("kept %d firings, want at most %d", kept, def.FiringLimit)
		}
	})
}
