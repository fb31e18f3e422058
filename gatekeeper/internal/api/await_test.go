package api

import (
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// openHandover returns a gate with a semaphore "s" whose lost firings can be claimed again.
func openHandover(t *testing.T) *gate {
	t.Helper()
	g := open(t)
	g.keeper.do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
	d := definition("s")
	d.Permits, d.FiringOnLoss, d.FiringMaxAhead = 10, semaphore.FiringFree, semaphore.FiringUnbounded
	g.keeper.do(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: d}}})
	return g
}

func awaitFiring(t *testing.T, g *gate, f semaphore.Firing, token uint64) grpc.ServerStreamingClient[gatekeeperv1.AwaitFiringResponse] {
	t.Helper()
	m := &gatekeeperv1.AwaitFiringRequest{Semaphore: "s", Firing: &gatekeeperv1.Firing{Name: f.Name}, Token: token}
	if !f.Due.IsZero() {
		m.Firing.Due = timestamppb.New(f.Due)
	}
	return must(g.permits.AwaitFiring(ctx(t), m))(t)
}

func wantState(t *testing.T, stream grpc.ServerStreamingClient[gatekeeperv1.AwaitFiringResponse], want gatekeeperv1.FiringState, token uint64) {
	t.Helper()
	if c := must(stream.Recv())(t).GetClaim(); c.GetState() != want || c.GetToken() != token {
		t.Errorf("got claim %v, want state %v with token %d", c, want, token)
	}
}

// A caller passes the token of a claim to a server that has applied only an earlier claim. The earlier claim must not
// be reported as a takeover.
func TestAwaitFiring_OlderClaim_KeepsWaiting(t *testing.T) {
	g := openHandover(t)
	f := semaphore.Firing{Name: "f"}
	old := g.claim(t, f, false)
	g.keeper.do(fsm.Expire{Token: old, Term: 1})
	stream := awaitFiring(t, g, f, old+1)
	wantState(t, stream, gatekeeperv1.FiringState_FIRING_STATE_OPEN, 0)
	token := g.claim(t, f, false)
	wantState(t, stream, gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, token)
	g.keeper.do(fsm.Release{Token: token, Job: semaphore.JobFailed})
	wantState(t, stream, gatekeeperv1.FiringState_FIRING_STATE_FAILED, token)
}

func TestAwaitFiring_ReportsStatesUntilDone(t *testing.T) {
	g := openHandover(t)
	f := semaphore.Firing{Name: "f"}
	token := g.claim(t, f, false)
	firstClaim, anyClaim := awaitFiring(t, g, f, token), awaitFiring(t, g, f, 0)
	wantState(t, firstClaim, gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, token)
	wantState(t, anyClaim, gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, token)
	g.keeper.do(fsm.Release{Token: token, Job: semaphore.JobCutShort})
	wantState(t, firstClaim, gatekeeperv1.FiringState_FIRING_STATE_OPEN, token)
	wantState(t, anyClaim, gatekeeperv1.FiringState_FIRING_STATE_OPEN, token)
	next := g.claim(t, f, false)
	wantState(t, firstClaim, gatekeeperv1.FiringState_FIRING_STATE_TAKEN_OVER, next)
	wantState(t, anyClaim, gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, next)
	g.keeper.do(fsm.Release{Token: next})
	wantState(t, anyClaim, gatekeeperv1.FiringState_FIRING_STATE_DONE, next)
}

// A forgotten firing can no longer be claimed, so waiting callers must be notified.
func TestAwaitFiring_ForgottenFiring_Ends(t *testing.T) {
	g := openHandover(t)
	f := semaphore.Firing{Name: "f", Due: time.Now().UTC().Truncate(time.Second)}
	token := g.claim(t, f, false)
	g.keeper.do(fsm.Expire{Token: token, Term: 1})
	stream := awaitFiring(t, g, f, token)
	wantState(t, stream, gatekeeperv1.FiringState_FIRING_STATE_OPEN, token)
	forgetUpTo(g, f.Due)
	wantState(t, stream, gatekeeperv1.FiringState_FIRING_STATE_FORGOTTEN, 0)
}
