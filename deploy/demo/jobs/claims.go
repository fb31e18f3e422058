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

// askClaims asks the servers for each firing as an application would: a no names who has it, or had it. What is granted instead was
// claimed by nobody, and is given back.
func askClaims(ctx context.Context, c *client.Client, firings map[firing]bool) (map[firing]claim, error) {
	claims := map[firing]claim{}
	for f := range firings {
		p, err := c.Semaphore(f.job).TryAcquire(ctx, client.WithFiring(f.job, f.due), client.WithGroup(group), client.WithAcquirer("auditor"))
		denied, no := errors.AsType[*client.DeniedError](err)
		switch {
		case no && denied.Firing != nil:
			claims[f] = claim{token: denied.Firing.GetToken(), winner: denied.Firing.GetWinner().GetAcquirer(), state: ended(denied.Firing.GetState())}
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

// ended is DONE for a job that came to its end, and SPENT for one that was lost or stopped before: the applications write down no more.
func ended(state gatekeeperv1.FiringState) gatekeeperv1.FiringState {
	switch state {
	case gatekeeperv1.FiringState_FIRING_STATE_FAILED:
		return gatekeeperv1.FiringState_FIRING_STATE_DONE
	case gatekeeperv1.FiringState_FIRING_STATE_CUT_SHORT:
		return gatekeeperv1.FiringState_FIRING_STATE_SPENT
	default:
		return state
	}
}

// audit holds what the applications wrote down against the servers' word. died counts the firings whose claim the application did not
// live to write down, or slept through: an application that is suspended before it reads the answer finds a permit that is over.
func (e *evidence) audit() (died int, broken []string) {
	for f, c := range e.claims {
		if c.state != gatekeeperv1.FiringState_FIRING_STATE_DONE && c.state != gatekeeperv1.FiringState_FIRING_STATE_SPENT {
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
		case c.token == last.Token && c.state == gatekeeperv1.FiringState_FIRING_STATE_SPENT && !last.cut():
			broken = append(broken, fmt.Sprintf("%s was done by %s, and the servers say that it was cut short", e.name(f), last))
		case c.token == last.Token && c.state == gatekeeperv1.FiringState_FIRING_STATE_DONE && last.life.Killed > 0 && !last.Has(returned):
			broken = append(broken, fmt.Sprintf("%s died with %s, and the servers say that it is done", e.name(f), last))
		}
	}
	return died, broken
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
