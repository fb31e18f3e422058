package semaphore

import "time"

// minGrace is the least that a deadline is late, so that short durations leave room for a scheduler's hiccup.
const minGrace = 20 * time.Millisecond

// rateDivisor is 1/r, where r = 1 % is the allowed difference between the rates of two clocks. The client's margin is
// made of the same r.
const rateDivisor = 100

// Grace is what the leader adds to the deadline of a permit of that duration before it proposes the expiry: the larger
// of 20 ms and one per cent.
func Grace(d time.Duration) time.Duration { return max(minGrace, d/rateDivisor) }
