package semaphore

import "time"

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
