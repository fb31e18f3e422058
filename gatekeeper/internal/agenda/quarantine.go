package agenda

import "time"

// QuarantineLeft is how much of the waiting after a recovery is left; full is its whole length, and the answer while this server
// does not lead.
func (a *Agenda) QuarantineLeft(full time.Duration) time.Duration {
	return a.left(end{kind: quarantineEnd}, full)
}
