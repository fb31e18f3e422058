package semaphore

import "time"

// An Identity identifies a holder or a caller. All requests with the same identity are considered to come from the same
// holder.
type Identity struct {
	Group    string
	Acquirer string
	HolderID string // optional
	// Principal is the authenticated owner: the name of a binding (see package access). It is empty if callers are not
	// authenticated.
	Principal string
}

// An Owner selects the permits that a call may affect, among the permits that the call lists by token. The zero Owner
// selects all of them.
type Owner struct {
	// Identity is the identity that the call specifies, or nil. Its principal is ignored.
	Identity *Identity
	// Principal is the caller's principal, or nil if callers are not authenticated.
	Principal *string
	// Unowned reports whether a permit that has no principal, because it was granted before callers were authenticated,
	// also belongs to the caller. If Unowned is nil, it does not.
	Unowned func(sem string, id Identity) bool
}

// OwnerOf returns an Owner that selects the permits of the principal, or all permits if principal is empty.
func OwnerOf(principal string) Owner {
	if principal == "" {
		return Owner{}
	}
	return Owner{Principal: &principal}
}

// Owns reports whether the owner selects a permit of semaphore sem held by the identity.
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

// Sees reports whether the principal may know about a permit of semaphore sem held by the identity.
func (o Owner) Sees(sem string, id Identity) bool {
	switch {
	case o.Principal == nil:
		return true
	case id.Principal == "":
		return o.Unowned != nil && o.Unowned(sem, id)
	}
	return id.Principal == *o.Principal
}

// A Firing is one named instance of scheduled work. Due is in UTC, or zero if the firing has no due time.
type Firing struct {
	Name string
	Due  time.Time
}

// PermitState says why a permit occupies its slot. The numbers are frozen: they are in the log.
type PermitState uint8

const (
	// Live means that the identity holds the permit. A live permit has a deadline.
	Live PermitState = 1
	// Held means that the permit expired under on_expiry: hold. It keeps its slot until an operator clears it, and has
	// no deadline.
	Held PermitState = 2
	// Cooling means that the holder is gone and the slot remains taken for Duration. A cooling permit has no holder and
	// is never refreshed or replayed.
	Cooling PermitState = 3
)

// A StopCause says why a holder must stop. The numbers are frozen: they are in the log.
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
	// StopTaskCancelled means that the job of the permit's task was cancelled. It requires feature level 4.
	StopTaskCancelled
)

// A Permit is one grant. It is immutable once it is stored.
type Permit struct {
	Semaphore string
	Identity  Identity
	// Token is the fencing token. It strictly increases over the life of the cluster.
	Token uint64
	// Duration is the longest duration that the holder may still rely on. For a cooling permit it is the cooling time.
	Duration time.Duration
	Firing   *Firing // nil: none
	// Order adds a reason and a drain to the cause in Stop. It may be nil even if the holder must stop. Use StopOrder
	// to read it.
	Order           *StopOrder
	GrantedRevision uint64
	GrantedNanos    int64 // see GrantedAt
	RequestID       string
	Metadata        map[string]string
	// The narrow fields are grouped to avoid padding: a server may keep a million permits.

	Weight uint32
	State  PermitState
	// Stop is the cause of a replicated stop (revoked, drained, taken over). Causes that follow from the definition,
	// cordons and max_hold are evaluated each time and are not stored in the permit.
	Stop StopCause
	// Ended is how the holder of a cooling permit lost or gave up its permit.
	Ended End
	// OldTokensInUse is set if holders of superseded tokens of this permit may still be relying on them. They may do so
	// for Duration after Token was granted, or after the leader was promoted if that is later.
	OldTokensInUse bool
}

// GrantedAt returns the time of the grant by the granting leader's clock, or zero if unknown. It is for display only.
// Storing a time.Time in the permit would take three times as much space.
func (p *Permit) GrantedAt() time.Time {
	if p.GrantedNanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, p.GrantedNanos).UTC()
}

// A StopOrder holds the details of a stop. It is immutable: copies of a permit share it.
type StopOrder struct {
	Reason string
	// Revision is the revision of the change that ordered the stop. The command that ends its drain refers to it.
	Revision uint64
	// Drain is how long a revoked permit may still be refreshed. It is the full duration, not the time remaining. 0
	// means that there is no drain, or that it has ended.
	Drain time.Duration
}

// Drained returns the order with its drain removed. It returns nil for a nil order.
func (o *StopOrder) Drained() *StopOrder {
	if o == nil || o.Drain == 0 {
		return o
	}
	return &StopOrder{Reason: o.Reason, Revision: o.Revision}
}

// StopOrder returns the stop order of the permit, or the zero StopOrder if there is none.
func (p *Permit) StopOrder() StopOrder {
	if p.Order == nil {
		return StopOrder{}
	}
	return *p.Order
}

// An End says how an acquisition ended. The numbers are frozen: they are in the log.
type End uint8

const (
	NotEnded End = iota
	EndReleased
	EndExpired
	EndAbandoned
	EndCancelled
	EndCleared
	// EndFreedUnsafely means that an unsafe revoke freed the slot even though the holder may still have relied on its
	// permit. The number 6 is taken: the log uses it for edits.
	EndFreedUnsafely End = 7
	// EndSuperseded means that the identity acquired its permit again. The permit continues under a new token.
	EndSuperseded End = 8
)

// A ClaimState says what became of a claimed firing. The numbers are frozen: they are in the log.
type ClaimState uint8

const (
	// ClaimHeld means that the claim's permit is live, held or cooling.
	ClaimHeld ClaimState = 1
	// ClaimDone means that the firing's job ran to completion.
	ClaimDone ClaimState = 2
	// ClaimSpent means that the permit was lost, or that the job was stopped early. The firing does not run again.
	ClaimSpent ClaimState = 3
	// ClaimForgotten means that the firing is at or below the semaphore's low-water mark. It occurs only in decisions
	// and is never stored.
	ClaimForgotten ClaimState = 4
	// ClaimFailed means that the job ran to completion and returned an error. It requires feature level 4, as do all
	// states below.
	ClaimFailed ClaimState = 5
	// ClaimCutShort means that the holder stopped the job early and released its permit. The firing does not run again.
	ClaimCutShort ClaimState = 6
	// ClaimTakenOver means that another token has since claimed the firing. It is reported only to a caller that is
	// waiting for a claim to end, and is never stored.
	ClaimTakenOver ClaimState = 7
	// ClaimOpen means that the firing is not running and may be claimed again, for example because its holder was lost.
	ClaimOpen ClaimState = 8
)

// A Claim is a holder's claim on a firing. It is immutable once it is stored.
type Claim struct {
	Semaphore string
	Firing    Firing
	Token     uint64
	Winner    Identity
	Revision  uint64
	// At is the time of the claim on the granting leader's clock. It is used only when a leader chooses which claims to
	// forget.
	At time.Time
	// Failure is the error text that the holder of a failed run reported. It may be empty.
	Failure string
	// Attempts counts the holders that claimed the firing and may have started its job. It is 0 if the firing was
	// claimed before feature level 4.
	Attempts uint32
	State    ClaimState
}

// Ended reports whether the firing is settled: it is not running and cannot be claimed again.
func (c *Claim) Ended() bool { return c.State != ClaimHeld && c.State != ClaimOpen }
