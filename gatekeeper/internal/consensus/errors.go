package consensus

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotAppended means that the entry is definitely not in the log and never will be, so it can be proposed again.
	ErrNotAppended = errors.New("consensus: the entry was not appended")
	// ErrUnknownOutcome means that the entry may be in the log, or may still be added to it.
	ErrUnknownOutcome = errors.New("consensus: the outcome of the entry is unknown")
	// ErrNotConfirmed means that Confirm could not establish in time whether this server still led. It says nothing
	// about which server is the leader.
	ErrNotConfirmed = errors.New("consensus: leadership not confirmed")
	// ErrRemoved is the fault that stops a server removed from the cluster. The cluster no longer needs it.
	ErrRemoved = errors.New("consensus: this server was removed from the cluster")
	// ErrSuperseded is the fault that stops a server whose cluster was recovered or restored without it. If it
	// continued, two clusters would grant the same permits.
	ErrSuperseded = errors.New("consensus: the cluster was recovered without this server")
	// ErrClosed means that the server is closing or had to stop.
	ErrClosed = errors.New("consensus: closed")

	// ErrMemberExists means that the id belongs to a member with a different address.
	ErrMemberExists = errors.New("consensus: the member already exists with a different address")
	// ErrMemberRetired means that the id belonged to a removed member. Ids are never reused.
	ErrMemberRetired = errors.New("consensus: the member id is retired")
	// ErrNoSuchMember means that no member has the id.
	ErrNoSuchMember = errors.New("consensus: no such member")
	// ErrNotAVoter means that the member is not a voter, so it cannot lead.
	ErrNotAVoter = errors.New("consensus: the member is not a voter")
	// ErrLastVoter means that the cluster would be left without a voter.
	ErrLastVoter = errors.New("consensus: the last voter cannot be removed")
	// ErrHasVote means that the member to add as a non-voter is already a voter.
	ErrHasVote = errors.New("consensus: the member is a voter")
	// ErrAddedWithoutVote means that a server asked to join as a voter, but an operator had added it as a non-voter.
	ErrAddedWithoutVote = errors.New("consensus: the member was added as a non-voter")
	// ErrInvalidMember means that a member id or address is malformed.
	ErrInvalidMember = errors.New("consensus: invalid member")
)

// NotLeaderError means that this server is not the leader. It names the leader if known.
type NotLeaderError struct {
	Leader Leader // zero when unknown
}

func (e *NotLeaderError) Error() string {
	if e.Leader.ID == "" {
		return "consensus: this server is not the leader, and the leader is unknown"
	}
	return fmt.Sprintf("consensus: this server is not the leader; try %s at %s", e.Leader.ID, e.Leader.APIAddress)
}

// QuorumError rejects a removal that would leave fewer responsive voters than a majority. Nothing was changed.
type QuorumError struct {
	ID               string   // the member to remove
	Voters, Majority int      // the voters that would remain, and how many of them must respond
	Silent           []string // the remaining voters that are not responding, sorted
}

func (e *QuorumError) Error() string {
	names, do := strings.Join(e.Silent, " and "), "is"
	if len(e.Silent) > 1 {
		do = "are"
	}
	return fmt.Sprintf("removing %s would leave %d voters, of which %d must respond for the cluster to continue, but %s %s not responding: bring back or remove %s first",
		e.ID, e.Voters, e.Majority, names, do, names)
}

// AddressTakenError means that a server advertises the peer address that the cluster's configuration assigns to another
// member. Messages for that member would reach this server, and vice versa.
type AddressTakenError struct {
	// Address is the peer address, and Member the id of the member to which it is assigned.
	Address, Member string
}

func (e *AddressTakenError) Error() string {
	return fmt.Sprintf("consensus: %s is already the peer address of member %s", e.Address, e.Member)
}
