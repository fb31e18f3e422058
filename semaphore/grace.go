package semaphore

import "time"

// minGrace is the minimum time that is added to a deadline, so that a scheduling delay does not end a short permit
// early.
const minGrace = 20 * time.Millisecond

// rateDivisor is 1/r, where r = 1% is the allowed difference between the rates of two clocks. The client computes its
// safety margin from the same r.
const rateDivisor = 100

// Grace returns the time that the leader adds to the deadline of a permit of duration d before it proposes the expiry:
// 20 ms or 1% of d, whichever is larger.
func Grace(d time.Duration) time.Duration { return max(minGrace, d/rateDivisor) }
