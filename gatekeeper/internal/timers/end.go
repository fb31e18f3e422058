package timers

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// kind is the kind of change that a timer ends.
type kind uint8

const (
	drainEnd       kind = iota + 1 // a drain started by an edit or a pause
	cordonDrainEnd                 // a cordon's drain
	permitDrainEnd                 // a revoked permit's drain
	editEnd                        // a temporary edit
	pauseEnd
	cordonEnd
	quarantineEnd // the quarantine after a recovery
	submissionEnd // an abandoned submission
	jobTimeout
	jobRetention
	ownSemaphoreEnd // the semaphore created for a job that has finished
)

// end identifies a timer by the change that it ends.
type end struct {
	kind   kind
	change uint64
	name   string // the name of the semaphore or the cordon
	token  uint64
	job    uint64 // the job's number
}

// pending reports whether the timer still has something to end.
func (e end) pending(state *fsm.State) bool {
	switch e.kind {
	case drainEnd:
		sd := state.Definition(e.name)
		return sd != nil && sd.Pause != nil && sd.Pause.Revision == e.change && sd.Pause.Drain > 0 ||
			slices.ContainsFunc(state.Drains(e.name), func(d semaphore.Drain) bool { return d.Revision == e.change })
	case editEnd:
		return slices.ContainsFunc(state.Ends(e.name), func(x *fsm.EditEnd) bool { return x.Revision == e.change })
	case pauseEnd:
		sd := state.Definition(e.name)
		return sd != nil && sd.Pause != nil && sd.Pause.Revision == e.change
	case cordonDrainEnd, cordonEnd:
		return slices.ContainsFunc(state.Cordons(), func(c *fsm.Cordon) bool {
			return c.ID == e.name && c.Revision == e.change && (e.kind == cordonEnd || c.Drain > 0)
		})
	case permitDrainEnd:
		p := state.Permit(e.token)
		return p != nil && p.StopOrder().Revision == e.change && p.StopOrder().Drain > 0
	case quarantineEnd:
		return state.Quarantine() > 0
	case submissionEnd, jobTimeout, jobRetention, ownSemaphoreEnd:
		return e.jobPending(state)
	}
	return false
}

// jobPending reports whether a job's timer still has something to end.
func (e end) jobPending(state *fsm.State) bool {
	j := state.JobByNumber(e.job)
	switch {
	case j == nil:
		return false
	case e.kind == submissionEnd:
		return j.State == work.Receiving && uint64(j.Tasks) == e.change
	case e.kind == jobTimeout:
		return j.State == work.Open
	case e.kind == jobRetention:
		return j.Finished() && j.Revision == e.change
	}
	own := state.OwnSemaphore(j)
	return j.Finished() && own != nil && own.Version == e.change
}

// serverAuthor is the author of commands proposed by the server itself.
const serverAuthor = "gatekeeper"

// commands returns the commands for the timers that are due, and the timers that each command covers. Names that belong
// to the same change share a command.
func commands(due []end, term uint64, now time.Time) (cmds []fsm.Command, ends [][]end) {
	slices.SortFunc(due, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.change, b.change), cmp.Compare(a.name, b.name), cmp.Compare(a.token, b.token), cmp.Compare(a.job, b.job))
	})
	for len(due) > 0 {
		n := 1
		for n < len(due) && n < maxNames && due[0].sharesCommand(due[n]) {
			n++
		}
		cmds, ends = append(cmds, command(due[:n], term, now)), append(ends, due[:n:n])
		due = due[n:]
	}
	return cmds, ends
}

// sharesCommand reports whether one command can cover both timers.
func (e end) sharesCommand(other end) bool {
	named := e.kind == drainEnd || e.kind == editEnd || e.kind == pauseEnd
	return named && e.kind == other.kind && e.change == other.change
}

func command(ends []end, term uint64, now time.Time) fsm.Command {
	first := ends[0]
	names := make([]string, 0, len(ends))
	for _, e := range ends {
		names = append(names, e.name)
	}
	switch first.kind {
	case drainEnd:
		return fsm.EndDrain{Change: first.change, Term: term, Names: names, At: now}
	case cordonDrainEnd:
		return fsm.EndDrain{Change: first.change, Term: term, Cordon: first.name, At: now}
	case permitDrainEnd:
		return fsm.EndDrain{Change: first.change, Term: term, Token: first.token, At: now}
	case editEnd:
		return fsm.Revert{Change: first.change, Term: term, Names: names, At: now}
	case pauseEnd:
		return fsm.Resume{Names: names, Term: term, Revision: first.change, Author: serverAuthor, Reason: "pause expired", At: now}
	case cordonEnd:
		return fsm.Uncordon{ID: first.name, Term: term, Revision: first.change, Author: serverAuthor, Reason: "cordon expired", At: now}
	case submissionEnd, jobRetention:
		return fsm.DeleteJob{Job: first.job, Term: term, At: now}
	case jobTimeout:
		return fsm.CancelJob{Job: first.job, Term: term, Cause: work.CancelTimeout, Author: serverAuthor, Reason: "job timed out", At: now}
	case ownSemaphoreEnd:
		change := fsm.Change{Kind: fsm.Delete, Name: first.name, ExpectedVersion: first.change}
		return fsm.EditBatch{Changes: []fsm.Change{change}, Author: serverAuthor, Reason: "job finished", At: now}
	default:
		return fsm.EndQuarantine{Term: term, At: now}
	}
}
