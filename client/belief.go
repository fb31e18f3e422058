package client

import "time"

// rateDivisor is the allowed difference of clock rates, 1 % = 1/100, doubled: what the margin takes off.
const rateDivisor = 50

// margin is what a client takes off a time that a leader's clock measured: twice the allowed difference of rates.
func margin(d time.Duration) time.Duration { return d / rateDivisor }

// maxStopTime bounds the default stop time.
const maxStopTime = 10 * time.Second

// stopTime is how long before the local deadline a permit's context ends; asked is 0 for the default, a fifth of the
// duration.
func stopTime(asked, duration time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	return min(duration/5, maxStopTime)
}

// refreshEvery is when a permit is refreshed again after an answer: a third of its duration, or sooner, so that there
// is time for a second attempt before the stop time.
func refreshEvery(stop, duration time.Duration) time.Duration {
	return max(min(duration/3, (duration-margin(duration)-stop)/2), minBackoff)
}

// tooBrief says whether a permit lives too briefly beside a stop time that was asked for.
func tooBrief(asked, duration time.Duration) bool { return asked > duration/2 }

// drainEnd is until when refreshes are granted at least, when an answer says that they are for left more, counted from
// the answer, which was given at base or later; 0 without a drain. Nothing is believed by it: an operator may end a
// drain, and belief moves by answers alone.
func drainEnd(base, left time.Duration) time.Duration {
	if left <= 0 {
		return 0
	}
	return base + left - margin(left)
}

// election is more than it takes the servers to agree on a leader.
const election = 5 * time.Second

// afterDeadline is for how long after the local deadline of a permit a server may hold it when the leader has changed
// once: a new leader gives it its full duration again. The margin and the server's grace lie between the two deadlines.
func afterDeadline(duration time.Duration) time.Duration {
	return duration + 2*margin(duration) + election
}

// belief is how long a permit may be counted on, all in readings of the client's Clock.
type belief struct {
	// base is the reading before the attempt whose answer is used, with what the leader says the call had waited.
	base time.Duration
	// duration is what the last answer said, and the next refresh states.
	duration time.Duration
	// deadline is where belief ends. It may lie beyond base + duration when an answer shortened the duration and no
	// later frame has yet stated so.
	deadline time.Duration
}

// believe is the belief that an answer gives: sent is the reading before its attempt, now the reading at its receipt.
func believe(sent, waited, duration, now time.Duration) belief {
	base := sent + waited
	deadline := base + duration - margin(waited+duration)
	// However fast the leader's clock runs, it began to count no later than now.
	deadline = min(deadline, now+duration-margin(duration))
	return belief{base: base, duration: duration, deadline: deadline}
}

// refreshed is the belief after the answer to a frame that was sent at sent. It never moves the deadline in: what an
// earlier answer promised holds until a later frame states something shorter.
func (b belief) refreshed(sent, duration time.Duration) belief {
	n := belief{base: sent, duration: duration, deadline: sent + duration - margin(duration)}
	n.deadline = max(n.deadline, b.deadline)
	return n
}

// stated is the belief from the moment at which a frame is sent that states b.duration: from then on a leader may tell
// its successor no more than that.
func (b belief) stated(sent time.Duration) belief {
	b.deadline = min(b.deadline, sent+b.duration-margin(b.duration))
	return b
}
