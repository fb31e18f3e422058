package gatekeeper

import (
	"context"
	"log/slog"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// voteCheck is how often a member without a vote looks whether it has one now, or whether another leader is to be asked
// for it.
const voteCheck = time.Second

// membership is what a joining server looks at; consensus.Node has it.
type membership interface {
	Members() ([]consensus.Member, error)
	Leader() consensus.Leader
}

// askForVote asks the leader of each term once, as long as this server has no vote, until ctx ends. A leader makes a
// joiner a voter when its log has caught up, but does not pass that on: after a fail-over before that the joiner would
// stay without a vote, and the cluster with one voter fewer than its operator counts on.
func (j *joining) askForVote(ctx context.Context, m membership, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for asked := uint64(0); !j.votes(m); {
		if leader := m.Leader(); leader.ID != "" && leader.Term > asked && j.askAny(ctx) {
			asked = leader.Term
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// votes says whether this server has a vote, as far as it knows.
func (j *joining) votes(m membership) bool {
	members, err := m.Members()
	if err != nil {
		return false // asking once too often does no harm
	}
	for _, member := range members {
		if member.ID == j.id {
			return member.Voter
		}
	}
	return false
}

// askAny asks the servers in turn until one has answered; a refusal is an answer, and is returned.
func (j *joining) askAny(ctx context.Context) bool {
	for _, server := range j.servers {
		_, err := j.askOne(ctx, server, false)
		switch {
		case err == nil:
			return true
		case refused(err):
			j.log.Warn("this member has no vote, and is refused one", slog.Any("error", err))
			return true
		case ctx.Err() != nil:
			return false
		}
		j.log.Warn("this member has no vote and cannot ask for one yet", slog.String("server", server), slog.Any("error", err))
	}
	return false
}
