package fsm_test

import (
	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// forgetFiringsCommands returns the feature level 3 commands that repair remembered firings. They are frozen.
func forgetFiringsCommands() []fsm.Command {
	return []fsm.Command{
		fsm.ForgetFirings{
			Semaphore: "s", Firings: []fsm.ExpectedClaim{{Firing: *newFiring("f", 9000), Token: 7}, {Firing: *newFiring("g", 0), Token: 8}}, LowerTo: at(90),
			Author: "ann", Reason: "a clock was a year ahead", RequestID: "f1", At: at(91), RequestHash: 16, RequestRevision: 13,
		},
		fsm.Undo{Change: 9, Author: "ann", At: at(92), Firings: []fsm.UndoFirings{{
			Semaphore: "s",
			Restore: []*semaphore.Claim{{
				Semaphore: "s", Firing: *newFiring("f", 9000), Token: 7, Winner: identity("a"), State: semaphore.ClaimDone, Revision: 5, At: at(80),
			}},
			Forget: []fsm.ExpectedClaim{{Firing: *newFiring("g", 0), Token: 8}}, LowWater: at(8000), ExpectedLowWater: at(90),
		}}},
	}
}

// forgetFiringsScenario returns a log with three repairs of remembered firings. The second was undone, and the third
// was undone and redone. It is frozen.
func forgetFiringsScenario(tb tester) *log {
	l := newLog(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	for _, name := range []string{"repaired", "undone", "again"} {
		l.define(name, func(d *semaphore.Definition) { d.FiringMaxAhead = semaphore.FiringUnbounded })
		l.claimFutureFirings(name)
		l.apply(l.forget(name, at(90), newFiring("f", 9000), newFiring("f", 9100)))
		if name != "repaired" {
			l.apply(l.undoForget(name))
		}
		if name == "again" {
			l.apply(l.undoForget(name))
		}
	}
	return l
}

// claimFutureFirings claims firings far in the future and forgets the oldest, which moves the low-water mark far into
// the future.
func (l *log) claimFutureFirings(name string) {
	l.tb.Helper()
	for _, due := range []int{8000, 9000, 9100} {
		l.apply(fsm.Release{Token: l.grant(name, "a", firing("f", due)).Token})
	}
	l.apply(fsm.Forget{Semaphore: name, Term: l.term, UpTo: at(8000)})
}
