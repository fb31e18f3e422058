package weighted_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/weighted"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newPool starts a server with a semaphore named "pool" that has 4 permits, and returns the server and a client.
func newPool(t *testing.T) (*gktest.Server, *client.Client) {
	t.Helper()
	srv := gktest.Start(t)
	srv.Define(t, &gatekeeperv1.Definition{Name: "pool", Permits: new(uint32(4))})
	return srv, srv.Dial(t, "app1")
}

func TestWeighted_AcquireAndRelease_MatchSyncSemaphore(t *testing.T) {
	_, c := newPool(t)
	w, other := weighted.New(c.Semaphore("pool")), weighted.New(c.Semaphore("pool"))
	if err := w.Acquire(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if !other.TryAcquire(1) || other.TryAcquire(1) {
		t.Error("TryAcquire did not grant exactly 4 permits in total")
	}
	if !w.TryAcquire(0) {
		t.Error("TryAcquire(0) = false, want true")
	}
	w.Release(1)
	w.Release(1)
	if other.TryAcquire(3) {
		t.Error("permit was available after a partial release")
	}
	w.Release(1)
	if !other.TryAcquire(3) {
		t.Error("permit was not available after a full release")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.Acquire(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire = %v, want DeadlineExceeded", err)
	}
	if d, ok := errors.AsType[*client.DeniedError](w.Acquire(t.Context(), 5)); !ok || d.Reason != client.ReasonWeightExceedsPermits {
		t.Errorf("Acquire(5) = %v, want ReasonWeightExceedsPermits", d)
	}
	other.Release(4)
	defer func() {
		if recover() == nil {
			t.Error("Release did not panic when releasing more than held")
		}
	}()
	other.Release(1)
}

func TestWeighted_PermitRevoked_CancelsContext(t *testing.T) {
	srv, c := newPool(t)
	w := weighted.New(c.Semaphore("pool"))
	if !w.TryAcquire(1) || !w.TryAcquire(2) {
		t.Fatal("TryAcquire was denied")
	}
	w.Release(1) // releasing must not cancel the context
	if w.Context().Err() != nil {
		t.Fatal(context.Cause(w.Context()))
	}
	for p, err := range c.AllHolders(t.Context(), &gatekeeperv1.ListHoldersRequest{Names: []string{"pool"}}) {
		if err != nil {
			t.Fatal(err)
		}
		srv.Revoke(t, p.GetToken(), "a test")
	}
	<-w.Context().Done()
	if err := context.Cause(w.Context()); !errors.Is(err, client.ErrRevoked) {
		t.Errorf("cause = %v, want ErrRevoked", err)
	}
	w.Release(2)
}
