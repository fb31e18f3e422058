// Package planted names the bugs by which the harness is tested: each breaks one rule of the protocol, and each must be caught by the
// checkers that pass every other run. They exist only in builds with the tag `planted`, which no release is; without it Is is a constant and the
// compiler leaves nothing of them.
package planted

// Bug is a broken rule.
type Bug string

const (
	// RefreshUnconfirmed answers refreshes whether or not this server could confirm that it still leads.
	RefreshUnconfirmed Bug = "refresh without Confirm"
	// ConfirmByVerifyLeader takes Raft's own word, which any late answer satisfies.
	ConfirmByVerifyLeader Bug = "Confirm by VerifyLeader"
	// ReleaseUnchecked lets a release that comes too late free whoever holds the semaphore then.
	ReleaseUnchecked Bug = "release without token check"
	// PromotionWithoutBarrier serves before everything that was committed is applied.
	PromotionWithoutBarrier Bug = "promotion without barrier"
	// ExpiryWithoutTerm applies an expiry that was made in an earlier term.
	ExpiryWithoutTerm Bug = "expiry without term"
	// DeadlineFromAnswer has the client count from the receipt of an answer. The client knows it by this name.
	DeadlineFromAnswer Bug = "deadline counted from the answer"
	// ShortenedInPlace commits a shorter duration before the holder has said that it counts by it.
	ShortenedInPlace Bug = "durations shortened in place"
	// RevokeFrees frees the slot of a permit that is revoked.
	RevokeFrees Bug = "slot freed by revoke"
	// AbandonAnswered gives a grant back when the context of its call ends, although the call was answered.
	AbandonAnswered Bug = "abandoned grant released though answered"
	// ReacquiredInPlace answers every request of an identity that holds a permit as a repeat of the one that got it.
	ReacquiredInPlace Bug = "re-acquisition answered in place"
	// CancelAny lets the cancel of one request end the permit of another one of the same identity.
	CancelAny Bug = "cancel without request check"
	// LeaseOverwritten drops a deadline that was moved between the publishing of a grant and its event.
	LeaseOverwritten Bug = "lease overwritten by its grant"
	// SupersededUncooled frees the slot of a superseding permit although holders of superseded tokens may still count on it.
	SupersededUncooled Bug = "slot of a superseded token freed"

	// AppendLate is no bug: entries that were not appended are appended later, which Raft may do by itself, though rarely.
	AppendLate Bug = "entries are appended late"
)
