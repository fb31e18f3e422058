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

// pool returns a server with a semaphore "pool" of 4 permits, and a client of it.
func pool(t *testing.T) (*gktest.Server, *client.Client) {
	t.Helper()
	srv := gktest.Start(t)
	srv.Define(t, &gatekeeperv1.Definition{Name: "pool", Permits: new(uint32(4))})
	return srv, srv.Dial(t, "app1")
}

func TestWeighted_AcquireAndRelease_CountAsTheOriginalDoes(t *testing.T) {
	_, c := pool(t)
	w, other := weighted.New(c.Semaphore("pool")), weighted.New(c.Semaphore("pool"))
	if err := w.Acquire(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if !other.TryAcquire(1) || other.TryAcquire(1) {
		t.Error("there were 4 permits")
	}
	if !w.TryAcquire(0) {
		t.Error("nothing is always free")
	}
	w.Release(1)
	w.Release(1)
	if other.TryAcquire(3) {
		t.Error("a part of a permit was free")
	}
	w.Release(1)
	if !other.TryAcquire(3) {
		t.Error("the permit was not given back with its last part")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.Acquire(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if d, ok := errors.AsType[*client.DeniedError](w.Acquire(t.Context(), 5)); !ok || d.Reason != client.ReasonWeightExceedsPermits {
		t.Errorf("%v", d)
	}
	other.Release(4)
	defer func() {
		if recover() == nil {
			t.Error("released more than held")
		}
	}()
	other.Release(1)
}

func TestWeighted_PermitRevoked_EndsTheContext(t *testing.T) {
	srv, c := pool(t)
	w := weighted.New(c.Semaphore("pool"))
	if !w.TryAcquire(1) || !w.TryAcquire(2) {
		t.Fatal("denied")
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
		t.Error(err)
	}
	w.Release(2)
}
