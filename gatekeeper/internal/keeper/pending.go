package keeper

import (
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// requestKey identifies one acquisition.
type requestKey struct {
	semaphore string
	identity  semaphore.Identity
	requestID string
}

// pendingGrants holds the grants that are being proposed, one record for each acquisition.
type pendingGrants struct {
	mu      sync.Mutex // guards records and the record fields documented as such
	records map[requestKey]*pendingGrant
}

// pendingGrant is a grant that is being proposed, or that has been proposed but not yet delivered to a caller.
type pendingGrant struct {
	key    requestKey
	tenure *tenure
	cmd    fsm.Grant
	// done is closed once outcome is set.
	done    chan struct{}
	outcome batcher.Outcome
	// calls is the number of calls waiting for the outcome; guarded by pendingGrants.mu.
	calls int
	// delivered is set when a call has received the grant; guarded by pendingGrants.mu.
	delivered bool
}

// propose attaches to the grant that is being proposed under this key. If there is none, it proposes cmd and records
// it. A request without an id gets a private record, to which no other call can attach.
func (k *Keeper) propose(t *tenure, key requestKey, cmd fsm.Grant) *pendingGrant {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	if rec := k.pending.records[key]; rec != nil && key.requestID != "" {
		rec.calls++
		return rec
	}
	rec := k.record(t, key, cmd)
	// Propose under the lock, so that two grants for one acquisition are never in flight at the same time.
	k.cfg.Proposer.Go(cmd, func(o batcher.Outcome) { k.setOutcome(rec, o) })
	return rec
}

// record creates the record of a grant for one call. The caller holds pendingGrants.mu.
func (k *Keeper) record(t *tenure, key requestKey, cmd fsm.Grant) *pendingGrant {
	rec := &pendingGrant{key: key, tenure: t, cmd: cmd, done: make(chan struct{}), calls: 1}
	if key.requestID != "" {
		if k.pending.records == nil {
			k.pending.records = make(map[requestKey]*pendingGrant)
		}
		k.pending.records[key] = rec
	}
	return rec
}

// assignGrant records a grant that the caller proposes on behalf of a waiting call. The waiting call then counts as one
// of the record's calls. It returns nil if the call has ended, or if a grant of its acquisition is already in flight.
// If it returns nil, the caller must not propose the grant.
func (k *Keeper) assignGrant(t *tenure, me *queuedCall, cmd fsm.Grant) *pendingGrant {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	key := keyOf(me.call)
	if me.ended || k.pending.records[key] != nil {
		return nil
	}
	me.assignedGrant = k.record(t, key, cmd)
	return me.assignedGrant
}

// hasAssignedGrant reports whether a grant has been proposed on behalf of a waiting call that has not taken it yet.
func (k *Keeper) hasAssignedGrant(me *queuedCall) bool {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	return me.assignedGrant != nil
}

// withdraw records that a waiting call is ending and that no grant may be proposed on its behalf. If one has already
// been proposed, withdraw returns false, and the call must continue until it receives the outcome.
func (k *Keeper) withdraw(me *queuedCall) bool {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	me.ended = me.assignedGrant == nil
	return me.ended
}

// giveUp is withdraw for a call that cannot continue. It reports whether the call gave up a grant.
//
// Another call by the same identity may still have received that grant: a call that found the permit in the state is
// not counted in the record. Its permit survives because a replay renews the permit before it returns, and the lessor
// never abandons a renewed permit.
func (k *Keeper) giveUp(me *queuedCall) bool {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	me.ended = true
	rec := me.assignedGrant
	if rec == nil {
		return false
	}
	me.assignedGrant = nil
	k.drop(rec)
	return true
}

// attach joins a grant that is being proposed: the grant made on behalf of the waiting call me, if me is not nil and
// has one, otherwise the grant under this key. It returns nil if neither exists.
func (k *Keeper) attach(key requestKey, me *queuedCall) *pendingGrant {
	if key.requestID == "" && me == nil {
		return nil
	}
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	if me != nil && me.assignedGrant != nil {
		rec := me.assignedGrant
		me.assignedGrant = nil
		return rec // the call is already counted
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

// setOutcome records the outcome of a proposed grant.
func (k *Keeper) setOutcome(rec *pendingGrant, o batcher.Outcome) {
	rec.outcome = o
	close(rec.done)
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	if rec.calls == 0 {
		k.abandon(rec)
	}
}

// markDelivered records that a call has received the outcome, which must be known. The grant is never abandoned
// afterwards.
func (k *Keeper) markDelivered(rec *pendingGrant) {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	rec.calls--
	rec.delivered = true
	k.forget(rec)
}

// detach records that a call ended without the outcome. The last call to do so abandons the grant.
func (k *Keeper) detach(rec *pendingGrant) {
	k.pending.mu.Lock()
	defer k.pending.mu.Unlock()
	k.drop(rec)
}

// drop is detach for a caller that holds pendingGrants.mu.
func (k *Keeper) drop(rec *pendingGrant) {
	rec.calls--
	if rec.calls > 0 || rec.delivered {
		return
	}
	select {
	case <-rec.done:
		k.abandon(rec)
	default: // the grant is abandoned once its outcome is known
	}
}

// abandon gives back a grant that no caller received. The caller holds pendingGrants.mu.
func (k *Keeper) abandon(rec *pendingGrant) {
	if rec.delivered {
		return
	}
	k.forget(rec)
	if r, ok := rec.outcome.Result.(fsm.GrantResult); rec.outcome.Err == nil && ok && (r.Outcome == fsm.GrantGranted || r.Outcome == fsm.GrantReacquired) {
		k.lessor.Abandon(rec.tenure.term, r.Permit.Token)
	}
}

func (k *Keeper) forget(rec *pendingGrant) {
	if k.pending.records[rec.key] == rec {
		delete(k.pending.records, rec.key)
	}
}

// matches reports whether the call requests the proposed grant. It might not, because only the client ensures that a
// request id is not used for two different requests.
func (rec *pendingGrant) matches(call *AcquireCall) bool {
	expected, requested := rec.cmd.ExpectedRevision, call.ExpectedRevision
	return rec.cmd.Weight == call.Weight && rec.cmd.Worker == call.Worker && rec.cmd.Firing.Equal(call.Firing) &&
		(expected == requested || expected != nil && requested != nil && *expected == *requested)
}

// waited returns how long a call had waited when its grant was handed to Raft. It returns false for a call that arrived
// after that, which is a replay.
func waited(received time.Time, o *batcher.Outcome) (time.Duration, bool) {
	d := o.ProposedAt.Sub(received)
	return d, d >= 0
}
