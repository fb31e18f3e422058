package workload_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
)

// runWithFault runs a workload for four seconds and calls fault after one second.
func (b *bench) runWithFault(name string, fault func()) loop.Result {
	b.Helper()
	s, err := kinds(name)[0].Prepare(b.Context(), b.fixture, callers)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	time.AfterFunc(time.Second, func() {
		fault()
		close(done)
	})
	r := loop.Window{Callers: s.Callers, Length: 4 * time.Second}.Run(b.Context(), s.Call)
	<-done
	_ = s.Close(b.Context()) // fails if a permit has already ended
	return r
}

func wantError(t *testing.T, r loop.Result, text string) {
	t.Helper()
	if r.Errors == 0 || r.Calls == 0 || r.Err == nil || !strings.Contains(r.Err.Error(), text) {
		t.Errorf("got %d calls, %d errors and first error %v, want an error containing %q", r.Calls, r.Errors, r.Err, text)
	}
}

func TestDeny_Granted_IsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "deny")
		r := b.runWithFault("deny", func() { b.server.ExpireAll(t, "bench/x/held") })
		wantError(t, r, "was granted even though the only permit is held")
		b.clearAndCheck()
	})
}

func TestDeny_DeniedForAnotherReason_IsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "deny")
		r := b.runWithFault("deny", func() { b.server.Pause(t, "bench/x/held", "maintenance") })
		wantError(t, r, "not because the permit is taken")
		b.clearAndCheck()
	})
}

func TestAcquire_Denied_IsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		r := b.runWithFault("acquire", func() { b.server.Pause(t, "bench/x/own/1", "maintenance") })
		wantError(t, r, "caller 1: denied: ")
		b.clearAndCheck()
	})
}

func TestRefresh_LostPermit_IsError(t *testing.T) {
	for _, name := range []string{"refresh", "stream"} {
		synctest.Test(t, func(t *testing.T) {
			b := setup(t, name)
			r := b.runWithFault(name, func() {
				for _, p := range b.server.Holders(t, "bench/x/wide")[:1] {
					b.server.Revoke(t, p.GetToken(), "maintenance")
				}
			})
			wantError(t, r, "was not refreshed: ")
			b.clearAndCheck()
		})
	}
}

// An edit counts as failed if one of the watchers does not receive it.
func TestWatch_WatcherWithoutEvents_IsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "watch")
		r := b.runWithFault("watch", func() { b.server.Partition(t, b.clients[1]) })
		wantError(t, r, "1 of 3 watchers did not receive revision ")
		b.server.Heal(t)
		b.clearAndCheck()
	})
}

// Without responses, calls time out and count as errors.
func TestAcquire_NoResponse_IsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		s, err := kinds("acquire")[0].Prepare(t.Context(), b.fixture, callers)
		if err != nil {
			t.Fatal(err)
		}
		b.server.Partition(t, b.clients...)
		r := loop.Window{Callers: s.Callers, Length: 4 * time.Second}.Run(t.Context(), s.Call)
		if r.Calls != 0 || r.Errors == 0 {
			t.Errorf("got %+v, want only errors", r)
		}
		b.server.Heal(t)
		b.clearAndCheck()
	})
}
