package consensus

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// maxPromotionLag is how many entries a non-voter's log may lag behind when it is promoted to voter.
const maxPromotionLag = 64

// Addition is a request to add a server.
type Addition struct {
	ID, PeerAddress string
	// NonVoter leaves the member without a vote.
	NonVoter bool
	// Joining means that the request comes from the server itself, which has not been accepted yet. Such a request does
	// not override an operator who added the server as a non-voter.
	Joining bool
}

// AddMember adds a member as a non-voter. Unless NonVoter is set, the member becomes a voter in the background once its
// log has caught up. A voter with an empty log would raise the quorum size without being able to help reach it.
//
// The intent to promote the member lasts until this server loses leadership. A joining server then sends its request to
// the next leader. Adding a member again with the same address is allowed and replaces the intent. Otherwise, AddMember
// returns ErrMemberExists, ErrMemberRetired, ErrHasVote, ErrAddedWithoutVote, ErrInvalidMember, *NotLeaderError, or
// ErrUnknownOutcome.
func (n *Node) AddMember(ctx context.Context, a Addition) error {
	if err := checkMemberID(a.ID); err != nil {
		return err
	}
	if err := checkAddress(a.PeerAddress); err != nil {
		return err
	}
	e, servers, unlock, err := n.beginChange(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if n.cfg.Retired(a.ID) {
		return fmt.Errorf("%w: %s", ErrMemberRetired, a.ID)
	}
	for _, s := range servers {
		sameID, sameAddress := string(s.ID) == a.ID, string(s.Address) == a.PeerAddress
		if sameID != sameAddress {
			return fmt.Errorf("%w: %s at %s", ErrMemberExists, s.ID, s.Address)
		}
		if sameID {
			return addExisting(e, s, a)
		}
	}
	f := n.raft.AddNonvoter(raft.ServerID(a.ID), raft.ServerAddress(a.PeerAddress), 0, n.enqueueTimeout())
	if err := n.waitChange(ctx, f); err != nil {
		return fmt.Errorf("consensus: add %s: %w", a.ID, err)
	}
	e.setPromotion(raft.ServerID(a.ID), !a.NonVoter)
	return nil
}

func addExisting(e *epoch, member raft.Server, a Addition) error {
	voter := member.Suffrage == raft.Voter
	switch {
	case voter && a.NonVoter:
		return fmt.Errorf("%w: %s; remove it, then let it join under a new id", ErrHasVote, a.ID)
	case !voter && a.Joining && !a.NonVoter && !e.shouldPromote(member.ID):
		return fmt.Errorf("%w: start %s with --non-voter, or promote it first: gkctl cluster add %s %s", ErrAddedWithoutVote, a.ID, a.ID, a.PeerAddress)
	}
	e.setPromotion(member.ID, !voter && !a.NonVoter)
	return nil
}

// RemoveMember permanently removes a member. It retires the id first, so that a failure partway through never leaves an
// id that another server can reuse. A second call completes the removal. Removing a member that has already been
// removed does nothing and sets Removal.AlreadyRemoved.
//
// Unless force is set, RemoveMember refuses to leave fewer responsive voters than a majority of the remaining ones,
// because without that majority, the removal itself could not be committed. A leader that is asked to remove itself
// transfers leadership and returns a *NotLeaderError; retry on the new leader. RemoveMember can also return
// *QuorumError, ErrNoSuchMember, ErrLastVoter, ErrUnknownOutcome, or an error from Config.Retire.
func (n *Node) RemoveMember(ctx context.Context, id string, force bool) (Removal, error) {
	e, servers, unlock, err := n.beginChange(ctx)
	if err != nil {
		return Removal{}, err
	}
	defer unlock()
	r, err := n.removal(ctx, e, servers, id)
	if err != nil || r.AlreadyRemoved {
		return r, err
	}
	if err := r.refusal(id); err != nil && !force {
		return Removal{}, err
	}
	member := raft.ServerID(id)
	if member == n.id {
		if err := n.transfer(ctx, e, servers, ""); err != nil {
			return Removal{}, fmt.Errorf("consensus: remove the leader %s: %w", id, err)
		}
		return Removal{}, n.notLeader()
	}
	e.setPromotion(member, false)
	if err := n.cfg.Retire(ctx, id); err != nil {
		return Removal{}, fmt.Errorf("consensus: retire id %s before removing it: %w", id, err)
	}
	if err := n.waitChange(ctx, n.raft.RemoveServer(member, 0, n.enqueueTimeout())); err != nil {
		return Removal{}, fmt.Errorf("consensus: remove %s: %w", id, err)
	}
	n.mu.Lock()
	delete(n.apiAddress, id)
	delete(n.levels, id)
	n.mu.Unlock()
	return r, nil
}

// Transfer hands leadership to the voter id or, if id is empty, to the voter whose log is furthest ahead. It returns
// nil when this server no longer leads, or when id already leads. Otherwise, it returns ErrNoSuchMember, ErrNotAVoter,
// *NotLeaderError, or an error from Raft, after which this server still leads.
func (n *Node) Transfer(ctx context.Context, id string) error {
	e, servers, unlock, err := n.beginChange(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return n.transfer(ctx, e, servers, id)
}

func (n *Node) transfer(ctx context.Context, e *epoch, servers []raft.Server, id string) error {
	if id == "" {
		id = n.mostUpToDateVoter(e, servers)
	}
	target := find(servers, raft.ServerID(id))
	switch {
	case id == "":
		return fmt.Errorf("%w: no other voter has responded recently", ErrNotAVoter)
	case target == nil:
		return fmt.Errorf("%w: %s", ErrNoSuchMember, id)
	case target.Suffrage != raft.Voter:
		return fmt.Errorf("%w: %s", ErrNotAVoter, id)
	case target.ID == n.id:
		return nil
	}
	n.transfers.started()
	if err := n.waitFuture(ctx, n.raft.LeadershipTransferToServer(target.ID, target.Address)); err != nil {
		return fmt.Errorf("consensus: transfer leadership to %s: %w", id, err)
	}
	select { // Raft has stepped down; wait so that the caller finds this server demoted, or nearly so
	case <-e.over:
	case <-ctx.Done():
	}
	return nil
}

// mostUpToDateVoter returns the recently responsive voter with the longest log, excluding this server, or "" if there
// is none.
func (n *Node) mostUpToDateVoter(e *epoch, servers []raft.Server) string {
	best, bestMatched := "", uint64(0)
	for _, s := range servers {
		a := n.acks.inTerm(e.term, s.ID)
		if s.Suffrage == raft.Voter && s.ID != n.id && time.Since(a.ackedAt) < n.cfg.Timeouts.Heartbeat && (best == "" || a.matched > bestMatched) {
			best, bestMatched = string(s.ID), a.matched
		}
	}
	return best
}

// beginChange begins a change to the membership. Changes run one at a time, so that the state on which a change is
// based still holds when Raft accepts it. Only the leader changes the membership, and Raft rejects changes by a deposed
// leader.
func (n *Node) beginChange(ctx context.Context) (e *epoch, servers []raft.Server, unlock func(), err error) {
	select {
	case <-n.changing:
	case <-ctx.Done():
		return nil, nil, nil, ctx.Err()
	}
	unlock = func() { n.changing <- struct{}{} }
	if e = n.epoch.Load(); e == nil {
		err = n.notLeader()
	} else {
		servers, err = n.servers()
	}
	if err != nil {
		unlock()
		return nil, nil, nil, err
	}
	return e, servers, unlock, nil
}

// waitChange waits for a change to complete.
func (n *Node) waitChange(ctx context.Context, f raft.Future) error {
	err := n.waitFuture(ctx, f)
	n.transfers.observe(err)
	if err == nil {
		return nil
	}
	return n.failedOutcome(err).Err
}

// maintainMembers performs the leader's membership duties for the duration of an epoch.
func (n *Node) maintainMembers(e *epoch) {
	n.wg.Go(func() {
		ticker := time.NewTicker(n.cfg.Timeouts.Heartbeat / 4)
		defer ticker.Stop()
		for {
			if err := n.maintainMembersOnce(e); err != nil {
				n.cfg.Logger.Warn("cannot change the membership yet", "error", err)
			}
			select {
			case <-ticker.C:
			case <-e.over:
				return
			}
		}
	})
}

// maintainMembersOnce promotes the non-voters that should become voters and have caught up. It also corrects this
// server's own address in the configuration if it was started with a different one, because otherwise the other members
// could not reach it.
func (n *Node) maintainMembersOnce(e *epoch) error {
	ctx, cancel := context.WithTimeout(n.ctx, n.cfg.Timeouts.Heartbeat)
	defer cancel()
	current, servers, unlock, err := n.beginChange(ctx)
	if err != nil || current != e {
		if err == nil {
			unlock()
		}
		return nil // another change is in progress, or the epoch has ended
	}
	defer unlock()
	for _, s := range servers {
		switch {
		case s.ID == n.id && s.Address != n.address && s.Suffrage == raft.Voter:
			n.cfg.Logger.Info("correcting this server's address", "from", string(s.Address), "to", string(n.address))
			return n.waitChange(ctx, n.raft.AddVoter(s.ID, n.address, 0, n.enqueueTimeout()))
		case s.Suffrage != raft.Voter && e.shouldPromote(s.ID) && !n.cfg.Retired(string(s.ID)) && n.hasCaughtUp(e, s.ID):
			n.cfg.Logger.Info("promoting a member to voter", "member", string(s.ID))
			if err := n.waitChange(ctx, n.raft.AddVoter(s.ID, s.Address, 0, n.enqueueTimeout())); err != nil {
				return fmt.Errorf("promote %s to voter: %w", s.ID, err)
			}
			e.setPromotion(s.ID, false)
		}
	}
	return nil
}

func (n *Node) hasCaughtUp(e *epoch, id raft.ServerID) bool {
	a := n.acks.inTerm(e.term, id)
	return a.matched > 0 && a.matched+maxPromotionLag >= n.raft.CommitIndex() && time.Since(a.ackedAt) < n.cfg.Timeouts.Heartbeat
}

func voters(servers []raft.Server) int {
	count := 0
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			count++
		}
	}
	return count
}
