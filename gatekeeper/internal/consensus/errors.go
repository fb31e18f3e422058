package consensus

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotAppended says that an entry is certainly not in the log and never will be: it may be proposed again.
	ErrNotAppended = errors.New("consensus: the entry was not appended")
	// ErrUnknownOutcome says that an entry may or may not be, or come to be, in the log.
	ErrUnknownOutcome = errors.New("consensus: the outcome of the entry is unknown")
	// ErrNotConfirmed says that Confirm could not learn in time whether this server still led. It says nothing about
	// who leads.
	ErrNotConfirmed = errors.New("consensus: leadership not confirmed")
	// ErrRemoved is the fault of a server that was removed from the cluster: it is of no use any more, and must leave.
	ErrRemoved = errors.New("consensus: this server was removed from the cluster")
	// ErrSucceeded is the fault of a server whose cluster was recovered or restored without it: two clusters would
	// grant the same permits.
	ErrSucceeded = errors.New("consensus: this server's cluster was recovered without it")
	// ErrClosed says that the server is closing or had to stop.
	ErrClosed = errors.New("consensus: closed")

	// ErrMemberExists says that the id belongs to a member with another address.
	ErrMemberExists = errors.New("consensus: the member exists with another address")
	// ErrMemberRetired says that the id belonged to a removed member. Ids are never taken again.
	ErrMemberRetired = errors.New("consensus: the member id is retired")
	// ErrNoSuchMember says that no member has the id.
	ErrNoSuchMember = errors.New("consensus: no such member")
	// ErrNotAVoter says that the member has no vote, so it cannot lead.
	ErrNotAVoter = errors.New("consensus: the member is not a voter")
	// ErrLastVoter says that the cluster would be left without a voter.
	ErrLastVoter = errors.New("consensus: the last voter cannot be removed")
	// ErrHasVote says that a voter was asked to be a non-voter.
	ErrHasVote = errors.New("consensus: the member is a voter")
	// ErrAddedWithoutVote says that a server that an operator added as a non-voter asked to join as a voter.
	ErrAddedWithoutVote = errors.New("consensus: the member was added as a non-voter")
	// ErrInvalidMember says that a member id or address is malformed.
	ErrInvalidMember = errors.New("consensus: invalid member")
)

// NotLeaderError says that this server does not lead, and who does as far as it knows.
type NotLeaderError struct {
	Leader Leader // zero when unknown
}

func (e *NotLeaderError) Error() string {
	if e.Leader.ID == "" {
		return "consensus: this server is not the leader, and the leader is not known"
	}
	return fmt.Sprintf("consensus: this server is not the leader; ask %s at %s", e.Leader.ID, e.Leader.APIAddress)
}

// QuorumError refuses a removal that would leave fewer voters that answer than a majority. Nothing happened.
type QuorumError struct {
	ID               string   // whose removal was refused
	Voters, Majority int      // that would remain, and how many of them must answer
	Silent           []string // those of them that do not answer, sorted
}

func (e *QuorumError) Error() string {
	names, do := strings.Join(e.Silent, " and "), "does"
	if len(e.Silent) > 1 {
		do = "do"
	}
	return fmt.Sprintf("removing %s would leave %d voters, of which %d must answer for the cluster to go on, and %s %s not answer: bring %s back, or remove it first",
		e.ID, e.Voters, e.Majority, names, do, names)
}

// AddressTakenError says that a server advertises the peer address that the cluster's configuration gives to another
// member. What is sent to that member would reach this one, and the other way round.
type AddressTakenError struct {
	// Address is the peer address, Member the id of the member that has it.
	Address, Member string
}

func (e *AddressTakenError) Error() string {
	return fmt.Sprintf("consensus: %s is the peer address of member %s", e.Address, e.Member)
}
