package fsm

import (
	"fmt"
	"time"
)

// apply applies one command. It never fails or panics, whatever the command contains: an invalid command gets an
// InvalidResult and changes nothing.
func (d *draft) apply(cmd Command) Result {
	if need := Level(cmd); need > d.featureLevel {
		return invalid("%T requires feature level %d, but the cluster is at %d", cmd, need, d.featureLevel)
	}
	return cmd.apply(d)
}

func invalid(format string, args ...any) InvalidResult {
	return InvalidResult{Why: fmt.Sprintf(format, args...)}
}

// timely reports whether to apply a command that a server proposed without a caller's request; madeIn is the term in
// which it was made. The log entry must have been appended in the same term: a later leader has given every permit its
// full duration again, so the timers of an earlier leader are obsolete.
func (d *draft) timely(madeIn uint64) bool { return madeIn == d.term }

// invalidCooling checks the bound on which safety after a restore depends: no slot remains taken for longer than the
// largest duration.
func (d *draft) invalidCooling(cooling time.Duration) bool {
	return cooling < 0 || cooling > d.largestDuration
}

// validDrain checks the drain of a command.
func validDrain(command string, drain time.Duration) error {
	if drain < 0 || drain > MaxDrain {
		return fmt.Errorf("%s: the drain of %v is not between 0 and %v", command, drain, MaxDrain)
	}
	return nil
}
