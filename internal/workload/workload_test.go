package workload_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/internal/loop"
	"github.com/gatekeeperd/gatekeeper/internal/workload"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	callers = 3
	latency = 10 * time.Millisecond // network latency, so that virtual time passes
)

// bench is a server in a synctest bubble with a fixture and another user's definition and permit.
type bench struct {
	*testing.T
	server  *gktest.Server
	control *client.Client
	clients []*client.Client
	fixture *workload.Fixture
	other   *client.Permit
}

// setup creates the fixture for the kinds with the given names, or for all kinds if no names are given.
func setup(t *testing.T, names ...string) *bench {
	t.Helper()
	b := &bench{T: t, server: gktest.Start(t, "nightly-export")}
	b.control = b.server.Dial(t, "operator")
	for i := range 2 {
		b.clients = append(b.clients, b.server.Dial(t, workload.Acquirer(i), client.WithGroup(workload.Group)))
	}
	b.server.SlowDown(t, latency)
	var err error
	if b.other, err = b.control.Semaphore("nightly-export").TryAcquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.fixture = b.newFixture("bench/x", "run", names...)
	if err := b.fixture.CheckUnused(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.fixture.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) newFixture(prefix, run string, names ...string) *workload.Fixture {
	return workload.NewFixture(workload.Settings{
		Prefix: prefix, Callers: callers, Tokens: 5, Edits: 4, Duration: time.Minute, Timeout: 2 * time.Second, Author: "alice@ops", Run: run,
	}, kinds(names...), b.control, b.clients)
}

func kinds(names ...string) []*workload.Kind {
	var out []*workload.Kind
	for _, k := range workload.Kinds() {
		if len(names) == 0 || strings.Contains(strings.Join(names, " "), k.Name) {
			out = append(out, k)
		}
	}
	return out
}

// definitions returns the names of all definitions.
func (b *bench) definitions() []string {
	b.Helper()
	var names []string
	for r, err := range b.control.AllDefinitions(b.Context(), &gatekeeperv1.ListDefinitionsRequest{}) {
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, r.GetDefinition().GetName())
	}
	return names
}

// held returns the semaphore name of every permit.
func (b *bench) held() []string {
	b.Helper()
	var names []string
	for p, err := range b.control.AllHolders(b.Context(), &gatekeeperv1.ListHoldersRequest{}) {
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, p.GetSemaphore())
	}
	return names
}

// clearAndCheck clears the fixture and fails the test unless exactly the other user's objects remain.
func (b *bench) clearAndCheck() (freed int) {
	b.Helper()
	freed, err := b.fixture.Clear(b.Context())
	if err != nil {
		b.Error(err)
	}
	if remaining := b.definitions(); len(remaining) != 1 || remaining[0] != "nightly-export" {
		b.Errorf("got remaining definitions %q, want only the other user's", remaining)
	}
	if remaining := b.held(); len(remaining) != 1 || remaining[0] != "nightly-export" || !b.other.Held() {
		b.Errorf("got remaining permits for %q, want only the other user's", remaining)
	}
	return freed
}

func TestKinds_All_RunAndReleasePermits(t *testing.T) {
	operations := map[string]int{"stream": 5, "batch": 4} // operations per call
	for _, k := range workload.Kinds() {
		for _, rate := range []float64{0, 40} {
			t.Run(k.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := setup(t, k.Name)
					s, err := k.Prepare(t.Context(), b.fixture, callers)
					if err != nil {
						t.Fatal(err)
					}
					r := loop.Window{Callers: s.Callers, Length: 2 * time.Second, Rate: rate}.Run(t.Context(), s.Call)
					if r.Calls < 50 || r.Errors != 0 || r.Err != nil || r.Operations != r.Calls*max(operations[k.Name], 1) {
						t.Errorf("got result %+v, want calls without errors", r)
					}
					if r.Latency.P50 < latency {
						t.Errorf("got p50 %v, want at least the network latency", r.Latency.P50)
					}
					parts := make(map[string]int)
					for _, p := range s.Parts {
						parts[p.Name] = p.Count()
					}
					switch k.Name {
					case "watch":
						if parts["event"] != callers*r.Calls {
							t.Errorf("got %d events for %d edits and %d watchers, want one per edit and watcher", parts["event"], r.Calls, callers)
						}
					case "mixed":
						if all := parts["deny"] + parts["refresh"] + parts["acquire"]; all != r.Calls || parts["deny"] < all*85/100 || parts["refresh"] < all*5/100 || parts["acquire"] == 0 {
							t.Errorf("got parts %v of %d calls, want about 90%%, 9%% and 1%%", parts, r.Calls)
						}
					}
					if err := s.Close(t.Context()); err != nil {
						t.Error(err)
					}
					if remaining, err := b.fixture.Release(t.Context()); remaining != 0 || err != nil {
						t.Errorf("Release() = %d, %v, want 0, nil", remaining, err)
					}
					if s.Forget(); len(s.Parts) > 0 && s.Parts[0].Count() != 0 {
						t.Error("a part kept its measurements after Forget()")
					}
					b.clearAndCheck()
				})
			})
		}
	}
}

func TestClear_AfterInterrupt_LeavesNothing(t *testing.T) {
	for _, k := range workload.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, k.Name)
				ctx, interrupt := context.WithCancel(t.Context())
				s, err := k.Prepare(ctx, b.fixture, callers)
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(700*time.Millisecond+latency/2, interrupt)
				r := loop.Window{Callers: s.Callers, Length: time.Hour}.Run(ctx, s.Call)
				if ctx.Err() == nil || r.Calls == 0 || r.Errors != 0 {
					t.Errorf("got %+v, want no errors for interrupted calls", r)
				}
				if err := s.Close(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
				b.clearAndCheck()
			})
		})
	}
}

func TestClear_DuringPrepare_LeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "stream")
		ctx, cancel := context.WithTimeout(t.Context(), latency/2)
		defer cancel()
		if _, err := kinds("stream")[0].Prepare(ctx, b.fixture, callers); err == nil {
			t.Error("Prepare() succeeded even though it was interrupted")
		}
		b.clearAndCheck()
	})
}

func TestRelease_RemainingPermits_AreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		forgotten := b.clients[0].Semaphore("bench/x/own/1")
		if _, err := forgotten.TryAcquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if remaining, err := b.fixture.Release(t.Context()); remaining != 1 || err != nil {
			t.Errorf("Release() = %d, %v, want 1, nil", remaining, err)
		}
		b.clearAndCheck()
	})
}

// Clear must not touch other users' objects, even under the run's prefix.
func TestClear_OtherUsersObjectsBelowPrefix_Remain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		b.server.Define(t, &gatekeeperv1.Definition{Name: "bench/x/theirs"})
		theirs, err := b.control.Semaphore("bench/x/theirs").TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second := b.newFixture("bench/x", "another", "acquire")
		if err, ok := errors.AsType[*workload.TakenError](second.CheckUnused(t.Context())); !ok || !strings.HasPrefix(err.Name, "semaphore bench/x/") {
			t.Errorf("CheckUnused() = %v, want a TakenError", err)
		}
		// A concurrent run that passed the same check must fail to create these names and must not delete anything.
		if err, ok := errors.AsType[*client.AlreadyExistsError](second.Create(t.Context())); !ok {
			t.Errorf("Create() = %v, want an AlreadyExistsError", err)
		}
		if freed, err := second.Clear(t.Context()); freed != 0 || err != nil || len(b.definitions()) != callers+2 {
			t.Errorf("Clear() = %d, %v and left definitions %q, want 0, nil and all definitions", freed, err, b.definitions())
		}
		if _, err := b.fixture.Clear(t.Context()); err != nil {
			t.Error(err)
		}
		if remaining := b.definitions(); len(remaining) != 2 || remaining[0] != "bench/x/theirs" || !theirs.Held() {
			t.Errorf("got remaining definitions %q, want only other users'", remaining)
		}
	})
}

func TestCheckUnused_PermitOfDeletedSemaphore_ReturnsTakenError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		b.server.Define(t, &gatekeeperv1.Definition{Name: "old/own/0"})
		if _, err := b.control.Semaphore("old/own/0").TryAcquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.server.Delete(t, "old/own/0")
		err, ok := errors.AsType[*workload.TakenError](b.newFixture("old", "another", "acquire").CheckUnused(t.Context()))
		if !ok || !strings.Contains(err.Error(), "old/ is already in use: permit ") {
			t.Errorf("CheckUnused() = %v, want an error that names the permit", err)
		}
	})
}
