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
	latency = 10 * time.Millisecond // of the network, so that virtual time passes
)

// bench is a server in a bubble, with a task of somebody else, and its own field.
type bench struct {
	*testing.T
	server  *gktest.Server
	control *client.Client
	clients []*client.Client
	field   *workload.Field
	other   *client.Permit
}

// setup makes the field for kinds of these names, all if there are none, and creates it.
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
	b.field = b.newField("bench/x", "run", names...)
	if err := b.field.CheckUnused(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.field.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) newField(prefix, run string, names ...string) *workload.Field {
	return workload.NewField(workload.Settings{
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

// definitions are the names of all that there are.
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

// held are the semaphores of all permits that there are.
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

// cleared clears the field, and fails the test unless what is left is what was there before.
func (b *bench) cleared() (freed int) {
	b.Helper()
	freed, err := b.field.Clear(b.Context())
	if err != nil {
		b.Error(err)
	}
	if left := b.definitions(); len(left) != 1 || left[0] != "nightly-export" {
		b.Errorf("definitions %q are left, want that of somebody else alone", left)
	}
	if left := b.held(); len(left) != 1 || left[0] != "nightly-export" || !b.other.Held() {
		b.Errorf("permits of %q are left, want that of somebody else alone", left)
	}
	return freed
}

func TestKinds_AllOfThem_DoWhatTheySayAndGiveEverythingBack(t *testing.T) {
	operations := map[string]int{"stream": 5, "batch": 4} // of one call
	for _, k := range workload.Kinds() {
		for _, rate := range []float64{0, 40} {
			t.Run(k.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := setup(t, k.Name)
					s, err := k.Prepare(t.Context(), b.field, callers)
					if err != nil {
						t.Fatal(err)
					}
					r := loop.Window{Callers: s.Callers, Length: 2 * time.Second, Rate: rate}.Run(t.Context(), s.Call)
					if r.Calls < 50 || r.Errors != 0 || r.Err != nil || r.Operations != r.Calls*max(operations[k.Name], 1) {
						t.Errorf("%+v", r)
					}
					if r.Latency.P50 < latency {
						t.Errorf("p50 %v, want at least what the network takes", r.Latency.P50)
					}
					parts := make(map[string]int)
					for _, p := range s.Parts {
						parts[p.Name] = p.Count()
					}
					switch k.Name {
					case "watch":
						if parts["event"] != callers*r.Calls {
							t.Errorf("%d events for %d edits and %d watchers", parts["event"], r.Calls, callers)
						}
					case "mixed":
						if all := parts["deny"] + parts["refresh"] + parts["acquire"]; all != r.Calls || parts["deny"] < all*85/100 || parts["refresh"] < all*5/100 || parts["acquire"] == 0 {
							t.Errorf("%v of %d calls", parts, r.Calls)
						}
					}
					if err := s.Close(t.Context()); err != nil {
						t.Error(err)
					}
					if left, err := b.field.Release(t.Context()); left != 0 || err != nil {
						t.Errorf("%d permits were not given back, %v", left, err)
					}
					if s.Forget(); len(s.Parts) > 0 && s.Parts[0].Count() != 0 {
						t.Error("a part still knows what it was to forget")
					}
					b.cleared()
				})
			})
		}
	}
}

// Whatever was under way when somebody pressed Ctrl-C, nothing of it stays.
func TestClear_AfterAnInterrupt_LeavesNothing(t *testing.T) {
	for _, k := range workload.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, k.Name)
				ctx, interrupt := context.WithCancel(t.Context())
				s, err := k.Prepare(ctx, b.field, callers)
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(700*time.Millisecond+latency/2, interrupt)
				r := loop.Window{Callers: s.Callers, Length: time.Hour}.Run(ctx, s.Call)
				if ctx.Err() == nil || r.Calls == 0 || r.Errors != 0 {
					t.Errorf("%+v, want no errors of what was cut off", r)
				}
				if err := s.Close(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
				}
				b.cleared()
			})
		})
	}
}

func TestClear_InTheMiddleOfPreparing_LeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "stream")
		ctx, cancel := context.WithTimeout(t.Context(), latency/2)
		defer cancel()
		if _, err := kinds("stream")[0].Prepare(ctx, b.field, callers); err == nil {
			t.Error("it was prepared although it was interrupted")
		}
		b.cleared()
	})
}

func TestRelease_WhatNobodyGaveBack_IsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		forgotten := b.clients[0].Semaphore("bench/x/own/1")
		if _, err := forgotten.TryAcquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, err := b.field.Release(t.Context()); left != 1 || err != nil {
			t.Errorf("%d permits, %v; want the one that was forgotten", left, err)
		}
		b.cleared()
	})
}

// What is not ours is not touched, also when it stands below our prefix.
func TestClear_WhatOthersHaveBelowThePrefix_Stays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		b.server.Define(t, &gatekeeperv1.Definition{Name: "bench/x/theirs"})
		theirs, err := b.control.Semaphore("bench/x/theirs").TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again := b.newField("bench/x", "another", "acquire")
		if err, ok := errors.AsType[*workload.TakenError](again.CheckUnused(t.Context())); !ok || !strings.HasPrefix(err.Name, "semaphore bench/x/") {
			t.Errorf("%v, want to hear that the prefix is taken", err)
		}
		// Somebody who looked at the same moment finds the names taken, and clears away nothing of it.
		if err, ok := errors.AsType[*client.AlreadyExistsError](again.Create(t.Context())); !ok {
			t.Errorf("%v, want to hear that a name is taken", err)
		}
		if freed, err := again.Clear(t.Context()); freed != 0 || err != nil || len(b.definitions()) != callers+2 {
			t.Errorf("%d permits freed, %v, definitions %q", freed, err, b.definitions())
		}
		if _, err := b.field.Clear(t.Context()); err != nil {
			t.Error(err)
		}
		if left := b.definitions(); len(left) != 2 || left[0] != "bench/x/theirs" || !theirs.Held() {
			t.Errorf("definitions %q are left, want those of others", left)
		}
	})
}

func TestCheckUnused_APermitOfADeletedSemaphore_IsInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, "acquire")
		b.server.Define(t, &gatekeeperv1.Definition{Name: "old/own/0"})
		if _, err := b.control.Semaphore("old/own/0").TryAcquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.server.Delete(t, "old/own/0")
		err, ok := errors.AsType[*workload.TakenError](b.newField("old", "another", "acquire").CheckUnused(t.Context()))
		if !ok || !strings.Contains(err.Error(), "below old/ already: permit ") {
			t.Errorf("%v, want the permit named", err)
		}
	})
}
