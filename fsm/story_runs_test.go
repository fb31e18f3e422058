package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// limitedAttempts allows two attempts per firing and runs missed firings.
func limitedAttempts(d *semaphore.Definition) {
	d.FiringOnLoss, d.MaxAttempts, d.Misfire, d.MisfireWindow = semaphore.FiringFree, 2, semaphore.MisfireEach, time.Hour
}

// runCommands returns the feature level 4 commands for the outcomes of firings. They are frozen.
func runCommands() []fsm.Command {
	return []fsm.Command{
		fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: definition("s", limitedAttempts)}}, At: at(110)},
		fsm.Release{Token: 3, Job: semaphore.JobFailed, Failure: "exit code 3", Cooling: time.Second, At: at(111)},
		fsm.TakeOver{Token: 4, By: identity("b"), Reason: "no answer from a", At: at(112)},
		fsm.Undo{Change: 9, Author: "ann", At: at(113), Firings: []fsm.UndoFirings{{
			Semaphore: "s",
			Restore: []*semaphore.Claim{{
				Semaphore: "s", Firing: *newFiring("f", 9000), Token: 7, Winner: identity("a"), State: semaphore.ClaimFailed, Revision: 5, At: at(80),
				Failure: "exit code 3", Attempts: 2,
			}},
		}}},
	}
}

// runScenario returns a log with one firing for each outcome: done, failed, cut short, spent after two attempts, open
// after one, and taken over. It is frozen.
func runScenario(tb tester) *log {
	l := newLog(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(9), limitedAttempts, func(d *semaphore.Definition) { d.Takeover = true })
	l.define("t", permits(9))
	l.apply(fsm.Release{Token: l.grant("s", "a", firing("done", 10)).Token})
	l.apply(fsm.Release{Token: l.grant("s", "a", firing("failed", 10)).Token, Job: semaphore.JobFailed, Failure: "exit code 3"})
	l.apply(fsm.Release{Token: l.grant("t", "a", firing("cut short", 10)).Token, Job: semaphore.JobCutShort})
	for range 2 {
		l.apply(fsm.Expire{Token: l.grant("s", "a", firing("spent", 10)).Token, Term: l.term})
	}
	l.apply(fsm.Expire{Token: l.grant("s", "a", firing("open", 10)).Token, Term: l.term})
	l.apply(fsm.TakeOver{Token: l.grant("s", "a", firing("taken over", 10)).Token, By: identity("b"), Reason: "no answer from a", At: at(20)})
	return l
}
