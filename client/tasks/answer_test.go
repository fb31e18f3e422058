package tasks

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

// A task that catches up on a missed due time acquires a permit like any other, and the response to a probe must say
// so. Otherwise, a host that failed to claim the firing could declare the holder dead before the holder receives its
// grant.
func TestAnswer_CurrentOrMissedDueTime_ReportsAcquiring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := NewManager(gktest.Start(t, "job").Dial(t, "a"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close(context.Background()) }()
		e := newEntry(m, "job", Func("job", gocron.CronJob("0 6 * * *", false), func(context.Context) error { return nil }))
		m.entries["job"] = e
		for _, missed := range []bool{false, true} {
			a, err := e.enter(missed)
			if err != nil {
				t.Fatal(err)
			}
			a.end = func(error) {}
			if !m.answer("job", 7).Acquiring || m.answer("other", 7).Acquiring {
				t.Errorf("missed = %v: answer() = %+v, for another semaphore = %+v, want Acquiring only in the first", missed, m.answer("job", 7), m.answer("other", 7))
			}
			a.leave()
		}
	})
}
