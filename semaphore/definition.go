package semaphore

import (
	"cmp"
	"time"
)

// Limits on the fields of definitions and requests. They are part of the contract with clients.
const (
	// MaxName is the maximum length in bytes of a name, group, acquirer, holder id or firing name.
	MaxName = 256
	// MaxPattern is the maximum length in bytes of a group or acquirer pattern.
	MaxPattern = 512
	// MaxDescription is the maximum length in bytes of a description.
	MaxDescription = 4096
	// MaxLabels is the maximum number of labels per definition. MaxName bounds keys and values.
	MaxLabels = 64
	// MaxPermits is the maximum number of permits per definition, and the maximum weight of a request.
	MaxPermits = 1_000_000
	// MaxRequestID is the maximum length in bytes of a request id.
	MaxRequestID = 128
	// MaxMetadata is the maximum number of metadata entries per permit. Keys are at most MaxMetadataKey bytes long, and
	// values at most MaxName bytes.
	MaxMetadata = 16
	// MinDuration is the shortest duration of a permit.
	MinDuration = 100 * time.Millisecond
	// DefaultMaxDuration is the longest duration, min_hold and loss_delay that a cluster accepts by default.
	DefaultMaxDuration = time.Hour
)

// Defaults for the fields of a definition, and bounds on some of them.
const (
	DefaultPattern         = ".*"
	DefaultPermits         = 1
	DefaultDuration        = time.Minute
	DefaultGroup           = "default"
	DefaultFiringRetention = 24 * time.Hour
	DefaultFiringLimit     = 1000
	// MaxFiringLimit is the maximum firing_limit, the number of firings to remember.
	MaxFiringLimit = 100_000
	// DefaultFiringMaxAhead is how far ahead of the leader's clock a firing may be due by default.
	DefaultFiringMaxAhead = 10 * time.Minute
	// DefaultMisfireWindow is how long ago a missed firing may have been due by default.
	DefaultMisfireWindow = time.Hour
	// MaxAttempts is the maximum number of attempts that a definition can allow for a firing.
	MaxAttempts = 1000
	// FiringUnbounded, as the value of FiringMaxAhead, accepts firings regardless of how far ahead they are due.
	FiringUnbounded time.Duration = -1
)

// OnExpiry says what happens to the slot of an expired permit. The numbers are frozen: they are in the log.
type OnExpiry uint8

const (
	// OnExpiryFree frees the slot.
	OnExpiryFree OnExpiry = 1
	// OnExpiryHold keeps the slot taken until an operator clears it.
	OnExpiryHold OnExpiry = 2
)

// FiringOnLoss says what happens to a claimed firing whose permit was lost. The numbers are frozen: they are in the
// log.
type FiringOnLoss uint8

const (
	// FiringSpent leaves the firing claimed: it was cut short and will not run again.
	FiringSpent FiringOnLoss = 1
	// FiringFree lets the firing be claimed again, after any cooling.
	FiringFree FiringOnLoss = 2
)

// Misfire says what happens to firings that were not claimed when they were due because no host was up. The numbers are
// frozen: they are in the log.
type Misfire uint8

const (
	// MisfireSkip runs none of the missed firings.
	MisfireSkip Misfire = 0
	// MisfireOnce runs the last missed firing.
	MisfireOnce Misfire = 1
	// MisfireEach runs all missed firings, in the order of their due times.
	MisfireEach Misfire = 2
)

// A Definition holds the editable settings of one semaphore, with every default filled in. It is immutable once it is
// stored: to change it, make a copy.
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
	ExpectEvery     time.Duration // 0: no work is expected
	FiringRetention time.Duration
	// FiringMaxAhead is how far ahead of the leader's clock a firing may be due. 0 means DefaultFiringMaxAhead, and
	// FiringUnbounded means no limit. Use MaxAhead to read it.
	FiringMaxAhead time.Duration
	// MisfireWindow is how long ago a missed firing may have been due. 0 means DefaultMisfireWindow. Use MaxLateness to
	// read it.
	MisfireWindow time.Duration
	// The narrow fields are grouped to avoid padding: a server may keep 100,000 definitions.

	Permits      uint32
	FiringLimit  uint32
	MaxAttempts  uint32 // of a firing; 0: no limit
	OnExpiry     OnExpiry
	FiringOnLoss FiringOnLoss
	Misfire      Misfire
	Takeover     bool
}

// MayAttempt reports whether a firing may be attempted again after the given number of attempts.
func (d *Definition) MayAttempt(attempts uint32) bool {
	return d.MaxAttempts == 0 || attempts < d.MaxAttempts
}

// MaxLateness returns how long ago a missed firing may have been due.
func (d *Definition) MaxLateness() time.Duration {
	return cmp.Or(d.MisfireWindow, DefaultMisfireWindow)
}

// MaxAhead returns how far ahead of the leader's clock a firing may be due, or false if there is no bound.
func (d *Definition) MaxAhead() (time.Duration, bool) {
	if d.FiringMaxAhead == FiringUnbounded {
		return 0, false
	}
	return cmp.Or(d.FiringMaxAhead, DefaultFiringMaxAhead), true
}

// TooFarAhead reports whether it is too early, at time now on the leader's clock, to claim a firing with the given due
// time. A firing without a due time (the zero time) is never too far ahead.
func (d *Definition) TooFarAhead(due, now time.Time) bool {
	ahead, bounded := d.MaxAhead()
	return bounded && !due.IsZero() && due.After(now.Add(ahead))
}

// A Pause is the state of a paused semaphore. It is kept separately from the definition.
type Pause struct {
	Reason   string
	Until    time.Time // for display and for the leader's timer; zero: no end
	Stop     bool      // holders must stop too
	Revision uint64
	Author   string
	// Drain is how long permits granted before Revision may continue even though Stop is set. It is the full duration,
	// not the time remaining. 0 means that there is no drain, or that it has ended.
	Drain time.Duration
	// Change is the change that originally set the pause if an undo restored it at Revision, and 0 otherwise.
	Change uint64
}

// Origin returns the change that originally set the pause, even if an undo restored it later.
func (p *Pause) Origin() uint64 { return cmp.Or(p.Change, p.Revision) }
