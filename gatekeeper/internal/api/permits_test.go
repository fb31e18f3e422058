package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestTryAcquire_Granted_ReturnsPermitAndWaitTime(t *testing.T) {
	g := open(t)
	var got *keeper.AcquireCall
	g.keeper.tryAcquire = func(_ context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
		got = c
		return keeper.Answer{
			Outcome: semaphore.Granted, Waited: 3 * time.Millisecond,
			Permit: &semaphore.Permit{Semaphore: "s", Token: 7, Duration: time.Minute, State: semaphore.Live},
		}, nil
	}
	before := time.Now()
	due := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	reply := must(g.permits.TryAcquire(ctx(t), &gatekeeperv1.TryAcquireRequest{
		Semaphore: "s", Identity: testIdentity(), Firing: &gatekeeperv1.Firing{Name: "f", Due: timestamppb.New(due)},
		RequestId: "r", ExpectedRevision: new(uint64(0)), Metadata: map[string]string{"k": "v"},
	}))(t)
	grant := reply.GetGrant()
	if grant.GetPermit().GetToken() != 7 || grant.GetRefreshed() || grant.GetWaited().AsDuration() != 3*time.Millisecond {
		t.Errorf("TryAcquire() = %v, want a grant of token 7", reply)
	}
	if got.Identity != (semaphore.Identity{Group: "default", Acquirer: "host"}) || got.Weight != 1 || !got.Firing.Due.Equal(due) ||
		got.RequestID != "r" || got.ExpectedRevision == nil || *got.ExpectedRevision != 0 || got.Metadata["k"] != "v" {
		t.Errorf("keeper called with %+v", got)
	}
	if got.Received.Before(before) || got.Received.After(time.Now()) {
		t.Error("Received is not between the start and the end of the call")
	}
}

func TestTryAcquire_DeniedOrRefreshed_IsNotAnError(t *testing.T) {
	g := open(t)
	g.keeper.tryAcquire = func(_ context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
		if c.ExpectedRevision != nil {
			t.Error("ExpectedRevision is set, but the client did not send it")
		}
		if c.Weight == 2 {
			return keeper.Answer{Outcome: semaphore.Refreshed, Permit: &semaphore.Permit{Token: 1}}, nil
		}
		return keeper.Answer{Outcome: semaphore.Denied, Denial: &keeper.Denial{
			Decision: semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.NoFreePermit}, RetryAfter: time.Second,
		}}, nil
	}
	m := &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Identity: testIdentity()}
	reply := must(g.permits.TryAcquire(ctx(t), m))(t)
	if d := reply.GetDenial(); d.GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT || d.GetRetryAfter().AsDuration() != time.Second {
		t.Errorf("TryAcquire() = %v, want a denial with a retry time", reply)
	}
	m.Weight = 2
	if reply, err := g.permits.TryAcquire(ctx(t), m); err != nil || !reply.GetGrant().GetRefreshed() {
		t.Errorf("TryAcquire() = %v, %v; want a refresh", reply, err)
	}
}

func TestTryAcquire_CallersContext_IsPassedToKeeper(t *testing.T) {
	g := open(t)
	began, ended := make(chan struct{}), make(chan error, 1)
	g.keeper.tryAcquire = func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return keeper.Answer{}, ctx.Err()
	}
	c, cancel := context.WithCancel(ctx(t))
	go func() { <-began; cancel() }()
	_, err := g.permits.TryAcquire(c, &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Identity: testIdentity()})
	if status.Code(err) != codes.Canceled {
		t.Errorf("TryAcquire() = %v, want Canceled", err)
	}
	if err := receiveFrom(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the keeper's context ended with %v, want Canceled", err)
	}
}

func TestRefresh_ResultsInOrder_DurationOnlyWhenRefreshed(t *testing.T) {
	g := open(t)
	g.keeper.refresh = func(_ context.Context, received time.Time, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		if received.IsZero() || len(tokens) != 2 || tokens[1] != (keeper.TokenRefresh{Token: 2, Duration: time.Second}) {
			t.Errorf("keeper called with %v received at %v", tokens, received)
		}
		return []keeper.TokenResult{
			{Token: 1, Status: keeper.StatusRefreshed, Duration: time.Minute},
			{Token: 2, Status: keeper.StatusStopping, Duration: time.Minute, Stop: semaphore.StopPaused, Message: "m"},
		}, nil
	}
	reply := must(g.permits.Refresh(ctx(t), &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{
		{Token: 1, Duration: durationpb.New(time.Minute)}, {Token: 2, Duration: durationpb.New(time.Second)},
	}}))(t)
	r := reply.GetResults()
	if len(r) != 2 || r[0].GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED || r[0].GetDuration().AsDuration() != time.Minute ||
		r[1].GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING || r[1].GetDuration() != nil ||
		r[1].GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_PAUSED || r[1].GetMessage() != "m" {
		t.Errorf("Refresh() returned %v", r)
	}
}

func TestReleaseRevokeClearCancel_PassRequestToKeeper(t *testing.T) {
	g := open(t)
	var jobs []semaphore.JobEnd
	g.keeper.release = func(cmd fsm.Release) (fsm.ReleaseResult, error) {
		jobs = append(jobs, cmd.Job)
		return fsm.ReleaseResult{Released: cmd.Token == 3, Revision: 5}, nil
	}
	for outcome := range gatekeeperv1.ReleaseOutcome(len(gatekeeperv1.ReleaseOutcome_name)) {
		released, err := g.permits.Release(ctx(t), &gatekeeperv1.ReleaseRequest{Token: 3, Outcome: outcome})
		if err != nil || !released.GetReleased() || released.GetRevision() != 5 {
			t.Errorf("Release() with outcome %s = %v, %v", outcome, released, err)
		}
	}
	if want := []semaphore.JobEnd{semaphore.JobDone, semaphore.JobDone, semaphore.JobNotRun, semaphore.JobCutShort, semaphore.JobFailed}; !slices.Equal(jobs, want) {
		t.Errorf("job ends = %v, want %v", jobs, want)
	}

	var received []string
	g.keeper.operator = func(verb string, token uint64, author, reason string) (fsm.PermitResult, error) {
		received = append(received, verb, author, reason)
		if token == 9 {
			return fsm.PermitResult{}, &keeper.NoSuchPermitError{Token: 9, Why: "no such permit"}
		}
		return fsm.PermitResult{Permit: &semaphore.Permit{Token: token, Stop: semaphore.StopRevoked}, Revision: 6}, nil
	}
	revoked, err := g.permits.Revoke(ctx(t), &gatekeeperv1.RevokeRequest{Token: 3, Reason: "stuck\nfor hours"})
	if err != nil || revoked.GetPermit().GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_REVOKED || revoked.GetRevision() != 6 {
		t.Errorf("Revoke() = %v, %v", revoked, err)
	}
	cleared, err := g.permits.Clear(ctx(t), &gatekeeperv1.ClearRequest{Token: 3, Author: "ann@host"})
	if err != nil || cleared.GetRevision() != 6 {
		t.Errorf("Clear() = %v, %v", cleared, err)
	}
	_, err = g.permits.Clear(ctx(t), &gatekeeperv1.ClearRequest{Token: 9})
	if info := want(t, err, codes.NotFound, "NO_SUCH_PERMIT"); info["token"] != "9" {
		t.Errorf("Clear() error metadata = %v, want token 9", info)
	}
	if len(received) != 9 || received[1] != "unknown" || received[2] != "stuck\nfor hours" || received[4] != "ann@host" {
		t.Errorf("keeper calls = %q", received)
	}

	g.keeper.cancel = func(sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error) {
		if sem != "s" || id.Acquirer != "host" || id.Group != "default" || requestID != "r" {
			t.Errorf("keeper called with %s %v %s", sem, id, requestID)
		}
		return fsm.CancelResult{ReturnedPermit: &semaphore.Permit{}, Revision: 8}, nil
	}
	cancelled, err := g.permits.Cancel(ctx(t), &gatekeeperv1.CancelRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})
	if err != nil || !cancelled.GetReleased() || cancelled.GetRevision() != 8 {
		t.Errorf("Cancel() = %v, %v", cancelled, err)
	}
}

func TestListHolders_Pages_ListEachPermitOnce(t *testing.T) {
	g := open(t)
	g.create("a", "b", "c", "other")
	var tokens []uint64
	for _, sem := range []string{"c", "a", "other", "b"} {
		p := g.grant(t, sem, "host")
		if sem != "other" {
			tokens = append(tokens, p.Token)
		}
	}
	g.keeper.remaining = map[uint64]time.Duration{tokens[1]: 5 * time.Second}
	var got []*gatekeeperv1.Permit
	m := &gatekeeperv1.ListHoldersRequest{Names: []string{"?"}, PageSize: 2}
	for pages := 1; ; pages++ {
		reply := must(g.permits.ListHolders(ctx(t), m))(t)
		if reply.GetRevision() != g.keeper.machine.State().Revision() {
			t.Errorf("ListHolders() revision = %d, want the current revision", reply.GetRevision())
		}
		got = append(got, reply.GetPermits()...)
		if m.PageToken = reply.GetNextPageToken(); m.GetPageToken() == "" {
			if pages != 2 {
				t.Errorf("ListHolders() returned %d pages, want 2", pages)
			}
			break
		}
	}
	if len(got) != 3 || got[0].GetSemaphore() != "a" || got[1].GetSemaphore() != "b" || got[2].GetSemaphore() != "c" {
		t.Fatalf("ListHolders() returned %v, want the permits of a, b and c", got)
	}
	if got[0].GetExpiresIn().AsDuration() != 5*time.Second || got[1].GetExpiresIn() != nil {
		t.Errorf("ListHolders() returned expires_in %v and %v", got[0].GetExpiresIn(), got[1].GetExpiresIn())
	}
}

func TestListWaiters_FiltersByName(t *testing.T) {
	g := open(t)
	g.keeper.waiters = []keeper.Waiter{
		{Semaphore: "a", Identity: semaphore.Identity{Group: "g", Acquirer: "x"}, Weight: 2, Place: 1, Waiting: time.Second, RequestID: "r", Cursor: queue.Cursor{Semaphore: "a", Seq: 1}},
		{Semaphore: "b", Place: 1, Cursor: queue.Cursor{Semaphore: "b", Seq: 2}},
	}
	reply := must(g.permits.ListWaiters(ctx(t), &gatekeeperv1.ListWaitersRequest{Names: []string{"a"}}))(t)
	w := reply.GetWaiters()
	if len(w) != 1 || w[0].GetIdentity().GetAcquirer() != "x" || w[0].GetPlace() != 1 || w[0].GetWaiting().AsDuration() != time.Second ||
		w[0].GetRequestId() != "r" || w[0].GetWeight() != 2 {
		t.Errorf("ListWaiters() returned %v", w)
	}
	g.keeper.notLeader = &consensus.NotLeaderError{}
	_, err := g.permits.ListWaiters(ctx(t), &gatekeeperv1.ListWaitersRequest{})
	want(t, err, codes.Unavailable, "NO_LEADER")
}

func TestListWaiters_Pages_ListEachWaiterOnce(t *testing.T) {
	g := open(t)
	for i, group := range []string{"prod", "drc", "prod", "drc", "prod"} {
		g.keeper.waiters = append(g.keeper.waiters, keeper.Waiter{
			Semaphore: "a", Identity: semaphore.Identity{Group: group, Acquirer: fmt.Sprint(i)}, Place: i + 1,
			Cursor: queue.Cursor{Semaphore: "a", Rank: -1, Seq: uint64(i + 1)},
		})
	}
	for group, expected := range map[string]string{"": "0 1 2 3 4 ", "prod": "0 2 4 ", "drc": "1 3 ", "dev": ""} {
		for size := uint32(1); size <= 6; size++ {
			got := ""
			for token := ""; ; {
				reply, err := g.permits.ListWaiters(ctx(t), &gatekeeperv1.ListWaitersRequest{Group: group, PageSize: size, PageToken: token})
				if err != nil || len(reply.GetWaiters()) > int(size) {
					t.Fatal(reply, err)
				}
				for _, w := range reply.GetWaiters() {
					got += w.GetIdentity().GetAcquirer() + " "
				}
				if token = reply.GetNextPageToken(); token == "" {
					break
				}
			}
			if got != expected {
				t.Errorf("group %q with page size %d: got %s, want %s", group, size, got, expected)
			}
		}
	}
}

func TestAcquire_SendsPlacesThenFinalResponse(t *testing.T) {
	g := open(t)
	var answer keeper.Answer
	g.keeper.acquire = func(_ context.Context, c *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error) {
		if c.WaitedBefore != time.Minute || c.RequestID != "r" || c.Received.IsZero() {
			t.Errorf("keeper called with %+v", c)
		}
		for place := 2; place > 0; place-- {
			if err := progress(keeper.Place{Place: place, QueueLength: 3}); err != nil {
				return keeper.Answer{}, err
			}
		}
		return answer, nil
	}
	for name, c := range map[string]struct {
		answer keeper.Answer
		check  func(*gatekeeperv1.AcquireResponse) bool
	}{
		"granted": {
			keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Token: 4}, Waited: time.Second},
			func(r *gatekeeperv1.AcquireResponse) bool {
				return r.GetGrant().GetPermit().GetToken() == 4 && r.GetGrant().GetWaited().AsDuration() == time.Second
			},
		},
		"denied": {
			keeper.Answer{Outcome: semaphore.Denied, Denial: &keeper.Denial{Decision: semaphore.Decision{Reason: semaphore.Cordoned}}},
			func(r *gatekeeperv1.AcquireResponse) bool {
				return r.GetDenial().GetReason() == gatekeeperv1.Reason_REASON_CORDONED
			},
		},
		"repeat": {
			keeper.Answer{Repeat: &keeper.Place{Place: 1, QueueLength: 2}},
			func(r *gatekeeperv1.AcquireResponse) bool {
				return r.GetPlace().GetRepeat() && r.GetPlace().GetPlace() == 1 && r.GetPlace().GetQueueLength() == 2
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			answer = c.answer
			stream := must(g.permits.Acquire(ctx(t), &gatekeeperv1.AcquireRequest{
				Semaphore: "s", Identity: testIdentity(), RequestId: "r", WaitedBefore: durationpb.New(time.Minute),
			}))(t)
			for place := uint32(2); place > 0; place-- {
				r, err := stream.Recv()
				if err != nil || r.GetPlace().GetPlace() != place || r.GetPlace().GetRepeat() {
					t.Fatalf("Recv() = %v, %v; want place %d", r, err, place)
				}
			}
			last, err := stream.Recv()
			if err != nil || !c.check(last) {
				t.Errorf("last message = %v, %v", last, err)
			}
			if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
				t.Errorf("Recv() after the final response: got %v, want io.EOF", err)
			}
		})
	}
}

func TestAcquire_Error_EndsStreamWithStatus(t *testing.T) {
	g := open(t)
	g.keeper.acquire = func(context.Context, *keeper.AcquireCall, func(keeper.Place) error) (keeper.Answer, error) {
		return keeper.Answer{}, &keeper.RequestEndedError{Remembered: fsm.Remembered{Outcome: semaphore.EndCancelled, Token: 3}}
	}
	err := acquire(&gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"})(ctx(t), g)
	if info := want(t, err, codes.FailedPrecondition, "REQUEST_ENDED"); info["how"] != "cancelled" || info["token"] != "3" {
		t.Errorf("Acquire() error metadata = %v, want how=cancelled and token=3", info)
	}
}

func TestVerify_PassesRequestToKeeper_ReturnsRemainingTime(t *testing.T) {
	g := open(t)
	g.keeper.remaining = map[uint64]time.Duration{3: 20 * time.Second}
	g.keeper.verify = func(sem string, token uint64) (keeper.Verification, error) {
		switch {
		case token == 4:
			return keeper.Verification{}, consensus.ErrNotConfirmed
		case sem != "job":
			return keeper.Verification{Message: "another semaphore", Revision: 8}, nil
		}
		return keeper.Verification{
			Valid: true, Permit: &semaphore.Permit{Semaphore: sem, Token: token, State: semaphore.Live, Stop: semaphore.StopPaused}, Message: "m", Revision: 9,
		}, nil
	}
	reply, err := g.permits.Verify(ctx(t), &gatekeeperv1.VerifyRequest{Semaphore: "job", Token: 3})
	if err != nil || !reply.GetValid() || reply.GetPermit().GetToken() != 3 || reply.GetPermit().GetExpiresIn().AsDuration() != 20*time.Second ||
		reply.GetPermit().GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_PAUSED || reply.GetMessage() != "m" || reply.GetRevision() != 9 {
		t.Errorf("Verify() = %v, %v; want a valid permit with 20 s left", reply, err)
	}
	reply, err = g.permits.Verify(ctx(t), &gatekeeperv1.VerifyRequest{Token: 3})
	if err != nil || reply.GetValid() || reply.GetPermit() != nil || reply.GetMessage() != "another semaphore" || reply.GetRevision() != 8 {
		t.Errorf("Verify() = %v, %v; want an invalid result without a permit", reply, err)
	}
	_, err = g.permits.Verify(ctx(t), &gatekeeperv1.VerifyRequest{Token: 4})
	want(t, err, codes.Unavailable, reasonNotConfirmed)
}
