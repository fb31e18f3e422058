package keeper

import (
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// requestKey names one acquisition.
type requestKey struct {
	semaphore string
	identity  semaphore.Identity
	requestID string
}

// pendings are the grants that are being proposed, one record an acquisition.
type pendings struct {
	mu      sync.Mutex // guards records, and the fields of each that say so
	records map[requestKey]*pending
}

// pending is a grant that is being proposed, or was and has reached no caller yet.
type pending struct {
	key    requestKey
	tenure *tenure
	cmd    fsm.Grant
	// done is closed when outcome is known.
	done    chan struct{}
	outcome batcher.Outcome
	// calls is how many calls wait for the outcome; guarded by pendings.mu.
	calls int
	// answered: some call has received the grant; guarded by pendings.mu.
	answered bool
}

// propose attaches to the grant that is being proposed under this key, or proposes cmd and records it. A request
// without an id is its own record: nothing can attach to it.
func (k *Keeper) propose(t *tenure, key requestKey, cmd fsm.Grant) *pending {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	if rec := k.pending.records[key]; rec != nil && key.requestID != "" {
		rec.calls++
		return rec
	}
	rec := k.record(t, key, cmd)
	// Under the lock, so that no two grants of one acquisition are ever on their way at once.
	k.cfg.Proposer.Go(cmd, func(o batcher.Outcome) { k.resolved(rec, o) })
	return rec
}

// record makes the record of a grant that one call has asked for. The caller holds pendings.mu.
func (k *Keeper) record(t *tenure, key requestKey, cmd fsm.Grant) *pending {
	rec := &pending{key: key, tenure: t, cmd: cmd, done: make(chan struct{}), calls: 1}
	if key.requestID != "" {
		if k.pending.records == nil {
			k.pending.records = make(map[requestKey]*pending)
		}
		k.pending.records[key] = rec
	}
	return rec
}

// entrust records a grant that the caller proposes on behalf of a waiting call, which counts as one of its calls from
// here on. It returns nil, and nothing is to be proposed, when the call has ended, or a grant of its acquisition is on
// its way already.
func (k *Keeper) entrust(t *tenure, me *waiting, cmd fsm.Grant) *pending {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	key := keyOf(me.call)
	if me.ended || k.pending.records[key] != nil {
		return nil
	}
	me.entrusted = k.record(t, key, cmd)
	return me.entrusted
}

// entrusted reports whether a grant was proposed on behalf of a waiting call that has not taken it yet.
func (k *Keeper) entrusted(me *waiting) bool {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	return me.entrusted != nil
}

// withdraw takes note that a waiting call ends, and that nothing is to be proposed on its behalf any more. It returns
// false, and the call goes on, when that was done already: the outcome is for the call to hear.
func (k *Keeper) withdraw(me *waiting) bool {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	me.ended = me.entrusted == nil
	return me.ended
}

// giveUp is withdraw for a call that cannot go on. It returns whether a grant was given up with it.
//
// Somebody may have received that grant all the same: another call of the identity that found the permit in the state,
// and is no call of the record. Nothing here knows of it; that the lessor abandons nothing that was renewed is all that
// keeps such a permit, for a replay renews it before it answers.
func (k *Keeper) giveUp(me *waiting) bool {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	me.ended = true
	rec := me.entrusted
	if rec == nil {
		return false
	}
	me.entrusted = nil
	k.drop(rec)
	return true
}

// attach joins the grant that is being proposed for a waiting call, nil for none, or else under this key, if there is
// one.
func (k *Keeper) attach(key requestKey, me *waiting) *pending {
	if key.requestID == "" && me == nil {
		return nil
	}
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	if me != nil && me.entrusted != nil {
		rec := me.entrusted
		me.entrusted = nil
		return rec // it counts among its calls
	}
	rec := k.pending.records[key]
	if rec != nil {
		rec.calls++
	}
	return rec
}

// proposed reports whether a grant is being proposed under this key.
func (k *Keeper) proposed(key requestKey) bool {
	if key.requestID == "" {
		return false
	}
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	return k.pending.records[key] != nil
}

// resolved takes in what became of a proposed grant.
func (k *Keeper) resolved(rec *pending, o batcher.Outcome) {
	rec.outcome = o
	close(rec.done)
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	if rec.calls == 0 {
		k.abandon(rec)
	}
}

// answer takes note that a call gets the outcome, which is known. From here on the grant is never abandoned.
func (k *Keeper) answer(rec *pending) {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	rec.calls--
	rec.answered = true
	k.forget(rec)
}

// detach takes note that a call ended without the outcome. The last one abandons the grant.
func (k *Keeper) detach(rec *pending) {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	k.drop(rec)
}

// drop is detach for a caller that holds pendings.mu.
func (k *Keeper) drop(rec *pending) {
	rec.calls--
	if rec.calls > 0 || rec.answered {
		return
	}
	select {
	case <-rec.done:
		k.abandon(rec)
	default: // resolved will see that nobody waits
	}
}

// abandon gives back a grant that no caller received. The caller holds pendings.mu.
func (k *Keeper) abandon(rec *pending) {
	if rec.answered {
		return
	}
	k.forget(rec)
	if r, ok := rec.outcome.Result.(fsm.GrantResult); rec.outcome.Err == nil && ok && (r.Outcome == fsm.GrantGranted || r.Outcome == fsm.GrantReacquired) {
		k.lessor.Abandon(rec.tenure.term, r.Permit.Token)
	}
}

func (k *Keeper) forget(rec *pending) {
	if k.pending.records[rec.key] == rec {
		delete(k.pending.records, rec.key)
	}
}

// asks reports whether the proposed grant is what the call asks for: nothing but its client keeps a request id from
// being used for two different requests.
func (rec *pending) asks(call *AcquireCall) bool {
	expected, same := rec.cmd.ExpectedRevision, call.ExpectedRevision
	return rec.cmd.Weight == call.Weight && rec.cmd.Worker == call.Worker && rec.cmd.Firing.Equal(call.Firing) &&
		(expected == same || expected != nil && same != nil && *expected == *same)
}

// waited is how long a call had waited when its grant was handed to Raft; false for a call that came later: it is a
// replay.
func waited(received time.Time, o *batcher.Outcome) (time.Duration, bool) {
	d := o.Handed.Sub(received)
	return d, d >= 0
}
