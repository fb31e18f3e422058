package gatekeeper

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A host takes over a firing from a dead holder and runs it. Two streams follow the firing, one of them with the dead
// holder's token.
func TestTakeOver_DeadHolder_HandsOverFiringAndNotifies(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{
		Name: "nightly", Takeover: true, MaxAttempts: 2, GroupPattern: new("prod"),
	}}); err != nil {
		t.Fatal(err)
	}
	firing := &gatekeeperv1.Firing{Name: "f"}
	acquire := func(host string) uint64 {
		t.Helper()
		r, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
			Semaphore: "nightly", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: host}, Firing: firing, RequestId: host,
		})
		if err != nil || r.GetGrant() == nil {
			t.Fatalf("TryAcquire() = %v, %v, want a grant", r, err)
		}
		return r.GetGrant().GetPermit().GetToken()
	}
	dead := acquire("dead")
	follow := func(token uint64) func(want gatekeeperv1.FiringState) *gatekeeperv1.FiringClaim {
		stream, err := c.AwaitFiring(bounded(t), &gatekeeperv1.AwaitFiringRequest{Semaphore: "nightly", Firing: firing, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return func(want gatekeeperv1.FiringState) *gatekeeperv1.FiringClaim {
			t.Helper()
			r, err := stream.Recv()
			if err != nil || r.GetClaim().GetState() != want {
				t.Fatalf("AwaitFiring stream = %v, %v, want state %v", r, err, want)
			}
			return r.GetClaim()
		}
	}
	nextForDead, nextForAny := follow(dead), follow(0)
	nextForDead(gatekeeperv1.FiringState_FIRING_STATE_CLAIMED)
	nextForAny(gatekeeperv1.FiringState_FIRING_STATE_CLAIMED)

	takeOver := func(group string, token uint64) (*gatekeeperv1.TakeOverResponse, error) {
		return c.TakeOver(bounded(t), &gatekeeperv1.TakeOverRequest{
			Token: token, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "successor"}, Reason: "it is not responding",
		})
	}
	if _, err := takeOver("dr", dead); status.Code(err) != codes.FailedPrecondition && status.Code(err) != codes.InvalidArgument {
		t.Errorf("takeover by a group that is not admitted = %v, want FailedPrecondition or InvalidArgument", err)
	}
	r, err := takeOver("prod", dead)
	if err != nil || r.GetPermit().GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER {
		t.Fatalf("takeover = %v, %v, want TAKEN_OVER", r, err)
	}
	if again, err := takeOver("prod", dead); err != nil || again.GetPermit().GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER {
		t.Errorf("second takeover = %v, %v, want TAKEN_OVER", again, err)
	}
	// If the holder is known to be dead, an operator can free its permit before the deadline.
	if _, err := c.Revoke(bounded(t), &gatekeeperv1.RevokeRequest{Token: dead, UnsafeNow: true, Author: "ann"}); err != nil {
		t.Fatal(err)
	}
	nextForDead(gatekeeperv1.FiringState_FIRING_STATE_OPEN) // even though firing_on_loss is SPENT
	nextForAny(gatekeeperv1.FiringState_FIRING_STATE_OPEN)
	successor := acquire("successor")
	nextForDead(gatekeeperv1.FiringState_FIRING_STATE_TAKEN_OVER)
	if claim := nextForAny(gatekeeperv1.FiringState_FIRING_STATE_CLAIMED); claim.GetToken() != successor || claim.GetAttempts() != 2 {
		t.Errorf("claim after the takeover = %v, want the second attempt", claim)
	}
	if _, err := c.Release(bounded(t), &gatekeeperv1.ReleaseRequest{
		Token: successor, Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, Failure: "exit code 3\n",
	}); err != nil {
		t.Fatal(err)
	}
	if claim := nextForAny(gatekeeperv1.FiringState_FIRING_STATE_FAILED); claim.GetFailure() != "exit code 3" {
		t.Errorf("claim of the failed firing = %v, want failure exit code 3", claim)
	}
	if _, err := takeOver("prod", successor); status.Code(err) != codes.NotFound {
		t.Errorf("takeover of an ended permit = %v, want NotFound", err)
	}
}
