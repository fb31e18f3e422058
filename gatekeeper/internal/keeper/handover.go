package keeper

import (
	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxHandover is the largest number of grants that complete adds to one entry. The dispatcher serves the remaining
// waiters after the entry has been applied.
const maxHandover = batcher.MaxCommands

// opening is the capacity of one semaphore that the commands in a log entry free and take.
type opening struct {
	semaphore string
	freed     uint64 // the weight of the permits that they release
	taken     uint64 // the weight of the permits that they grant
	tasks     uint64 // the number of tasks in the submissions that they complete
}

// openings returns the openings for an entry's commands, in order, as if the commands were applied to state. They never
// overstate the free capacity; otherwise, a heavy waiter could be refused a permit while a lighter one behind it is
// granted one. So a permit counts as freed only if no command ahead of its release ends or supersedes it, and every
// grant counts as taken, even though the queue counts a waiter's grant too. The number of tasks may be too high. If so,
// a worker's grant is refused, and the worker keeps its place.
func openings(state *fsm.State, cmds []fsm.Command) (all []opening) {
	index := make(map[string]int)
	at := func(sem string) *opening {
		i, ok := index[sem]
		if !ok {
			i = len(all)
			index[sem], all = i, append(all, opening{semaphore: sem})
		}
		return &all[i]
	}
	ended := make(map[uint64]struct{})
	for _, cmd := range cmds {
		var token uint64
		switch c := cmd.(type) {
		case fsm.Release:
			token = c.Token
			p := state.Permit(token)
			if _, before := ended[token]; !before && p != nil && p.State == semaphore.Live && c.Cooling == 0 {
				at(p.Semaphore).freed += uint64(p.Weight)
			}
		case fsm.SubmitJob:
			if c.Digest != "" {
				at(c.Spec.Semaphore).tasks += uint64(len(c.Tasks))
			}
		case fsm.SubmitTasks:
			if j := state.JobByNumber(c.Job); j != nil && c.Digest != "" {
				at(j.Semaphore).tasks += uint64(j.Tasks) + uint64(len(c.Tasks))
			}
		case fsm.Grant:
			token = c.Supersedes
		case fsm.Cancel:
			token = c.Token
		case fsm.Expire:
			token = c.Token
		case fsm.Abandon:
			token = c.Token
		case fsm.Revoke:
			token = c.Token
		}
		if token != 0 {
			ended[token] = struct{}{}
		}
	}
	for _, cmd := range cmds {
		c, ok := cmd.(fsm.Grant)
		if i, opens := index[c.Semaphore]; ok && opens && c.Supersedes == 0 {
			all[i].taken += uint64(c.Weight)
		}
	}
	return all
}

// complete makes the grants that follow an entry's commands in the log. They go to the waiters for which the entry
// frees a slot or adds a task, so that a handover takes one commit instead of two.
//
// The rule is applied to the current state plus the capacity that the entry frees. That guess can be wrong, but every
// grant is decided again when it is applied, like any other grant. A waiter whose grant is refused then keeps its
// place. If the rule grants nothing here, or a slot is freed by something else, the dispatcher takes over when the slot
// is free.
func (k *Keeper) complete(cmds []fsm.Command) []batcher.Call {
	t := k.tenure.Load()
	if t == nil || t.over() || !k.gathered(t) || k.queue.Empty() {
		return nil
	}
	state := k.cfg.Machine.State()
	var grants []batcher.Call
	for _, o := range openings(state, cmds) {
		grants = append(grants, k.handOver(t, state, o, maxHandover-len(grants))...)
	}
	return grants
}

// handOver makes at most limit grants for the next waiters.
func (k *Keeper) handOver(t *tenure, state *fsm.State, o opening, limit int) []batcher.Call {
	sd := state.Definition(o.semaphore)
	if sd == nil || sd.Pause != nil {
		return nil
	}
	used, permits := state.Used(o.semaphore)-o.freed+o.taken, uint64(sd.Definition.Permits)
	if used >= permits {
		return nil
	}
	var grants []batcher.Call
	next := k.queue.Offer(o.semaphore, permits-used, state.Work(o.semaphore).Waiting+o.tasks)
	for i, w := range next {
		grant, ok := batcher.Call{}, i < limit
		if ok {
			grant, ok = k.grantNext(t, state, k.queue.Call(w), o)
		}
		if !ok { // the waiters behind it get no grant either: they would overtake it
			for _, w := range next[i:] {
				k.queue.Return(w)
			}
			k.inbox.touch(o.semaphore)
			break
		}
		grants = append(grants, grant)
	}
	return grants
}

// grantNext makes the grant for a waiting call. It returns false unless the call can still take a grant and the rule
// grants it a permit, given the capacity that the entry opens and no callers ahead. The queue never offers more calls
// than fit together.
func (k *Keeper) grantNext(t *tenure, state *fsm.State, me *queuedCall, o opening) (batcher.Call, bool) {
	if me == nil {
		return batcher.Call{}, false
	}
	d := k.decide(state, me.call, queuePosition{waitsAhead: func() bool { return false }, opened: o})
	if d.grant == nil || d.grant.Supersedes != 0 {
		return batcher.Call{}, false
	}
	rec := k.assignGrant(t, me, *d.grant)
	if rec == nil {
		return batcher.Call{}, false
	}
	me.signal()
	return batcher.Call{Command: *d.grant, Done: func(o batcher.Outcome) { k.setOutcome(rec, o) }}, true
}
