package keeper

import (
	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxHandOver is how many grants go with a release: all of them fit into one entry, and one that frees much is not refused because
// many wait for it.
const maxHandOver = batcher.MaxCommands - 1

// handOver makes the grants of those who are next in the queue when the live permit p is released without cooling, at most
// maxHandOver. The caller must propose them together with that release, right behind it: so a hand-over is one commit, not two.
//
// The rule is asked about the state as it is, less p. That is a guess and may be one: every grant is decided again when it is
// applied, like any other. One that is refused there sends its waiter back to its place. Whatever is not granted by the rule
// here, and whatever frees a slot in another way, is left to the dispatcher, which looks when the slot is free.
func (k *Keeper) handOver(t *tenure, state *fsm.State, p *semaphore.Permit) []batcher.Call {
	sd := state.Definition(p.Semaphore)
	if sd == nil || sd.Pause != nil || !k.gathered(t) {
		return nil
	}
	used, permits := state.Used(p.Semaphore)-uint64(p.Weight), uint64(sd.Definition.Permits)
	if used >= permits {
		return nil
	}
	var grants []batcher.Call
	next := k.queue.Offer(p.Semaphore, permits-used, state.Work(p.Semaphore).Waiting)
	for i, w := range next {
		grant, ok := batcher.Call{}, i < maxHandOver
		if ok {
			grant, ok = k.grantNext(t, state, k.queue.Call(w), uint64(p.Weight))
		}
		if !ok { // nor those behind it: they would overtake it
			for _, w := range next[i:] {
				k.queue.Return(w)
			}
			k.news.touch(p.Semaphore)
			break
		}
		grants = append(grants, grant)
	}
	return grants
}

// grantNext makes the grant of a waiting call, nil for none, if the rule grants it with that weight freed and nobody ahead, and
// the call can still take it. The queue offers no more calls than fit together.
func (k *Keeper) grantNext(t *tenure, state *fsm.State, me *waiting, freed uint64) (batcher.Call, bool) {
	if me == nil {
		return batcher.Call{}, false
	}
	d := k.decide(state, me.call, turn{queued: func() bool { return false }, freed: freed})
	if d.grant == nil || d.grant.Supersedes != 0 {
		return batcher.Call{}, false
	}
	rec := k.entrust(t, me, *d.grant)
	if rec == nil {
		return batcher.Call{}, false
	}
	me.poke()
	return batcher.Call{Command: *d.grant, Done: func(o batcher.Outcome) { k.resolved(rec, o) }}, true
}
