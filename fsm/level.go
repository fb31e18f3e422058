package fsm

import (
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// SupportedLevel is the highest feature level whose commands this server can apply. A new cluster starts at level 1,
// and RaiseFeatureLevel raises it. A level is frozen by the release that introduces it. Until then, commands and fields
// may still be added to the highest level, and servers built before and after such a change must not run in the same
// cluster.
const SupportedLevel uint32 = 4

// AccessLevel is the lowest feature level at which the state can have bindings; see package access.
const AccessLevel uint32 = 4

// Level returns the feature level that a command requires: the highest level required by its kind or by any field that
// it sets. A server at a lower level would ignore such a field, and its state would diverge from the other servers'
// states.
func Level(cmd Command) uint32 {
	switch {
	case needsLevel4(cmd):
		return 4
	case needsLevel3(cmd):
		return 3
	case needsLevel2(cmd):
		return 2
	}
	return 1
}

func needsLevel4(cmd Command) bool {
	switch c := cmd.(type) {
	case TakeOver, SubmitJob, SubmitTasks, CancelJob, ChangeTasks, DeleteJob, SetBinding, IssueToken, RevokeToken:
		return true
	case Grant:
		return c.Worker || c.Identity.Principal != ""
	case Cancel:
		return c.Identity.Principal != ""
	case Configure:
		return c.Settings.Work != (work.Limits{})
	case Release:
		return c.Job == semaphore.JobFailed || len(c.Result) > 0
	case EditBatch:
		return slices.ContainsFunc(c.Changes, Change.needsLevel4)
	case Undo:
		return slices.ContainsFunc(c.Edits, UndoEdit.needsLevel4) || slices.ContainsFunc(c.Firings, func(u UndoFirings) bool {
			return slices.ContainsFunc(u.Restore, claimNeedsLevel4)
		})
	}
	return false
}

// needsLevel4 reports whether the definition has a field that servers below feature level 4 do not support.
func (c Change) needsLevel4() bool { return c.Definition != nil && definitionNeedsLevel4(c.Definition) }

func (e UndoEdit) needsLevel4() bool {
	return e.Change.needsLevel4() || slices.ContainsFunc(e.RestoredEnds, func(end *EditEnd) bool {
		return definitionNeedsLevel4(end.Before) || definitionNeedsLevel4(end.After)
	})
}

func definitionNeedsLevel4(d *semaphore.Definition) bool {
	return d.MaxAttempts != 0 || d.Misfire != semaphore.MisfireSkip || d.MisfireWindow != 0
}

// claimNeedsLevel4 reports whether a claim has data that servers below feature level 4 do not support.
func claimNeedsLevel4(c *semaphore.Claim) bool {
	return c.Attempts != 0 || c.Failure != "" || c.State > semaphore.ClaimSpent
}

func needsLevel3(cmd Command) bool {
	switch c := cmd.(type) {
	case Trim, ForgetFirings:
		return true
	case Grant:
		return c.RequestRevision != 0 || c.Supersedes != 0 || c.Replaces
	case Abandon:
		return c.Cooling != 0
	case Cancel:
		return c.Cooling != 0 || c.Token != 0
	case EditBatch:
		return c.RequestHash != 0 || c.RequestRevision != 0 || slices.ContainsFunc(c.Changes, Change.needsLevel3)
	case SetCordon:
		return c.RequestHash != 0 || c.RequestRevision != 0
	case Uncordon:
		return c.RequestHash != 0 || c.RequestRevision != 0
	case Pause:
		return c.RequestHash != 0 || c.RequestRevision != 0 || c.Keep || len(c.Expected) > 0
	case Resume:
		return c.RequestHash != 0 || c.RequestRevision != 0 || len(c.Expected) > 0
	case Undo:
		return c.RequestHash != 0 || c.RequestRevision != 0 || len(c.OtherChanges) > 0 || c.Partial || len(c.Firings) > 0 ||
			slices.ContainsFunc(c.Edits, UndoEdit.needsLevel3)
	case Forget:
		return len(c.Firings) > 0
	case Configure:
		return c.Settings.Requests != (RequestBounds{}) || c.Settings.JournalLifetime != 0
	}
	return false
}

// needsLevel3 reports whether the definition has a field that servers below feature level 3 do not support.
func (c Change) needsLevel3() bool { return c.Definition != nil && c.Definition.FiringMaxAhead != 0 }

func (e UndoEdit) needsLevel3() bool {
	return e.Change.needsLevel3() || slices.ContainsFunc(e.RestoredEnds, func(end *EditEnd) bool {
		return end.Before.FiringMaxAhead != 0 || end.After.FiringMaxAhead != 0
	})
}

func needsLevel2(cmd Command) bool {
	switch c := cmd.(type) {
	case EndDrain, Revert, Sight, NoteMissed, EndQuarantine, Undo:
		return true
	case EditBatch:
		return c.Drain != 0 || !c.Until.IsZero()
	case Release:
		return c.Job == semaphore.JobCutShort
	case SetCordon:
		return c.Drain != 0 || c.RequestID != ""
	case Uncordon:
		return c.RequestID != ""
	case Pause:
		return c.Drain != 0 || c.RequestID != ""
	case Resume:
		return c.RequestID != ""
	case Revoke:
		return c.Drain != 0 || c.UnsafeNow
	}
	return false
}
