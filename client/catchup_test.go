package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestDueBetween_IsInOrderAndBounded(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	every := func(d time.Duration) func(time.Time) time.Time {
		return func(after time.Time) time.Time { return after.Truncate(d).Add(d) }
	}
	for name, c := range map[string]struct {
		next        func(time.Time) time.Time
		since       time.Duration
		n           int
		first, last time.Duration // before noon
	}{
		"every minute for an hour":         {every(time.Minute), time.Hour, 60, 59 * time.Minute, 0},
		"only the newest 1000":             {every(time.Second), 365 * 24 * time.Hour, 1000, 999*time.Second - 30*time.Second, -30 * time.Second},
		"few over a long period":           {every(24 * time.Hour), 10 * 24 * time.Hour, 10, 9*24*time.Hour + 12*time.Hour, 12 * time.Hour},
		"none due":                         {every(24 * time.Hour), time.Hour, 0, 0, 0},
		"no next time":                     {func(time.Time) time.Time { return time.Time{} }, time.Hour, 0, 0, 0},
		"a schedule that does not advance": {func(time.Time) time.Time { return now.Add(-time.Minute) }, time.Hour, 1, 30 * time.Second, 30 * time.Second},
	} {
		got := dueBetween(c.next, now.Add(-c.since), now)
		if len(got) != c.n {
			t.Errorf("%s: %d due times, want %d", name, len(got), c.n)
			continue
		}
		noon := now.Truncate(time.Hour)
		if c.n > 0 && (!got[0].Equal(noon.Add(-c.first)) || !got[c.n-1].Equal(noon.Add(-c.last))) {
			t.Errorf("%s: got due times from %s to %s, want %s to %s", name, got[0], got[c.n-1], noon.Add(-c.first), noon.Add(-c.last))
		}
	}
}

func TestCatchUp_ServersWithoutSupport_RunsNothing(t *testing.T) {
	if status.Code(typed(t.Context(), status.Error(codes.Unimplemented, "unknown method CatchUp"))) != codes.Unimplemented {
		t.Error("typed() does not preserve the code Unimplemented")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newHarness(t) // the fake server does not implement CatchUp
		r := s.runner(func(context.Context) error { t.Error("the job ran"); return nil })
		if err := r.CatchUp(t.Context(), func(time.Time) time.Time { t.Error("CatchUp called next"); return time.Time{} }); err != nil {
			t.Error(err)
		}
	})
}
