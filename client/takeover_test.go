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

func TestTakeOver_HolderJudgedDead_StopsAndTheNextInTheQueueIsGranted(t *testing.T) {
	t.Parallel()
	srv := gktest.Start(t)
	srv.Define(t, &gatekeeperv1.Definition{Name: "report", Takeover: true, GroupPattern: new("default")})
	due := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	judged, err := srv.Dial(t, "app1").Semaphore("report").TryAcquire(ctx, client.WithFiring("report", due))
	if err != nil {
		t.Fatal(err)
	}
	heir := srv.Dial(t, "app2").Semaphore("report")
	for range 2 { // a repeat does no more
		p, err := heir.TakeOver(ctx, judged.Token(), "it does not answer")
		if err != nil || p.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER || p.GetStopReason() != "it does not answer" {
			t.Fatalf("%v, %v", p, err)
		}
	}
	select {
	case <-judged.Context().Done():
	case <-ctx.Done():
		t.Fatal("the holder is not notified")
	}
	if cause := context.Cause(judged.Context()); !errors.Is(cause, client.ErrTakenOver) || !errors.Is(cause, client.ErrStopped) {
		t.Errorf("cause %v", cause)
	}
	if _, err := heir.TryAcquire(ctx, client.WithFiring("report", due)); !errors.Is(err, client.ErrDenied) {
		t.Errorf("the takeover freed the slot: %v", err)
	}
	if err := judged.ReleaseCutShort(ctx); err != nil {
		t.Fatal(err)
	}
	// firing_on_loss is spent, and the firing is free all the same.
	p, err := heir.Acquire(ctx, client.WithFiring("report", due))
	if err != nil || p.Token() <= judged.Token() {
		t.Fatalf("%v, %v", p, err)
	}
	if _, err := heir.TakeOver(ctx, judged.Token(), ""); !errors.As(err, new(*client.NoSuchPermitError)) {
		t.Errorf("of a permit that has ended: %v", err)
	}
}

func TestTakeOver_NotAllowedOrNotAdmitted_IsRefused(t *testing.T) {
	t.Parallel()
	srv := gktest.Start(t, "plain")
	srv.Define(t, &gatekeeperv1.Definition{Name: "report", Takeover: true, AcquirerPattern: new("app1")})
	holder, other := srv.Dial(t, "app1"), srv.Dial(t, "app2")
	for name, says := range map[string]string{"plain": "does not allow takeovers", "report": `does not let "app2"`} {
		p, err := holder.Semaphore(name).TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Semaphore(name).TakeOver(t.Context(), p.Token(), "")
		refused, ok := errors.AsType[*client.StatusError](err)
		if !ok || refused.Code != codes.FailedPrecondition || refused.Reason != "REFUSED" || !strings.Contains(refused.Message, says) {
			t.Errorf("%s: %v", name, err)
		}
		if !p.Held() || p.Context().Err() != nil {
			t.Errorf("%s: the holder was stopped", name)
		}
	}
}
