package api

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// leaderPoll is the initial interval at which a waiting call checks for a leader. The interval doubles with each
// attempt, because a leader that was elected but is not ready yet refuses calls.
const leaderPoll = 20 * time.Millisecond

// leaderWait holds a call that could not be forwarded, until this server knows a leader that it has not tried. An
// election is usually over before a refused client would retry. Zero values mean that the call has not waited yet.
type leaderWait struct {
	*forwarder
	until time.Time
	poll  time.Duration
}

// retry waits after a failed attempt, and reports whether to make another. It does not wait after an attempt that the
// leader may have received, or for a call that another server forwarded, because that server waits itself.
func (w *leaderWait) retry(ctx context.Context, m *method, err error) bool {
	tried, ok := withoutLeader(err)
	if !ok || !m.waitsForLeader() || len(metadata.ValueFromIncomingContext(ctx, HopHeader)) > 0 {
		return false
	}
	if w.until.IsZero() {
		limit := w.leaderWait
		if deadline, ok := ctx.Deadline(); ok {
			limit = min(limit, time.Until(deadline)-limit) // leave time for the error, which says why nothing was done
		}
		w.until = time.Now().Add(limit)
	}
	w.poll = max(leaderPoll, 2*w.poll)
	for time.Now().Before(w.until) {
		select {
		case <-time.After(w.poll):
		case <-ctx.Done():
			return false
		}
		if leader := w.consensus.Leader(); leader.ID != "" && leader != tried {
			return true
		}
	}
	return false
}

// withoutLeader reports whether a call failed because no leader is known or ready, or because the leader could not be
// reached, so that nothing was done. tried is the leader that could not be reached.
func withoutLeader(err error) (tried consensus.Leader, ok bool) {
	if e, ok := errors.AsType[*unreachableError](err); ok {
		return e.leader, true
	}
	if e, ok := errors.AsType[*consensus.NotLeaderError](err); ok {
		return consensus.Leader{}, e.Leader.ID == ""
	}
	return consensus.Leader{}, reasonOf(status.Convert(err)) == reasonNoLeader
}
