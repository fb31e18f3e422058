package fsm

import (
	"fmt"
	"time"
)

// apply applies one command. It never fails or panics. If the command is invalid, it returns an InvalidResult and
// leaves the state unchanged.
func (d *draft) apply(cmd Command) Result {
	if need := Level(cmd); need > d.featureLevel {
		return invalid("%T requires feature level %d, but the cluster is at %d", cmd, need, d.featureLevel)
	}
	return cmd.apply(d)
}

func invalid(format string, args ...any) InvalidResult {
	return InvalidResult{Why: fmt.Sprintf(format, args...)}
}

// inCurrentTerm reports whether to apply a command that a leader proposed without a caller's request. madeIn is the
// term in which it was proposed. The log entry must have been appended in the same term: a later leader has given every
// permit its full duration again, so an earlier leader's timers are obsolete.
func (d *draft) inCurrentTerm(madeIn uint64) bool { return madeIn == d.term }

// invalidCooling reports whether a cooling period is out of bounds. Safety after a restore depends on the upper bound:
// no slot remains taken for longer than the largest duration.
func (d *draft) invalidCooling(cooling time.Duration) bool {
	return cooling < 0 || cooling > d.largestDuration
}

// validDrain checks a command's drain.
func validDrain(command string, drain time.Duration) error {
	if drain < 0 || drain > MaxDrain {
		return fmt.Errorf("%s: the drain %v is not between 0 and %v", command, drain, MaxDrain)
	}
	return nil
}

func (c Grant) apply(d *draft) Result             { return d.grant(c) }
func (c Extend) apply(d *draft) Result            { return d.extend(c) }
func (c Release) apply(d *draft) Result           { return d.release(c) }
func (c Expire) apply(d *draft) Result            { return d.expire(c) }
func (c Abandon) apply(d *draft) Result           { return d.abandon(c) }
func (c EndCooling) apply(d *draft) Result        { return d.endCooling(c) }
func (c Clear) apply(d *draft) Result             { return d.clear(c) }
func (c Revoke) apply(d *draft) Result            { return d.revoke(c) }
func (c Cancel) apply(d *draft) Result            { return d.cancel(c) }
func (c EditBatch) apply(d *draft) Result         { return d.editBatch(c) }
func (c SetCordon) apply(d *draft) Result         { return d.setCordon(c) }
func (c Uncordon) apply(d *draft) Result          { return d.uncordon(c) }
func (c Pause) apply(d *draft) Result             { return d.pause(c) }
func (c Resume) apply(d *draft) Result            { return d.resume(c) }
func (c Forget) apply(d *draft) Result            { return d.forget(c) }
func (c Configure) apply(d *draft) Result         { return d.configure(c) }
func (c RetireMember) apply(d *draft) Result      { return d.retireMember(c) }
func (c RaiseFeatureLevel) apply(d *draft) Result { return d.raiseFeatureLevel(c) }
func (c EndDrain) apply(d *draft) Result          { return d.endDrain(c) }
func (c Revert) apply(d *draft) Result            { return d.revert(c) }
func (c Sight) apply(d *draft) Result             { return d.recordSightings(c) }
func (c NoteMissed) apply(d *draft) Result        { return d.noteMissed(c) }
func (c EndQuarantine) apply(d *draft) Result     { return d.endQuarantine(c) }
func (c Undo) apply(d *draft) Result              { return d.undo(c) }
func (c Trim) apply(d *draft) Result              { return d.trimRequests(c) }
func (c ForgetFirings) apply(d *draft) Result     { return d.forgetFirings(c) }
func (c TakeOver) apply(d *draft) Result          { return d.takeOver(c) }
