package fsm

import "github.com/gatekeeperd/gatekeeper/semaphore"

// SupportedLevel is the newest feature level whose commands this server can apply. A new cluster begins at 1 and is raised
// by RaiseFeatureLevel.
const SupportedLevel uint32 = 2

// Level is the feature level that a command needs: that of its kind, or of the newest field that is set in it. A server of an
// older level would pass over such a field, and its state would no longer be that of the others.
func Level(cmd Command) uint32 {
	newer := false
	switch c := cmd.(type) {
	case EndDrain, Revert, Sight, NoteSilence, EndQuarantine, Undo:
		newer = true
	case EditBatch:
		newer = c.Drain != 0 || !c.Until.IsZero()
	case Release:
		newer = c.Job == semaphore.JobCutShort
	case SetCordon:
		newer = c.Drain != 0 || c.RequestID != ""
	case Uncordon:
		newer = c.RequestID != ""
	case Pause:
		newer = c.Drain != 0 || c.RequestID != ""
	case Resume:
		newer = c.RequestID != ""
	case Revoke:
		newer = c.Drain != 0 || c.UnsafeNow
	}
	if newer {
		return 2
	}
	return 1
}
