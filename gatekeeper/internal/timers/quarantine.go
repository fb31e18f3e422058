package timers

import "time"

// QuarantineLeft is how much of the waiting after a recovery is left; full is its whole length, and the answer while
// this server does not lead.
func (t *Timers) QuarantineLeft(full time.Duration) time.Duration {
	return t.left(end{kind: quarantineEnd}, full)
}
