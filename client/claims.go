package client

import (
	"context"
	"fmt"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// claims tracks the identities that the application chose with WithHolderID. Generated holder ids are used only once
// and are not recorded.
//
// An identity has at most one permit for a semaphore, and the servers issue it a new token for each new request. Two
// acquisitions by one identity in one process would take the permit from each other, so the Client rejects the second.
type claims struct {
	byKey map[claimKey]*claim
	// sweepAt is the number of claims at which stale claims are removed.
	sweepAt int
}

// minSweep is the smallest number of claims that triggers a sweep.
const minSweep = 64

// claimKey identifies a claim: an identity and a semaphore.
type claimKey struct{ semaphore, group, acquirer, holderID string }

// claim is the state of one identity for one semaphore. The renewer's mutex guards it.
type claim struct {
	key       claimKey
	acquiring bool    // an acquisition is in progress
	permit    *Permit // the held permit, or nil

	// ended is the token of the last permit that ended in this process. A permit that has ended never becomes valid
	// again.
	ended uint64
	// leftover equals ended while the servers may still consider that permit held. Otherwise, it is 0.
	leftover uint64

	// unanswered is the number of releases and cancellations in progress for this identity. settled is closed
	// when it drops to 0.
	unanswered int
	settled    chan struct{}

	lost *supersession // the last loss to another process, or nil
	// forget is the clock reading after which leftover and lost no longer matter.
	forget time.Duration
}

// supersession describes the loss of a permit to another process with the same identity.
type supersession struct {
	by uint64 // the other process's token
	// until is the clock reading before which a Runner does not acquire again. interval is the time between attempts.
	until, interval time.Duration
}

// InUseError reports that this Client is already acquiring or holding a permit for the same semaphore under the same
// group, acquirer and holder id. Release that permit first, or use a different holder id, because a holder id
// identifies one holder.
type InUseError struct {
	Semaphore, Group, Acquirer, HolderID string
	// Token is the held permit's token. It is 0 while the permit is being acquired.
	Token uint64
}

func (e *InUseError) Error() string {
	who := fmt.Sprintf("holder id %q (acquirer %q, group %q)", e.HolderID, e.Acquirer, e.Group)
	if e.Token == 0 {
		return fmt.Sprintf("this process is already acquiring semaphore %q as %s: wait for that call to return, or use a different holder id", e.Semaphore, who)
	}
	return fmt.Sprintf("this process already holds semaphore %q as %s, with token %d: release that permit first, or use a different holder id", e.Semaphore, who, e.Token)
}

// enter begins an acquisition. For an identity that the application chose, no other acquisition can begin before exit.
// enter waits for that identity's earlier releases and cancellations to complete, but no longer than cleanupTimeout.
func (r *renewer) enter(ctx context.Context, a *acquisition) error {
	if !a.holderIDSet {
		return nil
	}
	settled, err := r.claim(a)
	if err != nil {
		return err
	}
	if settled != nil {
		timer := time.NewTimer(cleanupTimeout)
		defer timer.Stop()
		select {
		case <-settled:
		case <-timer.C: // the servers tolerate an overlap
		case <-r.ctx.Done():
		case <-ctx.Done():
			r.exit(a)
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clock.Now() < a.claim.forget {
		a.replaces = a.claim.leftover
	}
	return nil
}

// claim reserves an identity. If settled is not nil, it is closed when the identity's releases and cancellations have
// completed.
func (r *renewer) claim(a *acquisition) (settled <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := a.claimKey()
	c := r.claims.byKey[key]
	if c == nil {
		r.sweep()
		c = &claim{key: key}
		r.claims.byKey[key] = c
	}
	if p := c.permit; p != nil && r.clock.Now() >= p.belief.deadline {
		r.end(p, lostAtDeadline())
	}
	if c.acquiring || c.permit != nil {
		e := &InUseError{Semaphore: key.semaphore, Group: key.group, Acquirer: key.acquirer, HolderID: key.holderID}
		if c.permit != nil {
			e.Token = c.permit.Token()
		}
		return nil, e
	}
	c.acquiring = true
	a.claim = c
	return c.settled, nil
}

// exit ends an acquisition, whatever its result.
func (r *renewer) exit(a *acquisition) {
	if a.claim == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.claim.acquiring = false
	r.tidy(a.claim)
}

// beginCall records that a release or cancellation for an identity is about to be sent. The caller must call done when
// that call has returned.
func (r *renewer) beginCall(c *claim) (done func()) {
	if c == nil {
		return func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.unanswered++; c.settled == nil {
		c.settled = make(chan struct{})
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c.unanswered--; c.unanswered == 0 {
			close(c.settled)
			c.settled = nil
			r.tidy(c)
		}
	}
}

// beliefEnded records that the client no longer believes that it holds a permit. If the leader changes once more, the
// servers may consider the permit held for the time that afterDeadline returns. The caller holds mu.
func (r *renewer) beliefEnded(p *Permit) {
	c := p.claim
	if c == nil || c.permit != p {
		return
	}
	c.permit = nil
	c.ended, c.leftover = p.Token(), p.Token()
	now := r.clock.Now()
	c.forget = max(c.forget, max(now, p.belief.deadline)+afterDeadline(p.belief.duration))
}

// endedOnServer records that the servers have reported a permit as ended. The caller holds mu.
func (r *renewer) endedOnServer(p *Permit) {
	c := p.claim
	if c == nil {
		return
	}
	if c.leftover == p.Token() {
		c.leftover = 0
	}
	r.tidy(c)
}

// lost ends a permit that the servers have reported as lost. The caller holds mu.
func (r *renewer) lost(p *Permit, res *gatekeeperv1.TokenResult) {
	cause := fmt.Errorf("%w: %s", ErrLost, res.GetMessage())
	if by := res.GetSupersededBy(); by != 0 {
		cause = fmt.Errorf("%w: %w: %s", ErrLost, ErrSuperseded, res.GetMessage())
		r.superseded = append(r.superseded, superseded{p, by})
		if c := p.claim; c != nil {
			c.lost = &supersession{by: by, until: r.clock.Now() + p.belief.duration, interval: p.belief.duration}
			c.forget = max(c.forget, c.lost.until+afterDeadline(c.lost.interval))
		}
	}
	r.end(p, cause)
	r.endedOnServer(p)
}

// superseded holds a permit that another process took over, together with that process's token.
type superseded struct {
	permit *Permit
	by     uint64
}

// reportSuperseded logs losses to other processes. It must be called without mu held, because it calls the
// application's log handler.
func (r *renewer) reportSuperseded() {
	r.mu.Lock()
	taken := r.superseded
	r.superseded = nil
	r.mu.Unlock()
	for _, t := range taken {
		r.client.settings.logger.Warn("gatekeeper: two processes are using the same holder id: the other process took over the permit",
			"semaphore", t.permit.Semaphore(), "group", t.permit.Group(), "acquirer", t.permit.Acquirer(), "holder_id", t.permit.HolderID(),
			"token", t.permit.Token(), "superseded_by", t.by)
	}
}

// lastLoss returns an identity's last loss to another process and how long a Runner must still wait before it acquires
// again. It returns nil if there was no loss.
func (r *renewer) lastLoss(key claimKey) (*supersession, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.claims.byKey[key]
	if c == nil || c.lost == nil {
		return nil, 0
	}
	return c.lost, c.lost.until - r.clock.Now()
}

// updateWait makes an identity's Runners wait for the same time again or, if again is false, stop waiting. It does
// nothing if lost is no longer the identity's last loss, or if a permit has been granted since then.
func (r *renewer) updateWait(key claimKey, lost *supersession, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.claims.byKey[key]
	if c == nil || c.lost != lost {
		return
	}
	c.lost = nil
	if again {
		c.lost = &supersession{by: lost.by, until: r.clock.Now() + lost.interval, interval: lost.interval}
		c.forget = max(c.forget, c.lost.until+afterDeadline(lost.interval))
	}
	r.tidy(c)
}

// tidy removes a claim if it is stale. The caller holds mu.
func (r *renewer) tidy(c *claim) {
	busy := c.acquiring || c.permit != nil || c.unanswered > 0
	known := (c.leftover != 0 || c.lost != nil) && r.clock.Now() < c.forget
	if !busy && !known && r.claims.byKey[c.key] == c {
		delete(r.claims.byKey, c.key)
	}
}

// sweep tidies all claims each time their number has doubled, so that claims left by unanswered releases do not
// accumulate. The caller holds mu.
func (r *renewer) sweep() {
	if len(r.claims.byKey) < max(r.claims.sweepAt, minSweep) {
		return
	}
	for _, c := range r.claims.byKey {
		r.tidy(c)
	}
	r.claims.sweepAt = 2 * len(r.claims.byKey)
}

func (a *acquisition) claimKey() claimKey {
	return claimKey{a.semaphore, a.group, a.acquirer, *a.holderID}
}
