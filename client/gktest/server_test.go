package gktest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// runInBubble runs a test on virtual time with a server that defines the semaphore "job".
func runInBubble(t *testing.T, test func(t *testing.T, srv *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, Start(t, "job")) })
}

func acquire(t *testing.T, c *client.Client, semaphore string) *client.Permit {
	t.Helper()
	return mustAcquire(t, c.Semaphore(semaphore))
}

func wantCause(t *testing.T, ctx context.Context, want error) {
	t.Helper()
	if err := context.Cause(ctx); !errors.Is(err, want) {
		t.Errorf("cause = %v, want %v", err, want)
	}
}

func TestStart_OnRealTime_ServesDialAndEndpoint(t *testing.T) {
	srv := Start(t, "job")
	p := acquire(t, srv.Dial(t, "app1"), "job")
	other, err := client.Dial(t.Context(), []string{srv.Endpoint()}, client.WithAcquirer("app2"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	endpoint := srv.Endpoint()
	srv.Restart(t)
	if srv.Endpoint() != endpoint {
		t.Errorf("Endpoint() after a restart = %s, want %s", srv.Endpoint(), endpoint)
	}
	denied, err := other.Semaphore("job").TryAcquire(t.Context())
	if d, ok := errors.AsType[*client.DeniedError](err); !ok || d.Holders[0].GetToken() != p.Token() {
		t.Errorf("TryAcquire by app2 = %v, %v; want a denial naming token %d", denied, err, p.Token())
	}
	if err := p.Release(t.Context()); err != nil {
		t.Error(err)
	}
	acquire(t, other, "job")
}

func TestNewServer_WithoutATest_ServesUntilClose(t *testing.T) {
	srv := NewServer("job")
	c, err := client.Dial(t.Context(), []string{srv.Endpoint()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	acquire(t, c, "job")
	endpoint := srv.Endpoint()
	srv.Close()
	srv.Close() // a second call has no effect
	if conn, err := net.Dial("tcp", endpoint); err == nil {
		conn.Close()
		t.Error("the endpoint accepts connections after Close")
	}
	wantFatal(t, "is closed", func(s testing.TB) { srv.Restart(s) })
}

func TestEndpoint_OnVirtualTime_Panics(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		defer func() {
			if recover() == nil {
				t.Error("Endpoint did not panic")
			}
		}()
		_ = srv.Endpoint()
	})
}

func TestAdvance_OnVirtualTime_AdvancesByExactDuration(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		before := time.Now()
		srv.Advance(t, time.Hour)
		if passed := time.Since(before); passed != time.Hour {
			t.Errorf("Advance(1h) advanced the clock by %s, want 1h", passed)
		}
	})
}

func TestAdvance_OnRealTime_FailsTheTest(t *testing.T) {
	srv := Start(t)
	wantFatal(t, "requires virtual time", func(s testing.TB) { srv.Advance(s, time.Hour) })
}

func TestAwait_ConditionNeverHolds_FailsTheTest(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		wantFatal(t, "timed out waiting for the condition", func(s testing.TB) {
			srv.Await(s, "the condition", func() bool { return false })
		})
	})
}

func TestStop_PermitsSurviveARestart(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		app1, app2 := srv.Dial(t, "app1"), srv.Dial(t, "app2")
		p := acquire(t, app1, "job")
		srv.Advance(t, time.Minute)
		srv.Stop(t)
		srv.Stop(t) // a second call has no effect
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := app2.Semaphore("job").TryAcquire(ctx); !errors.Is(err, client.ErrUnavailable) {
			t.Errorf("TryAcquire on a stopped server = %v, want ErrUnavailable", err)
		}
		wantFatal(t, "call Restart first", func(s testing.TB) { srv.Holders(s, "job") })
		srv.Restart(t)
		srv.Advance(t, time.Hour)
		if h := srv.Holders(t, "job"); !p.Held() || len(h) != 1 || h[0].GetToken() != p.Token() {
			t.Errorf("Held() = %t, holders = %v; want the permit to be kept", p.Held(), h)
		}
	})
}

func TestStop_LongerThanDuration_HolderStopsBeforeNextGrant(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		p := acquire(t, srv.Dial(t, "app1"), "job")
		srv.Advance(t, time.Minute)
		srv.Stop(t)
		srv.Advance(t, time.Minute)
		wantCause(t, p.Context(), client.ErrExpiring)
		if p.Held() {
			t.Error("the permit was still held after its duration")
		}
		srv.Restart(t)
		if d, ok := errors.AsType[*client.DeniedError](secondResult(srv.Dial(t, "app2").Semaphore("job").TryAcquire(t.Context()))); !ok {
			t.Errorf("TryAcquire after the restart = %v, want a denial, because a restart renews permits for their full duration", d)
		}
	})
}

func secondResult[A, B any](_ A, b B) B { return b }

func TestDefine_CreatesAndReplaces(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		srv.Define(t, &gatekeeperv1.Definition{Name: "job", Permits: new(uint32(2))}, &gatekeeperv1.Definition{Name: "new"})
		c := srv.Dial(t, "app1")
		acquire(t, c, "job")
		acquire(t, c, "job")
		acquire(t, c, "new")
		wantFatal(t, "duration", func(s testing.TB) {
			srv.Define(s, &gatekeeperv1.Definition{Name: "bad", Duration: durationpb.New(time.Nanosecond)})
		})
	})
}

func TestDefineFile_DefinesTheSemaphoresInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "definitions.yaml")
	if err := os.WriteFile(path, []byte("definitions:\n  - name: nightly-export\n    group_pattern: prod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := Start(t)
	srv.DefineFile(t, path)
	acquire(t, srv.Dial(t, "app1", client.WithGroup("prod")), "nightly-export")
	if d, ok := errors.AsType[*client.DeniedError](secondResult(srv.Dial(t, "app1").Semaphore("nightly-export").TryAcquire(t.Context()))); !ok || d.Reason != client.ReasonGroupMismatch {
		t.Errorf("TryAcquire by a client in another group = %v, want ReasonGroupMismatch", d)
	}
	wantFatal(t, "absent.yaml", func(s testing.TB) { srv.DefineFile(s, "absent.yaml") })
}

func TestEdit_HolderNoLongerAdmitted_MustStop(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		p := acquire(t, srv.Dial(t, "app1"), "job")
		srv.Advance(t, 2*time.Second)
		srv.Edit(t, "job", func(d *gatekeeperv1.Definition) { d.AcquirerPattern = new("app2") })
		srv.Advance(t, 0)
		wantCause(t, p.Context(), client.ErrMoved)
		wantFatal(t, "absent", func(s testing.TB) { srv.Edit(s, "absent", func(*gatekeeperv1.Definition) {}) })
	})
}

func TestDelete_HolderMustStop(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		p := acquire(t, srv.Dial(t, "app1"), "job")
		srv.Advance(t, 2*time.Second)
		srv.Delete(t, "job")
		srv.Advance(t, 0)
		wantCause(t, p.Context(), client.ErrMoved)
	})
}
