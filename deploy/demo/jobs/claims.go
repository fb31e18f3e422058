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

// claim is what the servers say of a firing.
type claim struct {
	token  uint64
	winner string
	state  gatekeeperv1.FiringState
}

// askClaims asks the servers for each firing as an application would: a no names who has it, or had it. What is granted
// instead was claimed by nobody, and is given back.
func askClaims(ctx context.Context, c *client.Client, firings map[firing]bool) (map[firing]claim, error) {
	claims := map[firing]claim{}
	for f := range firings {
		p, err := c.Semaphore(f.job).TryAcquire(ctx, client.WithFiring(f.job, f.due), client.WithGroup(group), client.WithAcquirer("auditor"))
		denied, no := errors.AsType[*client.DeniedError](err)
		switch {
		case no && denied.Firing != nil:
			claims[f] = claim{token: denied.Firing.GetToken(), winner: denied.Firing.GetWinner().GetAcquirer(), state: denied.Firing.GetState()}
		case err != nil:
			return nil, fmt.Errorf("ask for %s of %s: %w", f.job, f.due.Format(time.RFC3339), err)
		default:
			if err := p.ReleaseNotRun(ctx); err != nil {
				return nil, err
			}
		}
	}
	return claims, nil
}

// audit holds what the applications wrote down against the servers' word. died counts the firings whose claim the
// application did not live to write down, or slept through: an application that is suspended before it reads the answer
// finds a permit that is over.
func (e *evidence) audit() (died int, broken []string) {
	for f, c := range e.claims {
		if !c.ended() {
			broken = append(broken, fmt.Sprintf("%s is, by the servers, %s at the end", e.name(f), c.state))
		}
		last := e.last(f)
		if last == nil || last.Token < c.token {
			if e.diedAt(c.winner) || c.state == gatekeeperv1.FiringState_FIRING_STATE_SPENT && e.suspendedAt(c.winner) {
				died++
				continue
			}
			broken = append(broken, fmt.Sprintf("%s was claimed, by the servers, by %s with token %d, which never heard of it", e.name(f), c.winner, c.token))
		}
	}
	for f := range e.by {
		last, c := e.last(f), e.claims[f]
		if last == nil {
			continue
		}
		free := e.job(f.job).free
		switch {
		case c.token == 0 && (!last.cut() || !free):
			broken = append(broken, fmt.Sprintf("%s was run by %s, and the servers know nothing of it", e.name(f), last))
		case c.token != 0 && c.token < last.Token:
			broken = append(broken, fmt.Sprintf("%s was run by %s, and the servers say token %d", e.name(f), last, c.token))
		case c.token == last.Token:
			if wrong := otherwise(last, c.state); wrong != "" {
				broken = append(broken, fmt.Sprintf("%s %s", e.name(f), wrong))
			}
		}
	}
	return died, broken
}

// ended says that the firing has come to an end.
func (c claim) ended() bool {
	switch c.state {
	case gatekeeperv1.FiringState_FIRING_STATE_DONE, gatekeeperv1.FiringState_FIRING_STATE_FAILED,
		gatekeeperv1.FiringState_FIRING_STATE_CUT_SHORT, gatekeeperv1.FiringState_FIRING_STATE_SPENT:
		return true
	default:
		return false
	}
}

// otherwise says how the end of a run, by the servers, differs from what its application wrote down; empty if it does
// not.
func otherwise(r *run, state gatekeeperv1.FiringState) string {
	erred := r.Said(returned).Text != ""
	switch {
	case state == gatekeeperv1.FiringState_FIRING_STATE_SPENT && !r.cut():
		return fmt.Sprintf("was done by %s, and the servers say that it was lost", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_CUT_SHORT && !erred:
		return fmt.Sprintf("was not stopped by %s, and the servers say that it was cut short", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_FAILED && !erred:
		return fmt.Sprintf("did not fail with %s, and the servers say that it did", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_DONE && r.life.Killed > 0 && !r.Has(returned):
		return fmt.Sprintf("died with %s, and the servers say that it is done", r)
	case state == gatekeeperv1.FiringState_FIRING_STATE_DONE && erred:
		return fmt.Sprintf("did not come to its end with %s, and the servers say that it is done", r)
	}
	return ""
}

// last is the newest run of a firing that was not given back.
func (e *evidence) last(f firing) *run {
	runs := e.by[f]
	for i := len(runs) - 1; i >= 0; i-- {
		if !runs[i].givenBack() {
			return runs[i]
		}
	}
	return nil
}

// suspendedAt says whether a process of the application was suspended.
func (e *evidence) suspendedAt(name string) bool {
	return slices.ContainsFunc(e.lives, func(l *life) bool { return l.Name == name && l.suspended != stretch{} })
}

// diedAt says whether a process of the application was killed.
func (e *evidence) diedAt(name string) bool {
	return slices.ContainsFunc(e.lives, func(l *life) bool { return l.Name == name && l.Killed > 0 })
}
