package gatekeeper

import (
	"fmt"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// errorInfo is what a client decides on.
func errorInfo(err error) *errdetails.ErrorInfo {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// remembering is a server that remembers so much.
func remembering(t *testing.T, bounds fsm.RequestBounds) (*Server, caller) {
	t.Helper()
	s, c := operated(t)
	settings := s.machine.State().Settings()
	settings.Requests = bounds
	if o := s.batcher.Do(bounded(t), fsm.Configure{Settings: settings}); o.Err != nil {
		t.Fatal(o.Err)
	}
	return s, c
}

func once(name, id string) *gatekeeperv1.TryAcquireRequest {
	return &gatekeeperv1.TryAcquireRequest{Semaphore: name, Identity: &gatekeeperv1.Identity{Acquirer: "app1", HolderId: "h"}, RequestId: id}
}

// run acquires and releases.
func (c caller) run(t *testing.T, m *gatekeeperv1.TryAcquireRequest) *gatekeeperv1.Permit {
	t.Helper()
	a, err := c.TryAcquire(bounded(t), m)
	if err != nil || a.GetGrant() == nil {
		t.Fatalf("%s of %s: %v, %v", m.GetRequestId(), m.GetSemaphore(), a, err)
	}
	c.release(t, a.GetGrant().GetPermit())
	return a.GetGrant().GetPermit()
}

// However much others acquire and release, and however little fits into memory, a request that was released is not
// granted again.
func TestRequestID_ManyPairsOnAnotherSemaphore_IsNotGrantedTwice(t *testing.T) {
	t.Parallel()
	s, c := remembering(t, fsm.RequestBounds{RequestBytes: 8192})
	c.create(t, "quiet")
	c.create(t, "busy")
	c.run(t, once("quiet", "first"))
	for i := range 300 {
		c.run(t, once("busy", fmt.Sprint(i)))
	}
	if requests, _, bytes, _ := s.machine.State().RequestMemory(); requests > 40 || bytes > 8192 {
		t.Fatalf("%d requests are remembered, of %d bytes", requests, bytes)
	}
	_, err := c.TryAcquire(bounded(t), once("quiet", "first"))
	if info := errorInfo(err); status.Code(err) != codes.FailedPrecondition || info.GetReason() != "REQUEST_ENDED" {
		t.Errorf("got %v", err)
	}
}

// A request that was forgotten is refused if its caller says how old it is, and a new request id can be drawn from the
// answer.
func TestRequestID_Forgotten_IsRefusedAsTooOld(t *testing.T) {
	t.Parallel()
	s, c := remembering(t, fsm.RequestBounds{RequestBytes: 4096})
	c.create(t, "job")
	drawn := s.machine.State().Revision()
	first := once("job", "first")
	first.RequestRevision = drawn
	c.run(t, first)
	for i := range 50 {
		m := once("job", fmt.Sprint(i))
		m.RequestRevision = s.machine.State().Revision()
		c.run(t, m)
	}
	_, err := c.TryAcquire(bounded(t), first)
	info := errorInfo(err)
	if status.Code(err) != codes.FailedPrecondition || info.GetReason() != "REQUEST_TOO_OLD" {
		t.Fatalf("got %v", err)
	}
	now := once("job", "again")
	if _, err := fmt.Sscan(info.GetMetadata()["revision"], &now.RequestRevision); err != nil {
		t.Fatal(err)
	}
	c.run(t, now)
	first.RequestRevision, first.RequestId = 0, "unaware"
	c.run(t, first)
}

func TestRequestID_ForSomethingElse_IsRefusedAsSuch(t *testing.T) {
	t.Parallel()
	_, c := operated(t)
	c.create(t, "job")
	c.run(t, once("job", "r"))
	other := once("job", "r")
	other.Firing = &gatekeeperv1.Firing{Name: "f"}
	if _, err := c.TryAcquire(bounded(t), other); status.Code(err) != codes.InvalidArgument || errorInfo(err).GetReason() != "REQUEST_REUSED" {
		t.Errorf("got %v", err)
	}
}

// A caller that waits for long is not too old when its turn comes.
func TestAcquire_WaitsWhileOthersAreForgotten_IsGranted(t *testing.T) {
	t.Parallel()
	s, c := remembering(t, fsm.RequestBounds{RequestBytes: 4096})
	permits := uint32(2)
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "job", Permits: &permits},
	}); err != nil {
		t.Fatal(err)
	}
	held := c.grant(t, "job", "holder")
	drawn := s.machine.State().Revision()
	waiting, err := c.Acquire(bounded(t), &gatekeeperv1.AcquireRequest{
		Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "patient"}, Weight: 2, RequestId: "w", RequestRevision: drawn,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := waiting.Recv(); err != nil || r.GetPlace().GetPlace() != 1 {
		t.Fatalf("got %v, %v", r, err)
	}
	// Nobody passes the waiter, but cancelled requests are remembered too.
	for i := range 50 {
		if _, err := c.Cancel(bounded(t), &gatekeeperv1.CancelRequest{
			Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "other"}, RequestId: fmt.Sprint(i),
		}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 { // it is woken now and then, as by a queue that moves
			if _, err := c.setPermits(t, "job", 2); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s.machine.State().Forgotten("job") <= drawn {
		t.Fatal("nothing was forgotten meanwhile")
	}
	c.release(t, held)
	for {
		r, err := waiting.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if r.GetGrant() != nil {
			return
		}
	}
}

// setPermits gives a definition so many permits, and leaves the rest as it is.
func (c caller) setPermits(t *testing.T, name string, permits uint32) (*gatekeeperv1.DefinitionRecord, error) {
	t.Helper()
	got, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: name})
	if err != nil {
		return nil, err
	}
	d := got.GetRecord().GetDefinition()
	d.Permits = &permits
	r, err := c.ReplaceDefinition(bounded(t), &gatekeeperv1.ReplaceDefinitionRequest{Definition: d, ExpectedVersion: got.GetRecord().GetVersion()})
	return r.GetRecord(), err
}

// e1, another client's e2, e1 again: a client that retries e1 and edits its own copy must not overwrite e2.
func TestEdit_RepeatedAfterAnother_IsAnsweredWithItsOwnOutcome(t *testing.T) {
	t.Parallel()
	_, c := operated(t)
	c.create(t, "job")
	got, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "job"})
	if err != nil {
		t.Fatal(err)
	}
	d := got.GetRecord().GetDefinition()
	five := uint32(5)
	d.Permits = &five
	e1 := &gatekeeperv1.ReplaceDefinitionRequest{Definition: d, ExpectedVersion: got.GetRecord().GetVersion(), RequestId: "e1", Author: "ann"}
	first, err := c.ReplaceDefinition(bounded(t), e1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.setPermits(t, "job", 7); err != nil {
		t.Fatal(err)
	}
	again, err := c.ReplaceDefinition(bounded(t), e1)
	if err != nil || again.GetRecord().GetVersion() != first.GetRecord().GetVersion() || again.GetRecord().GetDefinition().GetPermits() != 5 {
		t.Fatalf("got %v, %v; the first got %v", again, err, first)
	}
	deletion := &gatekeeperv1.DeleteDefinitionRequest{Name: "job", ExpectedVersion: first.GetRecord().GetVersion() + 1, RequestId: "d"}
	c.grant(t, "job", "holder")
	gone, err := c.DeleteDefinition(bounded(t), deletion)
	if err != nil || gone.GetLivePermits() != 1 {
		t.Fatalf("got %v, %v", gone, err)
	}
	c.create(t, "job")
	if again, err := c.DeleteDefinition(bounded(t), deletion); err != nil || again.GetRevision() != gone.GetRevision() || again.GetLivePermits() != 1 {
		t.Errorf("got %v, %v", again, err)
	}
}

func TestResume_ThatFoundNothing_Repeated_DoesNotLiftALaterPause(t *testing.T) {
	t.Parallel()
	_, c := operated(t)
	c.create(t, "job")
	all := &gatekeeperv1.Selector{All: true}
	for _, selector := range []*gatekeeperv1.Selector{all, named("job"), named("j*")} {
		resume := &gatekeeperv1.ResumeRequest{Selector: selector, RequestId: fmt.Sprint("r", selector)}
		if r, err := c.Resume(bounded(t), resume); err != nil || r.GetRevision() != 0 {
			t.Fatalf("got %v, %v", r, err)
		}
		if _, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: all}); err != nil {
			t.Fatal(err)
		}
		if r, err := c.Resume(bounded(t), resume); err != nil || r.GetRevision() != 0 || len(r.GetNames()) > 0 {
			t.Errorf("%v: got %v, %v", selector, r, err)
		}
		got, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "job"})
		if err != nil || got.GetRecord().GetPause() == nil {
			t.Fatalf("%v: the later pause was lifted, %v", selector, err)
		}
		if r, err := c.Resume(bounded(t), &gatekeeperv1.ResumeRequest{Selector: all}); err != nil || r.GetRevision() == 0 {
			t.Fatalf("got %v, %v", r, err)
		}
	}
}

// Both attempts of a resume get the same answer, whichever comes first.
func TestResume_RepeatedWhileTheFirstIsUnderWay_IsToldTheSame(t *testing.T) {
	t.Parallel()
	_, c := operated(t)
	c.create(t, "job")
	for i := range 30 {
		paused, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: named("job")})
		if err != nil {
			t.Fatal(err)
		}
		ctx := bounded(t)
		var told [4]*gatekeeperv1.ResumeResponse
		var attempts sync.WaitGroup
		for n := range told {
			attempts.Go(func() {
				var err error
				if told[n], err = c.Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: named("job"), RequestId: fmt.Sprint("r", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		attempts.Wait()
		for _, r := range told {
			if r.GetRevision() != paused.GetRevision()+1 || len(r.GetNames()) != 1 {
				t.Fatalf("round %d: paused by change %d, and got %v", i, paused.GetRevision(), told)
			}
		}
	}
}
