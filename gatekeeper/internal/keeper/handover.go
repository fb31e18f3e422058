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
func (k *Keeper) handOver(e *epoch, state *fsm.State, p *semaphore.Permit) []batcher.Call {
	sd := state.Definition(p.Semaphore)
	if sd == nil || sd.Pause != nil || !k.gathered(e) {
		return nil
	}
	used, permits := state.Used(p.Semaphore)-uint64(p.Weight), uint64(sd.Definition.Permits)
	if used >= permits {
		return nil
	}
	var grants []batcher.Call
	next := k.queue.Offer(p.Semaphore, permits-used)
	for i, w := range next {
		grant, ok := batcher.Call{}, i < maxHandOver
		if ok {
			grant, ok = k.grantNext(e, state, k.queue.Call(w), used)
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

// grantNext makes the grant of a waiting call, if the rule grants it with that weight used and nobody ahead, and the call can
// still hear of it. The queue has seen to it that several fit together. nil is no call.
func (k *Keeper) grantNext(e *epoch, state *fsm.State, me *waiting, used uint64) (batcher.Call, bool) {
	if me == nil {
		return batcher.Call{}, false
	}
	facts := k.facts(state, me.call)
	facts.Used = used
	if semaphore.Decide(&me.call.Request, &facts).Outcome != semaphore.Granted {
		return batcher.Call{}, false
	}
	if k.ended(state, me.call) != nil || k.fresh(state, me.call) != nil {
		return batcher.Call{}, false
	}
	cmd := k.grant(me.call, state, &facts)
	rec := k.entrust(e, me, cmd)
	if rec == nil {
		return batcher.Call{}, false
	}
	me.poke()
	return batcher.Call{Command: cmd, Done: func(o batcher.Outcome) { k.resolved(rec, o) }}, true
}
