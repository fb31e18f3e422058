package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// firingPeriod returns the interval at which a semaphore's firings are due, or 0 if it has none.
func firingPeriod(name string) time.Duration {
	switch name {
	case firesSem, takeoverSem:
		return 2 * time.Second
	case handoverSem:
		return 6 * time.Second // long enough for several holders to die
	}
	return 0
}

func firingName(semaphore string, due time.Time) string {
	return fmt.Sprintf("%s@%s", semaphore, due.Format(time.TimeOnly))
}

// randomOutcome returns a random outcome for a job.
func randomOutcome(rng *rand.Rand) gatekeeperv1.ReleaseOutcome {
	switch rng.IntN(8) {
	case 0:
		return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	case 1, 2:
		return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	case 3:
		return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
	}
	return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
}

// releaseRequest returns the release of a token as recorded in the history.
func releaseRequest(semaphore string, token uint64, outcome gatekeeperv1.ReleaseOutcome) history.Request {
	return history.NewRelease(semaphore, token, strings.TrimPrefix(outcome.String(), "RELEASE_OUTCOME_"))
}

// recentToken is a recently granted token. Its permit may since have ended.
type recentToken struct {
	semaphore string
	token     uint64
}

// recordGrant records a granted token. Sometimes it also schedules a takeover of the permit, either around the time
// when the job or the permit ends, or at a random time before that.
func (w *world) recordGrant(semaphore string, token uint64, endsAfter time.Duration, rng *rand.Rand) {
	if w.judge == nil {
		return
	}
	w.seenMu.Lock()
	w.recentTokens = append(w.recentTokens, recentToken{semaphore, token})
	w.recentTokens = w.recentTokens[max(0, len(w.recentTokens)-30):]
	w.seenMu.Unlock()
	if rng.IntN(4) > 0 {
		return
	}
	delay := max(0, endsAfter+between(rng, -30*time.Millisecond, 30*time.Millisecond))
	if rng.IntN(2) == 0 {
		delay = between(rng, 0, endsAfter)
	}
	group := groupOf(rng.IntN(2))
	w.lateCalls.Go(func() {
		advance(delay)
		w.judge.takeOver(semaphore, token, group)
	})
}

// takeOverRepeatedly declares the holders of random recent tokens dead until end is closed. Some of the permits
// ended long ago, and others belong to semaphores that do not allow takeovers.
func (w *world) takeOverRepeatedly(end <-chan struct{}) {
	rng := rngFor(w.plan.seed, "judge")
	for {
		select {
		case <-end:
			return
		case <-time.After(between(rng, 100*time.Millisecond, 2*time.Second)):
		}
		w.seenMu.Lock()
		var picked recentToken
		if len(w.recentTokens) > 0 {
			picked = w.recentTokens[rng.IntN(len(w.recentTokens))]
		}
		w.seenMu.Unlock()
		if picked.token != 0 {
			w.judge.takeOver(picked.semaphore, picked.token, groupOf(rng.IntN(2)))
		}
	}
}

func (p *process) takeOver(semaphore string, token uint64, group string) {
	by := history.Identity{Group: group, Acquirer: p.acquirer}
	complete := p.record.Call(history.Request{Kind: history.TakeOver, Semaphore: semaphore, Token: token, Identity: by})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := p.client.Permits().TakeOver(ctx, &gatekeeperv1.TakeOverRequest{
		Token: token, Identity: &gatekeeperv1.Identity{Group: by.Group, Acquirer: by.Acquirer}, Reason: "sim",
	})
	if err != nil {
		if refused, ok := errors.AsType[*client.StatusError](err); ok && refused.Reason == "REFUSED" && !allowsTakeover(semaphore) {
			p.world.paths.inc(takeoverNotAllowed)
		}
		complete(outcome(err), history.Response{}, err)
		return
	}
	complete(history.Known, history.Response{Result: history.Done}, nil)
}

// maybeAwaitFiring sometimes makes a caller wait for the end of a firing that another holder has claimed.
func (p *process) maybeAwaitFiring(w jobSpec, token uint64, rng *rand.Rand) {
	if p.world.judge != nil && token != 0 && rng.IntN(3) == 0 {
		p.awaitFiring(w.semaphore, w.due, token, rng)
	}
}

// awaitFiring watches another holder's claim until the claim or the simulation ends. A third of the claims are watched
// by the caller's own process, and the others by the judge, which survives every fault and must be notified of every
// outcome.
func (p *process) awaitFiring(semaphore string, due time.Time, token uint64, rng *rand.Rand) {
	w := p.world
	if rng.IntN(3) > 0 {
		p = w.judge
	}
	if rng.IntN(4) == 0 {
		token = 0 // any holder's claim
	}
	leader := w.serverLog.leader()
	complete := p.record.Call(history.Request{Kind: history.Await, Semaphore: semaphore, Firing: firingName(semaphore, due), Token: token})
	w.awaiting.Go(func() {
		for claim, err := range p.client.Semaphore(semaphore).WatchFiring(w.ctx, semaphore, due, token) {
			switch state := claim.GetState(); {
			case err != nil:
				if !errors.Is(err, client.ErrClosed) && !p.isCrashed() {
					w.failf("watch firing of %s, claimed with token %d: %v", semaphore, token, err)
				}
				return
			case state == gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, state == gatekeeperv1.FiringState_FIRING_STATE_OPEN:
			case p.isCrashed():
			default:
				if w.serverLog.leader() != leader {
					w.paths.inc(awaitedAcrossFailover)
				}
				complete(history.Known, history.Response{
					Result: history.FiringEnded, Firing: strings.TrimPrefix(state.String(), "FIRING_STATE_"), Token: claim.GetToken(),
					Failure: claim.GetFailure(), Attempts: claim.GetAttempts(),
				}, nil)
			}
		}
	})
}
