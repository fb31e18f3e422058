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

// errorInfo returns the ErrorInfo detail of an error, or nil if it has none.
func errorInfo(err error) *errdetails.ErrorInfo {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// openWithRequestBounds opens a server with the given limits on its request memory.
func openWithRequestBounds(t *testing.T, bounds fsm.RequestBounds) (*Server, caller) {
	t.Helper()
	s, c := openAtNewestLevel(t)
	settings := s.machine.State().Settings()
	settings.Requests = bounds
	if o := s.batcher.Do(bounded(t), fsm.Configure{Settings: settings}); o.Err != nil {
		t.Fatal(o.Err)
	}
	return s, c
}

func acquireRequest(name, id string) *gatekeeperv1.TryAcquireRequest {
	return &gatekeeperv1.TryAcquireRequest{Semaphore: name, Identity: &gatekeeperv1.Identity{Acquirer: "app1", HolderId: "h"}, RequestId: id}
}

// acquireAndRelease acquires a permit, releases it, and returns it.
func (c caller) acquireAndRelease(t *testing.T, m *gatekeeperv1.TryAcquireRequest) *gatekeeperv1.Permit {
	t.Helper()
	a, err := c.TryAcquire(bounded(t), m)
	if err != nil || a.GetGrant() == nil {
		t.Fatalf("TryAcquire(%s) on %s = %v, %v, want a grant", m.GetRequestId(), m.GetSemaphore(), a, err)
	}
	c.release(t, a.GetGrant().GetPermit())
	return a.GetGrant().GetPermit()
}

// A request whose permit was released is not granted again, even if the request memory is small and many other requests
// follow.
func TestRequestID_BusyOtherSemaphore_IsNotGrantedTwice(t *testing.T) {
	t.Parallel()
	s, c := openWithRequestBounds(t, fsm.RequestBounds{RequestBytes: 8192})
	c.create(t, "quiet")
	c.create(t, "busy")
	c.acquireAndRelease(t, acquireRequest("quiet", "first"))
	for i := range 300 {
		c.acquireAndRelease(t, acquireRequest("busy", fmt.Sprint(i)))
	}
	if requests, _, bytes, _ := s.machine.State().RequestMemory(); requests > 40 || bytes > 8192 {
		t.Fatalf("got %d remembered requests in %d bytes, want at most 40 in 8192", requests, bytes)
	}
	_, err := c.TryAcquire(bounded(t), acquireRequest("quiet", "first"))
	if info := errorInfo(err); status.Code(err) != codes.FailedPrecondition || info.GetReason() != "REQUEST_ENDED" {
		t.Errorf("retried request = %v, want REQUEST_ENDED", err)
	}
}

// A forgotten request is rejected if it carries a revision. The error contains the revision for a new request.
func TestRequestID_Forgotten_IsRejectedAsTooOld(t *testing.T) {
	t.Parallel()
	s, c := openWithRequestBounds(t, fsm.RequestBounds{RequestBytes: 4096})
	c.create(t, "job")
	baseRevision := s.machine.State().Revision()
	first := acquireRequest("job", "first")
	first.RequestRevision = baseRevision
	c.acquireAndRelease(t, first)
	for i := range 50 {
		m := acquireRequest("job", fmt.Sprint(i))
		m.RequestRevision = s.machine.State().Revision()
		c.acquireAndRelease(t, m)
	}
	_, err := c.TryAcquire(bounded(t), first)
	info := errorInfo(err)
	if status.Code(err) != codes.FailedPrecondition || info.GetReason() != "REQUEST_TOO_OLD" {
		t.Fatalf("forgotten request = %v, want REQUEST_TOO_OLD", err)
	}
	now := acquireRequest("job", "again")
	if _, err := fmt.Sscan(info.GetMetadata()["revision"], &now.RequestRevision); err != nil {
		t.Fatal(err)
	}
	c.acquireAndRelease(t, now)
	first.RequestRevision, first.RequestId = 0, "unaware"
	c.acquireAndRelease(t, first)
}

func TestRequestID_Reused_IsRejected(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	c.create(t, "job")
	c.acquireAndRelease(t, acquireRequest("job", "r"))
	other := acquireRequest("job", "r")
	other.Firing = &gatekeeperv1.Firing{Name: "f"}
	if _, err := c.TryAcquire(bounded(t), other); status.Code(err) != codes.InvalidArgument || errorInfo(err).GetReason() != "REQUEST_REUSED" {
		t.Errorf("reused request id = %v, want REQUEST_REUSED", err)
	}
}

// A waiting request is granted even if other requests from after its revision have been forgotten.
func TestAcquire_OtherRequestsForgottenWhileWaiting_IsGranted(t *testing.T) {
	t.Parallel()
	s, c := openWithRequestBounds(t, fsm.RequestBounds{RequestBytes: 4096})
	permits := uint32(2)
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "job", Permits: &permits},
	}); err != nil {
		t.Fatal(err)
	}
	held := c.grant(t, "job", "holder")
	baseRevision := s.machine.State().Revision()
	waiting, err := c.Acquire(bounded(t), &gatekeeperv1.AcquireRequest{
		Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "patient"}, Weight: 2, RequestId: "w", RequestRevision: baseRevision,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := waiting.Recv(); err != nil || r.GetPlace().GetPlace() != 1 {
		t.Fatalf("Acquire stream = %v, %v, want place 1", r, err)
	}
	// No request can overtake the waiter, but cancelled requests are remembered too.
	for i := range 50 {
		if _, err := c.Cancel(bounded(t), &gatekeeperv1.CancelRequest{
			Semaphore: "job", Identity: &gatekeeperv1.Identity{Acquirer: "other"}, RequestId: fmt.Sprint(i),
		}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 { // wake the waiter periodically, as a moving queue would
			if _, err := c.setPermits(t, "job", 2); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s.machine.State().Forgotten("job") <= baseRevision {
		t.Fatal("no requests were forgotten")
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

// setPermits changes only a definition's number of permits.
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

// Edit e1 is followed by another client's edit e2. A retry of e1 must not overwrite e2.
func TestEdit_RetriedAfterLaterEdit_ReturnsFirstResponse(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
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
		t.Fatalf("retried edit = %v, %v, want the first response, %v", again, err, first)
	}
	deletion := &gatekeeperv1.DeleteDefinitionRequest{Name: "job", ExpectedVersion: first.GetRecord().GetVersion() + 1, RequestId: "d"}
	c.grant(t, "job", "holder")
	deleted, err := c.DeleteDefinition(bounded(t), deletion)
	if err != nil || deleted.GetLivePermits() != 1 {
		t.Fatalf("DeleteDefinition() = %v, %v, want one live permit", deleted, err)
	}
	c.create(t, "job")
	if again, err := c.DeleteDefinition(bounded(t), deletion); err != nil || again.GetRevision() != deleted.GetRevision() || again.GetLivePermits() != 1 {
		t.Errorf("retried DeleteDefinition() = %v, %v, want the first response", again, err)
	}
}

func TestResume_NothingPaused_RetryDoesNotLiftLaterPause(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	c.create(t, "job")
	all := &gatekeeperv1.Selector{All: true}
	for _, selector := range []*gatekeeperv1.Selector{all, byName("job"), byName("j*")} {
		resume := &gatekeeperv1.ResumeRequest{Selector: selector, RequestId: fmt.Sprint("r", selector)}
		if r, err := c.Resume(bounded(t), resume); err != nil || r.GetRevision() != 0 {
			t.Fatalf("Resume() without a pause = %v, %v, want no change", r, err)
		}
		if _, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: all}); err != nil {
			t.Fatal(err)
		}
		if r, err := c.Resume(bounded(t), resume); err != nil || r.GetRevision() != 0 || len(r.GetNames()) > 0 {
			t.Errorf("%v: retried Resume() = %v, %v, want no change", selector, r, err)
		}
		got, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "job"})
		if err != nil || got.GetRecord().GetPause() == nil {
			t.Fatalf("%v: the retried Resume() ended the later pause, %v", selector, err)
		}
		if r, err := c.Resume(bounded(t), &gatekeeperv1.ResumeRequest{Selector: all}); err != nil || r.GetRevision() == 0 {
			t.Fatalf("Resume() = %v, %v, want a change", r, err)
		}
	}
}

// Concurrent attempts at a resume all get the same response.
func TestResume_RetriedWhileInProgress_ReturnsSameResponse(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	c.create(t, "job")
	for i := range 30 {
		paused, err := c.Pause(bounded(t), &gatekeeperv1.PauseRequest{Selector: byName("job")})
		if err != nil {
			t.Fatal(err)
		}
		ctx := bounded(t)
		var responses [4]*gatekeeperv1.ResumeResponse
		var attempts sync.WaitGroup
		for n := range responses {
			attempts.Go(func() {
				var err error
				if responses[n], err = c.Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: byName("job"), RequestId: fmt.Sprint("r", i)}); err != nil {
					t.Error(err)
				}
			})
		}
		attempts.Wait()
		for _, r := range responses {
			if r.GetRevision() != paused.GetRevision()+1 || len(r.GetNames()) != 1 {
				t.Fatalf("round %d: paused by change %d, Resume() = %v, want the next change in all responses", i, paused.GetRevision(), responses)
			}
		}
	}
}
