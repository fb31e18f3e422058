package semaphore

import "time"

// Identity is who holds or asks. Two requests of one identity are the same holder.
type Identity struct {
	Group    string
	Acquirer string
	HolderID string // optional
	// Principal is the authenticated owner: the name of a binding, see package access. Empty where callers are not
	// authenticated.
	Principal string
}

// Owner says whose permits a call by token is about. The zero Owner is anybody.
type Owner struct {
	// Identity is the one that the call names; nil: none. Its principal is not looked at.
	Identity *Identity
	// Principal is the caller's; nil where callers are not authenticated.
	Principal *string
	// Unowned says which permits without a principal, from before callers were authenticated, are the caller's too;
	// nil: none.
	Unowned func(sem string, id Identity) bool
}

// OwnerOf is anybody with that principal; anybody at all for the empty one.
func OwnerOf(principal string) Owner {
	if principal == "" {
		return Owner{}
	}
	return Owner{Principal: &principal}
}

// Owns reports whether the permits that an identity has of a semaphore are the owner's.
func (o Owner) Owns(sem string, id Identity) bool {
	if o.Identity != nil {
		named := *o.Identity
		named.Principal = id.Principal
		if named != id {
			return false
		}
	}
	return o.Sees(sem, id)
}

// Sees reports whether the principal may know of the permits that an identity has of a semaphore.
func (o Owner) Sees(sem string, id Identity) bool {
	switch {
	case o.Principal == nil:
		return true
	case id.Principal == "":
		return o.Unowned != nil && o.Unowned(sem, id)
	}
	return id.Principal == *o.Principal
}

// Firing is one named instance of scheduled work. Due is in UTC and zero when the firing has none.
type Firing struct {
	Name string
	Due  time.Time
}

// PermitState says who takes a permit's slot. The numbers are frozen: they are in the log.
type PermitState uint8

const (
	// Live: the identity holds it, and it has a deadline.
	Live PermitState = 1
	// Held: it expired under on_expiry hold and takes its slot until an operator clears it. It has no deadline.
	Held PermitState = 2
	// Cooling: the holder is gone and the slot stays taken for Duration. Never refreshed, never replayed, held by
	// nobody.
	Cooling PermitState = 3
)

// StopCause is why a holder is to stop. The numbers are frozen: they are in the log.
type StopCause uint8

const (
	NotStopping StopCause = iota
	StopRevoked
	StopDrained
	StopTakenOver
	StopHeldTooLong
	StopNoLongerAdmitted
	StopPaused
	StopCordoned
	// StopTaskCancelled: the job of its task was cancelled. Feature level 4.
	StopTaskCancelled
)

// Permit is one grant. It is immutable once it is stored.
type Permit struct {
	Semaphore string
	Identity  Identity
	// Token is the fencing token: strictly increasing over the cluster's life.
	Token uint64
	// Duration is the largest one that its holder may still count on; for a cooling permit how long it cools.
	Duration time.Duration
	Firing   *Firing // nil: none
	// Order is what is said to a holder beside the cause in Stop; nil: nothing is, which also one that is to stop may
	// find. Read it by StopOrder.
	Order           *StopOrder
	GrantedRevision uint64
	GrantedNanos    int64 // see GrantedAt
	RequestID       string
	Metadata        map[string]string
	// The narrow fields stand together: a server keeps a million permits.

	Weight uint32
	State  PermitState
	// Stop is the cause of the replicated word to stop (revoked, drained, taken over). Causes that follow from the
	// definition, from cordons and from max_hold are decided each time and are not stored here.
	Stop StopCause
	// Ended is how the holder of a cooling permit went.
	Ended End
	// Owes: holders of superseded tokens of this permit may still count on it, for as long as Duration from the grant
	// of Token, or from the promotion if that is later.
	Owes bool
}

// GrantedAt is when it was granted by the clock of the leader of then, for people only; zero: not known. A time.Time in
// the permit would take three times the room.
func (p *Permit) GrantedAt() time.Time {
	if p.GrantedNanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, p.GrantedNanos).UTC()
}

// StopOrder is what is said to a holder that is to stop. It is immutable: copies of a permit share it.
type StopOrder struct {
	Reason string
	// Revision is that of the change that ordered it; the end of its drain names it.
	Revision uint64
	// Drain is for how long the refreshes of a revoked permit go on being granted, in full; 0 when there is none, or it
	// is over.
	Drain time.Duration
}

// Drained returns the order as it is when its drain is over; nil stays nil.
func (o *StopOrder) Drained() *StopOrder {
	if o == nil || o.Drain == 0 {
		return o
	}
	return &StopOrder{Reason: o.Reason, Revision: o.Revision}
}

// StopOrder returns what is said to a holder that is to stop; nothing when there is no word.
func (p *Permit) StopOrder() StopOrder {
	if p.Order == nil {
		return StopOrder{}
	}
	return *p.Order
}

// End is how an acquire ended. The numbers are frozen: they are in the log.
type End uint8

const (
	NotEnded End = iota
	EndReleased
	EndExpired
	EndAbandoned
	EndCancelled
	EndCleared
	// EndFreedUnsafely: an unsafe revoke freed the slot although the holder may still have believed in it. 6 is not
	// free: the log has it for edits.
	EndFreedUnsafely End = 7
	// EndSuperseded: the identity acquired its permit again. The permit did not end, but nobody holds it under this
	// token any more.
	EndSuperseded End = 8
)

// ClaimState is what became of a claimed firing. The numbers are frozen: they are in the log.
type ClaimState uint8

const (
	// ClaimHeld: its permit is live, held or cooling.
	ClaimHeld ClaimState = 1
	// ClaimDone: it ran to its end.
	ClaimDone ClaimState = 2
	// ClaimSpent: its permit was lost, or its job stopped before its end, and it does not run again.
	ClaimSpent ClaimState = 3
	// ClaimForgotten: it lies at or below the semaphore's low-water mark. Only in decisions, never stored.
	ClaimForgotten ClaimState = 4
	// ClaimFailed: it ran to its end, and that was an error. Feature level 4, as all that follow.
	ClaimFailed ClaimState = 5
	// ClaimCutShort: its holder stopped before the end of the job and released its permit, and it does not run again.
	ClaimCutShort ClaimState = 6
	// ClaimTakenOver: another token has claimed it since. Only of a claim that somebody awaits, never stored.
	ClaimTakenOver ClaimState = 7
	// ClaimOpen: its holder was lost, or stopped before its end. It may be claimed again.
	ClaimOpen ClaimState = 8
)

// Claim is the holder's claim of a firing. It is immutable once it is stored.
type Claim struct {
	Semaphore string
	Firing    Firing
	Token     uint64
	Winner    Identity
	Revision  uint64
	// At is when it was claimed, by the granting leader's clock: only the leader's choice of what to forget looks at
	// it.
	At time.Time
	// Failure is what the holder of a failed run said of it; empty: nothing.
	Failure string
	// Attempts counts the holders that claimed the firing and may have begun its job; 0 when it was claimed below
	// feature level 4.
	Attempts uint32
	State    ClaimState
}

// Ended reports whether the firing has come to its end: it neither runs nor may be claimed again.
func (c *Claim) Ended() bool { return c.State != ClaimHeld && c.State != ClaimOpen }
