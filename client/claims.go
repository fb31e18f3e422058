package client

import (
	"context"
	"fmt"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// claims are what a Client knows of the identities that its application chose, by WithHolderID. Drawn holder ids never
// come back and need none of it.
//
// An identity has at most one permit of a semaphore, and the servers give it a new token for each new request. Two
// acquisitions of one identity in one process would take the permit from each other, so the Client refuses the second.
type claims struct {
	byKey map[claimKey]*claim
	// sweepAt is the size at which claims that no longer matter are removed.
	sweepAt int
}

// minSweep is the least size at which claims are swept.
const minSweep = 64

// claimKey is an identity at a semaphore.
type claimKey struct{ semaphore, group, acquirer, holderID string }

// claim is one identity at a semaphore. The renewer's mutex guards it.
type claim struct {
	key       claimKey
	acquiring bool    // an acquisition is under way
	permit    *Permit // what is held; nil: nothing

	// ended is the token of the last permit that ended here. It never comes back.
	ended uint64
	// leftover is ended while a server may still have it live: nobody here counts on it any more. 0: none.
	leftover uint64

	// unanswered counts the releases and cancellations of this identity that are under way; settled is closed when
	// there is none left.
	unanswered int
	settled    chan struct{}

	lost *supersession // the last loss to another process; nil: none
	// forget is the clock's reading from which leftover and lost no longer matter.
	forget time.Duration
}

// supersession is the loss of a permit to another process of the same identity.
type supersession struct {
	by uint64 // the token under which the other process has it
	// until is the clock's reading before which a Runner does not acquire again, and rest the time between two
	// attempts.
	until, rest time.Duration
}

// InUseError refuses an acquisition because this Client is acquiring or holding a permit of the same semaphore under
// the same group, acquirer and holder id. Release that permit first, or use another holder id: a holder id stands for
// one holder.
type InUseError struct {
	Semaphore, Group, Acquirer, HolderID string
	// Token is that of the permit that is held; 0 while it is being acquired.
	Token uint64
}

func (e *InUseError) Error() string {
	who := fmt.Sprintf("holder id %q (acquirer %q, group %q)", e.HolderID, e.Acquirer, e.Group)
	if e.Token == 0 {
		return fmt.Sprintf("this process is already acquiring semaphore %q as %s: wait until that call has returned, or use another holder id", e.Semaphore, who)
	}
	return fmt.Sprintf("this process already holds semaphore %q as %s, with token %d: release that permit first, or use another holder id", e.Semaphore, who, e.Token)
}

// enter begins an acquisition. Of an identity that the application chose it is the only one until exit. It goes on when
// releases and cancellations of that identity that were sent before have been answered, or have had the time for it.
func (r *renewer) enter(ctx context.Context, a *acquisition) error {
	if !a.chosen {
		return nil
	}
	settled, err := r.claim(a)
	if err != nil {
		return err
	}
	if settled != nil {
		timer := time.NewTimer(lastWord)
		defer timer.Stop()
		select {
		case <-settled:
		case <-timer.C: // the servers sort it out
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

// claim takes an identity. settled, if not nil, is closed when its last words are over.
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

// exit ends an acquisition, whatever it brought.
func (r *renewer) exit(a *acquisition) {
	if a.claim == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.claim.acquiring = false
	r.tidy(a.claim)
}

// speak notes that a release or a cancellation of an identity is about to be sent, and returns what notes that it is
// over.
func (r *renewer) speak(c *claim) (over func()) {
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

// letGo notes that belief in the claim's permit has ended. A server may have the permit live for as long as it could
// keep it after one more change of leaders. The caller holds mu.
func (r *renewer) letGo(p *Permit) {
	c := p.claim
	if c == nil || c.permit != p {
		return
	}
	c.permit = nil
	c.ended, c.leftover = p.Token(), p.Token()
	now := r.clock.Now()
	c.forget = max(c.forget, max(now, p.belief.deadline)+afterDeadline(p.belief.duration))
}

// gone notes that the servers have said that a permit has ended. The caller holds mu.
func (r *renewer) gone(p *Permit) {
	c := p.claim
	if c == nil {
		return
	}
	if c.leftover == p.Token() {
		c.leftover = 0
	}
	r.tidy(c)
}

// lost ends a permit that the servers call lost. The caller holds mu.
func (r *renewer) lost(p *Permit, res *gatekeeperv1.TokenResult) {
	cause := fmt.Errorf("%w: %s", ErrLost, res.GetMessage())
	if by := res.GetSupersededBy(); by != 0 {
		cause = fmt.Errorf("%w: %w: %s", ErrLost, ErrSuperseded, res.GetMessage())
		r.takenAway = append(r.takenAway, takenAway{p, by})
		if c := p.claim; c != nil {
			c.lost = &supersession{by: by, until: r.clock.Now() + p.belief.duration, rest: p.belief.duration}
			c.forget = max(c.forget, c.lost.until+afterDeadline(c.lost.rest))
		}
	}
	r.end(p, cause)
	r.gone(p)
}

// takenAway is a permit that another process took, and the token under which it has it.
type takenAway struct {
	permit *Permit
	by     uint64
}

// reportTaken logs losses to other processes. It is called without the mutex: a log handler is not ours.
func (r *renewer) reportTaken() {
	r.mu.Lock()
	taken := r.takenAway
	r.takenAway = nil
	r.mu.Unlock()
	for _, t := range taken {
		r.client.settings.logger.Warn("gatekeeper: two processes use one holder id: the other one took the permit",
			"semaphore", t.permit.Semaphore(), "group", t.permit.Group(), "acquirer", t.permit.Acquirer(), "holder_id", t.permit.HolderID(),
			"token", t.permit.Token(), "superseded_by", t.by)
	}
}

// resting returns the last loss of an identity to another process, and how long a Runner still leaves the permit alone;
// nil without one.
func (r *renewer) resting(key claimKey) (*supersession, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.claims.byKey[key]
	if c == nil || c.lost == nil {
		return nil, 0
	}
	return c.lost, c.lost.until - r.clock.Now()
}

// changeRest has the Runners of an identity leave the permit alone for as long again, or, if not again, for no longer.
// It does nothing when there was a newer loss, or a grant, meanwhile.
func (r *renewer) changeRest(key claimKey, lost *supersession, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.claims.byKey[key]
	if c == nil || c.lost != lost {
		return
	}
	c.lost = nil
	if again {
		c.lost = &supersession{by: lost.by, until: r.clock.Now() + lost.rest, rest: lost.rest}
		c.forget = max(c.forget, c.lost.until+afterDeadline(lost.rest))
	}
	r.tidy(c)
}

// tidy removes a claim of which nothing is left to know. The caller holds mu.
func (r *renewer) tidy(c *claim) {
	busy := c.acquiring || c.permit != nil || c.unanswered > 0
	known := (c.leftover != 0 || c.lost != nil) && r.clock.Now() < c.forget
	if !busy && !known && r.claims.byKey[c.key] == c {
		delete(r.claims.byKey, c.key)
	}
}

// sweep tidies all claims once they have doubled, so that releases without an answer do not add up. The caller holds
// mu.
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
