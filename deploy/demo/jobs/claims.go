package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// claim is the servers' record of a firing.
type claim struct {
	token  uint64
	winner string
	state  gatekeeperv1.FiringState
}

// queryClaims tries to acquire a permit for each firing, as an application would. A denial reports the token that has
// claimed the firing. If a permit is granted instead, the firing was not claimed, and queryClaims releases the permit.
func queryClaims(ctx context.Context, c *client.Client, firings map[firing]bool) (map[firing]claim, error) {
	claims := map[firing]claim{}
	for f := range firings {
		p, err := c.Semaphore(f.job).TryAcquire(ctx, client.WithFiring(f.job, f.due), client.WithGroup(group), client.WithAcquirer("auditor"))
		denied, isDenied := errors.AsType[*client.DeniedError](err)
		switch {
		case isDenied && denied.Firing != nil:
			claims[f] = claim{token: denied.Firing.GetToken(), winner: denied.Firing.GetWinner().GetAcquirer(), state: denied.Firing.GetState()}
		case err != nil:
			return nil, fmt.Errorf("acquire %s for the firing at %s: %w", f.job, f.due.Format(time.RFC3339), err)
		default:
			if err := p.ReleaseNotRun(ctx); err != nil {
				return nil, err
			}
		}
	}
	return claims, nil
}

// audit compares the applications' records with the servers'. died counts the firings whose application did not record
// the claim, because it died or was suspended before it read the response. In the latter case, the permit may have
// expired in the meantime.
func (e *evidence) audit() (died int, violations []string) {
	for f, c := range e.claims {
		if !c.ended() {
			violations = append(violations, fmt.Sprintf("%s is %s at the end, according to the servers", e.name(f), c.state))
		}
		last := e.last(f)
		if last == nil || last.Token < c.token {
			if e.wasKilled(c.winner) || c.state == gatekeeperv1.FiringState_FIRING_STATE_SPENT && e.wasSuspended(c.winner) {
				died++
				continue
			}
			violations = append(violations, fmt.Sprintf("according to the servers, %s was claimed by %s with token %d, but %s has no record of that", e.name(f), c.winner, c.token, c.winner))
		}
	}
	for f := range e.byFiring {
		last, c := e.last(f), e.claims[f]
		if last == nil {
			continue
		}
		free := e.job(f.job).free
		switch {
		case c.token == 0 && (!last.cut() || !free):
			violations = append(violations, fmt.Sprintf("%s was run by %s, but the servers have no record of it", e.name(f), last))
		case c.token != 0 && c.token < last.Token:
			violations = append(violations, fmt.Sprintf("%s was run by %s, but the servers recorded token %d", e.name(f), last, c.token))
		case c.token == last.Token:
			if wrong := mismatch(last, c.state); wrong != "" {
				violations = append(violations, fmt.Sprintf("%s %s", e.name(f), wrong))
			}
		}
	}
	return died, violations
}

// ended reports whether the firing has ended.
func (c claim) ended() bool {
	switch c.state {
	case gatekeeperv1.FiringState_FIRING_STATE_DONE, gatekeeperv1.FiringState_FIRING_STATE_FAILED,
		gatekeeperv1.FiringState_FIRING_STATE_CUT_SHORT, gatekeeperv1.FiringState_FIRING_STATE_SPENT:
		return true
	default:
		return false
	}
}

// mismatch describes how the servers' record of a run's outcome differs from the application's. It returns "" if they
// agree.
func mismatch(r *run, state gatekeeperv1.FiringState) string {
	erred := r.Last(returned).Text != ""
	switch {
	case state == gatekeeperv1.FiringState_FIRING_STATE_SPENT && !r.cut():
		return fmt.Sprintf("was done by %s, but the servers recorded a loss", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_CUT_SHORT && !erred:
		return fmt.Sprintf("returned no error when run by %s, but the servers recorded that it was cut short", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_FAILED && !erred:
		return fmt.Sprintf("did not fail when run by %s, but the servers recorded a failure", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_DONE && r.life.Killed > 0 && !r.Has(returned):
		return fmt.Sprintf("was cut off when %s was killed, but the servers recorded it as done", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_DONE && erred:
		return fmt.Sprintf("returned an error when run by %s, but the servers recorded it as done", r)
	}
	return ""
}

// last returns a firing's newest run, ignoring runs that did not start.
func (e *evidence) last(f firing) *run {
	runs := e.byFiring[f]
	for i := len(runs) - 1; i >= 0; i-- {
		if !runs[i].neverStarted() {
			return runs[i]
		}
	}
	return nil
}

// wasSuspended reports whether one of the application's processes was suspended.
func (e *evidence) wasSuspended(name string) bool {
	return slices.ContainsFunc(e.lives, func(l *life) bool { return l.Name == name && l.suspended != span{} })
}

// wasKilled reports whether one of the application's processes was killed.
func (e *evidence) wasKilled(name string) bool {
	return slices.ContainsFunc(e.lives, func(l *life) bool { return l.Name == name && l.Killed > 0 })
}
