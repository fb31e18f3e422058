package client

import "time"

// rateDivisor is the ratio of a duration to its margin. The allowed difference between clock rates is 1%, and the
// margin is twice that.
const rateDivisor = 50

// margin returns how much a client subtracts from a duration measured by a leader: twice the allowed difference between
// clock rates.
func margin(d time.Duration) time.Duration { return d / rateDivisor }

// maxStopTime bounds the default stop time.
const maxStopTime = 10 * time.Second

// stopTime returns how long before the local deadline a permit's context ends. If asked is 0, the stop time is a fifth
// of the duration, but at most maxStopTime.
func stopTime(asked, duration time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	return min(duration/5, maxStopTime)
}

// refreshInterval returns the time between refreshes: a third of the permit's duration, or less, so that a second
// attempt is possible before the stop time.
func refreshInterval(stop, duration time.Duration) time.Duration {
	return max(min(duration/3, (duration-margin(duration)-stop)/2), minBackoff)
}

// tooShort reports whether a permit's duration is too short for the requested stop time.
func tooShort(asked, duration time.Duration) bool { return asked > duration/2 }

// drainEnd returns a lower bound for the planned end of a drain, or 0 if there is no drain. left is the remaining time
// reported in a response, counted from when the response was created, which was at base or later. Belief does not
// depend on the drain, because an operator may end the drain, and only responses change belief.
func drainEnd(base, left time.Duration) time.Duration {
	if left <= 0 {
		return 0
	}
	return base + left - margin(left)
}

// maxElection is an upper bound on how long the servers take to elect a leader.
const maxElection = 5 * time.Second

// afterDeadline returns how long a server may hold a permit after its local deadline if the leader has changed once,
// because a new leader restarts the permit's full duration. The margin and the server's grace period lie between the
// two deadlines.
func afterDeadline(duration time.Duration) time.Duration {
	return duration + 2*margin(duration) + maxElection
}

// belief is the period for which a permit can be relied on. All times are readings of the client's Clock.
type belief struct {
	// base is the reading before the attempt that got the response, plus the time the call waited, as measured by the
	// leader.
	base time.Duration
	// duration is the permit's duration in the last response. The next refresh includes it.
	duration time.Duration
	// deadline is the time at which belief ends. It may be later than base + duration if a response shortened the
	// duration and no later frame has included the new duration yet.
	deadline time.Duration
}

// newBelief returns the belief established by a grant. sent is the reading before the attempt, and now is the reading
// when the response arrived.
func newBelief(sent, waited, duration, now time.Duration) belief {
	base := sent + waited
	deadline := base + duration - margin(waited+duration)
	// However fast the leader's clock runs, it started counting no later than now.
	deadline = min(deadline, now+duration-margin(duration))
	return belief{base: base, duration: duration, deadline: deadline}
}

// refreshed returns the belief after a refresh. sent is the reading before its frame was sent. refreshed never moves
// the deadline earlier, because the promise made by an earlier response holds until a later frame includes a shorter
// duration.
func (b belief) refreshed(sent, duration time.Duration) belief {
	n := belief{base: sent, duration: duration, deadline: sent + duration - margin(duration)}
	n.deadline = max(n.deadline, b.deadline)
	return n
}

// stated returns the belief after a frame with b.duration has been sent. After that, a leader may pass only that
// duration to its successor.
func (b belief) stated(sent time.Duration) belief {
	b.deadline = min(b.deadline, sent+b.duration-margin(b.duration))
	return b
}
