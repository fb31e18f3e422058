package gatekeeper

import (
	"context"
	"log/slog"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// voteCheckInterval is how often a member without a vote checks whether it has since received one, or whether there is
// a new leader to ask for one.
const voteCheckInterval = time.Second

// membership is a joining server's view of its cluster; consensus.Node implements it.
type membership interface {
	Members() ([]consensus.Member, error)
	Leader() consensus.Leader
}

// askForVote asks each term's leader once for a vote, until this server has one or ctx ends. A leader promotes a joiner
// to voter when its log has caught up, but does not pass this task on to the next leader. Without askForVote, a
// failover would leave the joiner without a vote and the cluster with one voter fewer than its operator expects.
func (j *joiner) askForVote(ctx context.Context, m membership, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for lastAsked := uint64(0); !j.hasVote(m); {
		if leader := m.Leader(); leader.ID != "" && leader.Term > lastAsked && j.sendToAny(ctx) {
			lastAsked = leader.Term
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// hasVote reports whether this server has a vote, as far as it knows.
func (j *joiner) hasVote(m membership) bool {
	members, err := m.Members()
	if err != nil {
		return false // an extra request is harmless
	}
	for _, member := range members {
		if member.ID == j.id {
			return member.Voter
		}
	}
	return false
}

// sendToAny asks each server in turn until one responds. A refusal counts as a response.
func (j *joiner) sendToAny(ctx context.Context) bool {
	for _, server := range j.servers {
		_, err := j.sendRequest(ctx, server, false)
		switch {
		case err == nil:
			return true
		case joinRefused(err):
			j.log.Warn("this member has no vote, and its request for one was refused", slog.Any("error", err))
			return true
		case ctx.Err() != nil:
			return false
		}
		j.log.Warn("this member has no vote and cannot ask for one yet", slog.String("server", server), slog.Any("error", err))
	}
	return false
}
