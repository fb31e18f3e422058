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

// LossCooling is how long the slot of a lost permit stays taken: loss_delay, or what is left of min_hold after it was
// held that long, whichever is more. Without a definition (nil: it was deleted) it is 0.
func LossCooling(d *Definition, held time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return max(d.LossDelay, ReleaseCooling(d, held))
}

// ReleaseCooling is how long the slot of a released permit stays taken: what is left of min_hold after it was held that
// long. Without a definition (nil: it was deleted) it is 0.
func ReleaseCooling(d *Definition, held time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return max(0, d.MinHold-max(0, held))
}
