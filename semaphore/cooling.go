package semaphore

import "time"

// LossCooling returns how long a slot remains taken after a permit that was held for the given time is lost: for
// loss_delay or the rest of min_hold, whichever is longer. It returns 0 if d is nil because the definition was deleted.
func LossCooling(d *Definition, held time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return max(d.LossDelay, ReleaseCooling(d, held))
}

// ReleaseCooling returns how long a slot remains taken after a permit that was held for the given time is released: for
// the rest of min_hold. It returns 0 if d is nil because the definition was deleted.
func ReleaseCooling(d *Definition, held time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return max(0, d.MinHold-max(0, held))
}
