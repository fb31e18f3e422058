package client

import "strconv"

// DenialPolicy determines what a Runner does when its run is denied a permit; see WithDenialPolicy. The zero value is
// DenialSkip.
type DenialPolicy int

const (
	// DenialSkip does not run the job this time. The run returns the *DeniedError.
	DenialSkip DenialPolicy = iota
	// DenialWait waits in the queue while all permits are taken or the semaphore is paused. Any other denial skips the
	// run.
	DenialWait
	// DenialRunLate runs the job, however late, if that is possible at all. It waits like DenialWait, and retries after
	// any other denial that may be temporary, for example a cordon, or a firing that another holder has claimed but may
	// still lose. It retries after at most 15 s. For a claimed firing, it retries as soon as the claim ends or, with
	// servers below feature level 4, after at most 3 s. It gives up once the firing has ended.
	DenialRunLate
)

func (p DenialPolicy) String() string {
	switch p {
	case DenialSkip:
		return "skip"
	case DenialWait:
		return "wait"
	case DenialRunLate:
		return "run-late"
	}
	return "DenialPolicy(" + strconv.Itoa(int(p)) + ")"
}

// OutagePolicy determines what a Runner does when no server responds; see WithOutagePolicy. The zero value is
// OutageSkip.
type OutagePolicy int

const (
	// OutageSkip does not run the job this time. The run returns the *UnavailableError.
	OutageSkip OutagePolicy = iota
	// OutageWait waits until a server responds.
	OutageWait
	// OutageRunUnguarded runs the job without a permit, so another holder may run it at the same time. Each such run is
	// logged as an error and reported to Hooks.Unavailable.
	OutageRunUnguarded
)

func (p OutagePolicy) String() string {
	switch p {
	case OutageSkip:
		return "skip"
	case OutageWait:
		return "wait"
	case OutageRunUnguarded:
		return "run-unguarded"
	}
	return "OutagePolicy(" + strconv.Itoa(int(p)) + ")"
}
