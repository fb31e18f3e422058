package consensus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// Raft does not tell a member that it was removed: the leader sends it the entry but never that the entry was
// committed, and a member that was away does not even get the entry. It would wait for a leader forever. So a member
// that hears from no leader introduces itself to the others again, and a member that knows of its removal answers so.

// removed reports whether a member was certainly removed: its id is retired, and the latest and the committed
// configuration lack it. The latest alone proves nothing. A removal that no majority ever stores is undone by the next
// leader, and a member that had left on its account would be missing from the majority that is needed then.
func (n *Node) removed(id string) bool {
	if !n.started.Load() || !n.cfg.Retired(id) {
		return false
	}
	latest, err := n.servers()
	if err != nil || find(latest, raft.ServerID(id)) != nil {
		return false
	}
	committed, known := n.committed()
	return known && find(committed, raft.ServerID(id)) == nil
}

// committed returns the newest configuration that is known to be committed: that of the newest snapshot, or of an entry
// that was committed since this member started. A member that was just started may know of none.
func (n *Node) committed() (servers []raft.Server, known bool) {
	applied := n.replica.committed.Load()
	snapshots, err := n.stores.snapshots.List()
	switch {
	case err == nil && len(snapshots) > 0 && (applied == nil || snapshots[0].ConfigurationIndex > applied.index):
		return snapshots[0].Configuration.Servers, true
	case applied != nil:
		return applied.servers, true
	}
	return nil, false
}

// Removal is what the removal of a member leaves, as the leader sees it.
type Removal struct {
	// Members are those that remain.
	Members []Member
	// Silent are the ids of the remaining voters that do not answer the leader, sorted.
	Silent []string
	// Already: the member was removed before, and nothing is left to do.
	Already bool

	voter bool // the removed member has a vote
}

// refusal returns why removing id needs force, or nil: too few of the remaining voters answer.
func (r *Removal) refusal(id string) error {
	voters := 0
	for _, m := range r.Members {
		if m.Voter {
			voters++
		}
	}
	if majority := voters/2 + 1; r.voter && voters-len(r.Silent) < majority {
		return &QuorumError{ID: id, Voters: voters, Majority: majority, Silent: r.Silent}
	}
	return nil
}

// PlanRemoval reports what RemoveMember would leave. refusal is the error with which it would be refused unless forced,
// or nil. Errors are those of RemoveMember.
func (n *Node) PlanRemoval(ctx context.Context, id string) (r Removal, refusal, err error) {
	e, servers, unlock, err := n.change(ctx)
	if err != nil {
		return Removal{}, nil, err
	}
	defer unlock()
	if r, err = n.removal(ctx, e, servers, id); err != nil {
		return Removal{}, nil, err
	}
	return r, r.refusal(id), nil
}

// removal works out what the removal of a member leaves. It waits for each remaining voter to answer a question that is
// sent from now on, for as long as a leader may lead without a majority: an earlier answer may come from a voter that
// has died since.
func (n *Node) removal(ctx context.Context, e *epoch, servers []raft.Server, id string) (Removal, error) {
	now := time.Now()
	gone := find(servers, raft.ServerID(id))
	switch {
	case gone == nil && n.cfg.Retired(id):
		return Removal{Members: n.members(servers), Already: true}, nil
	case gone == nil:
		return Removal{}, fmt.Errorf("%w: %s", ErrNoSuchMember, id)
	case gone.Suffrage == raft.Voter && voters(servers) == 1:
		return Removal{}, fmt.Errorf("%w: %s", ErrLastVoter, id)
	}
	rest := slices.DeleteFunc(slices.Clone(servers), func(s raft.Server) bool { return s.ID == gone.ID })
	r := Removal{Members: n.members(rest), voter: gone.Suffrage == raft.Voter}
	again := time.NewTicker(n.cfg.Timeouts.Heartbeat / 20)
	defer again.Stop()
	patience := time.NewTimer(n.cfg.Timeouts.Heartbeat)
	defer patience.Stop()
	for {
		if r.Silent = n.silentSince(e, rest, now); len(r.Silent) == 0 {
			return r, nil
		}
		select {
		case <-again.C:
		case <-patience.C:
			return r, nil
		case <-e.over:
			return Removal{}, n.notLeader()
		case <-ctx.Done():
			return Removal{}, ctx.Err()
		}
	}
}

// silentSince returns the ids of the voters that have answered nothing that was sent at or after t, sorted.
func (n *Node) silentSince(e *epoch, servers []raft.Server, t time.Time) []string {
	var ids []string
	for _, s := range servers {
		if s.Suffrage == raft.Voter && s.ID != n.id && n.answers.in(e.term, s.ID).sent.Before(t) {
			ids = append(ids, string(s.ID))
		}
	}
	slices.Sort(ids)
	return ids
}

// leaderless reports whether this member has not heard of a leader for longer than an election takes.
func (n *Node) leaderless() bool {
	_, leading := leads(n.raft)
	return !leading && time.Since(n.raft.LastContact()) > 2*n.cfg.Timeouts.Election
}

// heard takes in how a peer answered an introduction.
func (n *Node) heard(from raft.ServerID, err error) {
	if refused, ok := errors.AsType[*peer.RefusedError](err); ok && refused.Removed {
		n.guard.Fail(fmt.Errorf("%w: %s says so. Its permits and definitions live on in the others; a new server needs a new id and an empty data folder",
			ErrRemoved, from))
	}
}

// succeeds reports whether a cluster id is of a later life of the cluster that had the other one.
func succeeds(later, earlier string) bool {
	a, errA := ParseClusterID(later)
	b, errB := ParseClusterID(earlier)
	return errA == nil && errB == nil && a.Succeeds(b)
}

// succeeded hears from a peer that a later life of this cluster runs. A majority of the old servers that came back,
// when a site has power again for example, would be a second cluster that grants what the new one grants.
func (n *Node) succeeded(reason string) {
	// It is noted first: a server that is started again later may meet no server that says so.
	n.guard.Fail(errors.Join(succeededBy(reason), n.cfg.Folder.succeeded(reason)))
}

func succeededBy(reason string) error {
	return fmt.Errorf("%w: %s. It must not go on; a new server needs a new id and an empty data folder", ErrSucceeded, reason)
}
