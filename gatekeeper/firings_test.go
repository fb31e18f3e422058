package gatekeeper

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A host whose clock was a year ahead has evicted a semaphore's current firings, so every correct firing is denied as
// forgotten. ForgetFirings repairs this, an undo reverts the repair, and another undo restores it.
func TestForgetFirings_FutureFirings_AllowsCurrentFiring(t *testing.T) {
	t.Parallel()
	s, c := openAtNewestLevel(t)
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "nightly", FiringMaxAhead: durationpb.New(0)},
	}); err != nil {
		t.Fatal(err)
	}
	try := func(due time.Time) *gatekeeperv1.TryAcquireResponse {
		t.Helper()
		a, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
			Semaphore: "nightly", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "host"},
			Firing: &gatekeeperv1.Firing{Name: "f", Due: timestamppb.New(due)}, RequestId: due.String() + time.Now().String(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if token := a.GetGrant().GetPermit().GetToken(); token != 0 {
			if _, err := c.Release(bounded(t), &gatekeeperv1.ReleaseRequest{Token: token}); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	forgotten := func(due time.Time) bool {
		t.Helper()
		return try(due).GetDenial().GetReason() == gatekeeperv1.Reason_REASON_FIRING_FORGOTTEN
	}
	soon, year := time.Now().UTC().Add(time.Minute), time.Now().UTC().Add(365*24*time.Hour)
	for i := range 3 {
		if try(year.Add(time.Duration(i)*time.Hour)).GetGrant() == nil {
			t.Fatal("a firing in the far future was not granted")
		}
	}
	done := make(chan batcher.Outcome, 1)
	s.batcher.Go(fsm.Forget{Semaphore: "nightly", Term: s.machine.State().Term(), UpTo: year}, func(o batcher.Outcome) { done <- o })
	if o := <-done; o.Err != nil || !forgotten(soon) {
		t.Fatalf("Forget: %v, want the current firing denied as forgotten", o.Err)
	}

	r, err := c.ForgetFirings(bounded(t), &gatekeeperv1.ForgetFiringsRequest{Semaphore: "nightly", Ahead: true, Author: "ann"})
	if err != nil || len(r.GetChange().GetFirings()) != 2 || !forgotten(soon.Add(-time.Hour)) {
		t.Fatalf("ForgetFirings() = %v, %v, want two firings forgotten", r, err)
	}
	undone, err := c.Undo(bounded(t), &gatekeeperv1.UndoRequest{Change: r.GetRevision()})
	if err != nil || !forgotten(soon) {
		t.Fatalf("Undo() = %v, %v, want the firing forgotten again", undone, err)
	}
	if again, err := c.Undo(bounded(t), &gatekeeperv1.UndoRequest{Change: undone.GetRevision()}); err != nil || try(soon).GetGrant() == nil {
		t.Errorf("Undo() of the undo = %v, %v, want the firing granted", again, err)
	}
	if list, err := c.ListFirings(bounded(t), &gatekeeperv1.ListFiringsRequest{Semaphore: "nightly"}); err != nil || len(list.GetFirings()) != 1 {
		t.Errorf("ListFirings() = %v, %v, want one", list, err)
	}
}
