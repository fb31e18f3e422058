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

// Raft does not notify a member of its removal. The leader sends it the entry that removes it but never reports that
// the entry was committed, and a member that was down does not even receive the entry. The removed member would wait
// for a leader forever. Therefore, a member that does not hear from a leader introduces itself to the other members
// again, and any of them that knows of the removal reports it.

// removed reports whether a member is known for certain to have been removed: its id is retired, and it is in neither
// the latest nor the committed configuration. The latest configuration alone proves nothing. If no majority ever stores
// a removal, the next leader undoes it, and the cluster would then lack a voter if the member had already stopped.
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

// committed returns the newest configuration that is known to be committed, either from the newest snapshot or from an
// entry committed since this member started. A member that has just started may know of none.
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

// Removal is the result of removing a member, as the leader sees it.
type Removal struct {
	// Members are the remaining members.
	Members []Member
	// Silent lists the ids of the remaining voters that are not responding to the leader, sorted.
	Silent []string
	// AlreadyRemoved means that the member had already been removed, so the call did nothing.
	AlreadyRemoved bool

	voter bool // whether the removed member has a vote
}

// refusal returns an error if removing id needs force because too few of the remaining voters are responding, and nil
// otherwise.
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

// PlanRemoval returns the result that RemoveMember would return, without removing the member. refusal is the error that
// RemoveMember would return without force, or nil. PlanRemoval returns other errors in the same cases as RemoveMember.
func (n *Node) PlanRemoval(ctx context.Context, id string) (r Removal, refusal, err error) {
	e, servers, unlock, err := n.beginChange(ctx)
	if err != nil {
		return Removal{}, nil, err
	}
	defer unlock()
	if r, err = n.removal(ctx, e, servers, id); err != nil {
		return Removal{}, nil, err
	}
	return r, r.refusal(id), nil
}

// removal computes the result of removing a member. It waits until every remaining voter has answered a request sent
// after the call, but no longer than a leader may go without a majority. An earlier answer is not enough, because the
// voter may have died since then.
func (n *Node) removal(ctx context.Context, e *epoch, servers []raft.Server, id string) (Removal, error) {
	now := time.Now()
	target := find(servers, raft.ServerID(id))
	switch {
	case target == nil && n.cfg.Retired(id):
		return Removal{Members: n.members(servers), AlreadyRemoved: true}, nil
	case target == nil:
		return Removal{}, fmt.Errorf("%w: %s", ErrNoSuchMember, id)
	case target.Suffrage == raft.Voter && voters(servers) == 1:
		return Removal{}, fmt.Errorf("%w: %s", ErrLastVoter, id)
	}
	rest := slices.DeleteFunc(slices.Clone(servers), func(s raft.Server) bool { return s.ID == target.ID })
	r := Removal{Members: n.members(rest), voter: target.Suffrage == raft.Voter}
	retry := time.NewTicker(n.cfg.Timeouts.Heartbeat / 20)
	defer retry.Stop()
	timeout := time.NewTimer(n.cfg.Timeouts.Heartbeat)
	defer timeout.Stop()
	for {
		if r.Silent = n.silentSince(e, rest, now); len(r.Silent) == 0 {
			return r, nil
		}
		select {
		case <-retry.C:
		case <-timeout.C:
			return r, nil
		case <-e.over:
			return Removal{}, n.notLeader()
		case <-ctx.Done():
			return Removal{}, ctx.Err()
		}
	}
}

// silentSince returns the sorted ids of the voters that have not answered any request sent at or after t.
func (n *Node) silentSince(e *epoch, servers []raft.Server, t time.Time) []string {
	var ids []string
	for _, s := range servers {
		if s.Suffrage == raft.Voter && s.ID != n.id && n.acks.inTerm(e.term, s.ID).sent.Before(t) {
			ids = append(ids, string(s.ID))
		}
	}
	slices.Sort(ids)
	return ids
}

// leaderless reports whether this member has not heard from a leader for longer than an election takes.
func (n *Node) leaderless() bool {
	_, observer := leads(n.raft)
	return !observer && time.Since(n.raft.LastContact()) > 2*n.cfg.Timeouts.Election
}

// handleDialResult handles the result of introducing this member to a peer.
func (n *Node) handleDialResult(from raft.ServerID, err error) {
	if refused, ok := errors.AsType[*peer.RefusedError](err); ok && refused.Removed {
		n.guard.Fail(fmt.Errorf("%w, according to %s. The other members keep its permits and definitions; a new server needs a new id and an empty data directory",
			ErrRemoved, from))
	}
}

// succeeds reports whether the cluster id later belongs to a later incarnation of the cluster with the id earlier.
func succeeds(later, earlier string) bool {
	a, errA := ParseClusterID(later)
	b, errB := ParseClusterID(earlier)
	return errA == nil && errB == nil && a.Succeeds(b)
}

// stopForSuccessor stops this server after a peer has reported that a later incarnation of this cluster is running. If
// a majority of the old servers came back up, for example when a site regains power, they would form a second cluster
// that grants the same permits as the new one.
func (n *Node) stopForSuccessor(reason string) {
	// The reason is stored first. After a restart, this server may be unable to reach a peer that would report it
	// again.
	n.guard.Fail(errors.Join(successorError(reason), n.cfg.DataDir.succeeded(reason)))
}

func successorError(reason string) error {
	return fmt.Errorf("%w: %s. It must not keep running; a new server needs a new id and an empty data directory", ErrSuperseded, reason)
}
