package sim

import (
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// grantOrder tracks the order in which the log grants permits to callers and workers, which share a queue.
type grantOrder struct {
	*replayedLog
	tasks   *taskTracker
	waiting map[request]bool
	used    map[string]uint64 // weight in use, by semaphore
}

// request identifies an acquisition by its id.
type request struct{ semaphore, id string }

func newGrantOrder(tr *replayedLog, tasks *taskTracker, h *history.History) *grantOrder {
	ts := &grantOrder{replayedLog: tr, tasks: tasks, waiting: make(map[request]bool), used: make(map[string]uint64)}
	for i := range h.Operations {
		if r := h.Operations[i].Request; r.Kind == history.Acquire && r.Wait {
			ts.waiting[request{r.Semaphore, r.RequestID}] = true
		}
	}
	return ts
}

// event tracks the weight in use, and reports grants that exceed the current definition's number of permits.
func (ts *grantOrder) event(e *fsm.Event, l raft.Log) {
	switch e.Kind {
	case fsm.Granted:
		ts.used[e.Semaphore] += uint64(e.Permit.Weight)
		rule := ts.definitions[e.Semaphore]
		if rule != nil && ts.used[e.Semaphore] > uint64(rule.Definition.Permits) {
			ts.fail("entry %d grants token %d of %s, with %d of %d permits then in use",
				l.Index, e.Permit.Token, e.Semaphore, ts.used[e.Semaphore], rule.Definition.Permits)
		}
	case fsm.Released, fsm.Expired, fsm.Abandoned, fsm.Cleared, fsm.FreedUnsafely, fsm.CoolingEnded:
		ts.used[e.Semaphore] -= uint64(e.Permit.Weight)
	}
}

// entry reports waiters that were overtaken: an entry frees a permit and hands it over, but the first waiter is refused
// because its weight is too large, and a lighter waiter behind it is granted the permit. Grants decided before the
// entry was created are not part of the handover, because their callers may not have been in the queue yet.
func (ts *grantOrder) entry(commands []fsm.Command, results []fsm.Result, l raft.Log) {
	freed := make(map[string]uint64)       // the last token that freed its slot, by semaphore
	refused := make(map[string]*fsm.Grant) // the last waiter refused because too few permits were free, by semaphore
	for i := range commands {
		switch c := commands[i].(type) {
		case fsm.Release:
			if r, ok := results[i].(fsm.ReleaseResult); ok && r.Released && c.Cooling == 0 {
				freed[r.Permit.Semaphore] = c.Token
				delete(refused, r.Permit.Semaphore)
			}
		case fsm.Grant:
			r, ok := results[i].(fsm.GrantResult)
			waiter := c.Worker || ts.waiting[request{c.Semaphore, c.RequestID}]
			switch {
			case !ok || !waiter:
			case r.Outcome == fsm.GrantDenied && r.Decision.Reason == semaphore.NoFreePermit:
				ts.world.paths.inc(waiterRefused)
				if freed[c.Semaphore] != 0 && c.At.Sub(ts.world.start) == ts.world.writtenAt(l) {
					refused[c.Semaphore] = &c
				}
			case r.Outcome == fsm.GrantGranted:
				if heavy := refused[c.Semaphore]; heavy != nil {
					ts.fail("entry %d grants token %d of %s with weight %d to %v, which overtakes %v with weight %d",
						l.Index, r.Permit.Token, c.Semaphore, c.Weight, c.Identity, heavy.Identity, heavy.Weight)
				}
				ts.countHandover(freed[c.Semaphore], &c)
			}
		default: // the command may free permits
			clear(refused)
		}
	}
}

// countHandover counts grants in the same entry as the release that made room for them.
func (ts *grantOrder) countHandover(freed uint64, c *fsm.Grant) {
	if c.Worker && c.Weight > 1 {
		ts.world.paths.inc(heavyTask)
	}
	if freed == 0 {
		return
	}
	switch _, task := ts.tasks.taskByToken[freed]; {
	case task && !c.Worker:
		ts.world.paths.inc(workerToCaller)
	case !task && c.Worker:
		ts.world.paths.inc(callerToWorker)
	}
}
