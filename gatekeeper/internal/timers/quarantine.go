package timers

import "time"

// QuarantineLeft returns how much of the quarantine after a recovery is left. It returns full, the whole length, while
// this server does not lead.
func (t *Timers) QuarantineLeft(full time.Duration) time.Duration {
	return t.left(end{kind: quarantineEnd}, full)
}
