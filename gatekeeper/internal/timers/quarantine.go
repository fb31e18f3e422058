package timers

import "time"

// QuarantineLeft returns how much of the quarantine after a recovery is left. It returns full, the quarantine's total
// length, while this server is not the leader.
func (t *Timers) QuarantineLeft(full time.Duration) time.Duration {
	return t.left(end{kind: quarantineEnd}, full)
}
