package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestTakeOver_HungHolder_StopsAndNextWaiterIsGranted(t *testing.T) {
	t.Parallel()
	srv := gktest.Start(t)
	srv.Define(t, &gatekeeperv1.Definition{Name: "report", Takeover: true, GroupPattern: new("default")})
	due := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	hung, err := srv.Dial(t, "app1").Semaphore("report").TryAcquire(ctx, client.WithFiring("report", due))
	if err != nil {
		t.Fatal(err)
	}
	next := srv.Dial(t, "app2").Semaphore("report")
	for range 2 { // a second call has no further effect
		p, err := next.TakeOver(ctx, hung.Token(), "it is not responding")
		if err != nil || p.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER || p.GetStopReason() != "it is not responding" {
			t.Fatalf("TakeOver() = %v, %v, want stop cause TAKEN_OVER with the reason", p, err)
		}
	}
	select {
	case <-hung.Context().Done():
	case <-ctx.Done():
		t.Fatal("the holder was not notified")
	}
	if cause := context.Cause(hung.Context()); !errors.Is(cause, client.ErrTakenOver) || !errors.Is(cause, client.ErrStopped) {
		t.Errorf("cause = %v, want ErrTakenOver", cause)
	}
	if _, err := next.TryAcquire(ctx, client.WithFiring("report", due)); !errors.Is(err, client.ErrDenied) {
		t.Errorf("TryAcquire() error = %v, want ErrDenied until the holder releases its permit", err)
	}
	if err := hung.ReleaseCutShort(ctx); err != nil {
		t.Fatal(err)
	}
	// A takeover frees the firing even though firing_on_loss is spent.
	p, err := next.Acquire(ctx, client.WithFiring("report", due))
	if err != nil || p.Token() <= hung.Token() {
		t.Fatalf("Acquire() = %v, %v, want a permit with a newer token", p, err)
	}
	if _, err := next.TakeOver(ctx, hung.Token(), ""); !errors.As(err, new(*client.NoSuchPermitError)) {
		t.Errorf("TakeOver() of a released permit: error = %v, want a *NoSuchPermitError", err)
	}
}

func TestTakeOver_NotAllowedOrNotAdmitted_IsRefused(t *testing.T) {
	t.Parallel()
	srv := gktest.Start(t, "plain")
	srv.Define(t, &gatekeeperv1.Definition{Name: "report", Takeover: true, AcquirerPattern: new("app1")})
	holder, other := srv.Dial(t, "app1"), srv.Dial(t, "app2")
	for name, want := range map[string]string{"plain": "does not allow takeovers", "report": `does not admit "app2"`} {
		p, err := holder.Semaphore(name).TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Semaphore(name).TakeOver(t.Context(), p.Token(), "")
		refused, ok := errors.AsType[*client.StatusError](err)
		if !ok || refused.Code != codes.FailedPrecondition || refused.Reason != "REFUSED" || !strings.Contains(refused.Message, want) {
			t.Errorf("TakeOver(%s) error = %v, want REFUSED containing %q", name, err, want)
		}
		if !p.Held() || p.Context().Err() != nil {
			t.Errorf("%s: the holder was stopped", name)
		}
	}
}
