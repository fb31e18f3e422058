package semaphore

import (
	"cmp"
	"time"
)

// Bounds of what a definition and a request may say. They are part of the contract with clients.
const (
	// MaxName is the most bytes of a name, group, acquirer, holder id or firing name.
	MaxName = 256
	// MaxPattern is the most bytes of a group or acquirer pattern.
	MaxPattern = 512
	// MaxDescription is the most bytes of a description.
	MaxDescription = 4096
	// MaxLabels is the most labels of a definition; keys and values are bounded by MaxName.
	MaxLabels = 64
	// MaxPermits is the most permits of a definition and the most weight of a request.
	MaxPermits = 1_000_000
	// MaxRequestID is the most bytes of a request id.
	MaxRequestID = 128
	// MaxMetadata is the most metadata entries of a permit; keys have at most 64 bytes, values MaxName.
	MaxMetadata = 16
	// MinDuration is the shortest duration of a permit.
	MinDuration = 100 * time.Millisecond
	// DefaultMaxDuration is the longest duration, min_hold and loss_delay that a cluster accepts unless configured.
	DefaultMaxDuration = time.Hour
)

// Defaults of absent fields of a definition.
const (
	DefaultPattern         = ".*"
	DefaultPermits         = 1
	DefaultDuration        = time.Minute
	DefaultGroup           = "default"
	DefaultFiringRetention = 24 * time.Hour
	DefaultFiringLimit     = 1000
	// MaxFiringLimit is the most firings that a definition may ask to be remembered.
	MaxFiringLimit = 100_000
	// DefaultFiringMaxAhead is how far ahead of the leader's clock a firing may be due unless its definition says
	// otherwise.
	DefaultFiringMaxAhead = 10 * time.Minute
	// DefaultMisfireWindow is how long ago a missed firing may have been due unless its definition says otherwise.
	DefaultMisfireWindow = time.Hour
	// MaxAttempts is the most attempts that a definition may allow for a firing.
	MaxAttempts = 1000
	// FiringUnbounded, as a definition's FiringMaxAhead, accepts firings however far ahead they are due.
	FiringUnbounded time.Duration = -1
)

// OnExpiry is what becomes of the slot of a permit that expired. The numbers are frozen: they are in the log.
type OnExpiry uint8

const (
	// OnExpiryFree frees the slot.
	OnExpiryFree OnExpiry = 1
	// OnExpiryHold keeps the slot taken until an operator clears it.
	OnExpiryHold OnExpiry = 2
)

// FiringOnLoss is what becomes of a claimed firing whose permit was lost. The numbers are frozen: they are in the log.
type FiringOnLoss uint8

const (
	// FiringSpent leaves the firing claimed: it was cut short and does not run again.
	FiringSpent FiringOnLoss = 1
	// FiringFree lets the firing be claimed again, after any cooling.
	FiringFree FiringOnLoss = 2
)

// Misfire is what becomes of firings that nobody claimed when they were due, because no host was up. The numbers are
// frozen: they are in the log.
type Misfire uint8

const (
	// MisfireSkip runs none of them.
	MisfireSkip Misfire = 0
	// MisfireOnce runs the last one.
	MisfireOnce Misfire = 1
	// MisfireEach runs all of them, in the order of their due times.
	MisfireEach Misfire = 2
)

// Definition is the editable rule of one semaphore, complete: every default is filled in. It is immutable once it is
// stored; who changes one makes a copy.
type Definition struct {
	Name            string
	Description     string
	Labels          Labels
	GroupPattern    string
	AcquirerPattern string
	Duration        time.Duration
	MaxHold         time.Duration // 0: no limit
	MinHold         time.Duration
	LossDelay       time.Duration
	ExpectEvery     time.Duration // 0: nothing is expected
	FiringRetention time.Duration
	// FiringMaxAhead is how far ahead of the leader's clock a firing may be due. 0: DefaultFiringMaxAhead;
	// FiringUnbounded: there is no bound. Read it by MaxAhead.
	FiringMaxAhead time.Duration
	// MisfireWindow is how long ago a missed firing may have been due. 0: DefaultMisfireWindow. Read it by LateBy.
	MisfireWindow time.Duration
	// The narrow fields stand together: a server keeps a hundred thousand definitions.

	Permits      uint32
	FiringLimit  uint32
	MaxAttempts  uint32 // of a firing; 0: no limit
	OnExpiry     OnExpiry
	FiringOnLoss FiringOnLoss
	Misfire      Misfire
	Takeover     bool
}

// MayAttempt reports whether a firing that had so many attempts may have another one.
func (d *Definition) MayAttempt(attempts uint32) bool {
	return d.MaxAttempts == 0 || attempts < d.MaxAttempts
}

// LateBy returns how long ago a missed firing may have been due to be run now.
func (d *Definition) LateBy() time.Duration { return cmp.Or(d.MisfireWindow, DefaultMisfireWindow) }

// MaxAhead returns how far ahead of the leader's clock a firing may be due; false when there is no bound.
func (d *Definition) MaxAhead() (time.Duration, bool) {
	if d.FiringMaxAhead == FiringUnbounded {
		return 0, false
	}
	return cmp.Or(d.FiringMaxAhead, DefaultFiringMaxAhead), true
}

// TooFarAhead reports whether a firing due then may not be claimed yet by a leader whose clock shows now. A firing
// without a due time, which is the zero time, always may.
func (d *Definition) TooFarAhead(due, now time.Time) bool {
	ahead, bounded := d.MaxAhead()
	return bounded && !due.IsZero() && due.After(now.Add(ahead))
}

// Pause is the state of a paused semaphore, beside its definition.
type Pause struct {
	Reason   string
	Until    time.Time // for people and for the leader's timer; zero: no end
	Stop     bool      // running permits must stop too
	Revision uint64
	Author   string
	// Drain is for how long permits granted before Revision may go on although Stop is set, in full; 0 when there is
	// none, or it is over.
	Drain time.Duration
	// Change is the change that first set it, when an undo brought it back at Revision; else 0.
	Change uint64
}

// Origin is the change that set the pause, also after an undo brought it back.
func (p *Pause) Origin() uint64 { return cmp.Or(p.Change, p.Revision) }
