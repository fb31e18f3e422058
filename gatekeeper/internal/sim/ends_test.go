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
	case fires, judged:
		return 2 * time.Second
	case handed:
		return 6 * time.Second // long enough for several holders to die
	}
	return 0
}

func firingName(semaphore string, due time.Time) string {
	return fmt.Sprintf("%s@%s", semaphore, due.Format(time.TimeOnly))
}

// outcomeOf draws the outcome of a job.
func outcomeOf(luck *rand.Rand) gatekeeperv1.ReleaseOutcome {
	switch luck.IntN(8) {
	case 0:
		return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	case 1, 2:
		return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	case 3:
		return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
	}
	return gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
}

// releaseOf returns the release of a token as recorded in the history.
func releaseOf(semaphore string, token uint64, outcome gatekeeperv1.ReleaseOutcome) history.Request {
	return history.Releasing(semaphore, token, strings.TrimPrefix(outcome.String(), "RELEASE_OUTCOME_"))
}

// recent is a token that was granted recently and may have ended since.
type recent struct {
	semaphore string
	token     uint64
}

// granted records a token. Sometimes a caller then judges its holder dead, around the time at which the job or the
// permit ends.
func (w *world) granted(semaphore string, token uint64, ends time.Duration, luck *rand.Rand) {
	if w.judge == nil {
		return
	}
	w.seenMu.Lock()
	w.recents = append(w.recents, recent{semaphore, token})
	w.recents = w.recents[max(0, len(w.recents)-30):]
	w.seenMu.Unlock()
	if luck.IntN(4) > 0 {
		return
	}
	after := max(0, ends+between(luck, -30*time.Millisecond, 30*time.Millisecond))
	if luck.IntN(2) == 0 {
		after = between(luck, 0, ends)
	}
	group := groupOf(luck.IntN(2))
	w.late.Go(func() {
		pass(after)
		w.judge.takeOver(semaphore, token, group)
	})
}

// judges keeps judging holders dead, although the judge knows little about them. Some of the permits ended long ago,
// and others belong to semaphores that do not allow takeovers.
func (w *world) judges(end <-chan struct{}) {
	luck := luckOf(w.plan.seed, "judge")
	for {
		select {
		case <-end:
			return
		case <-time.After(between(luck, 100*time.Millisecond, 2*time.Second)):
		}
		w.seenMu.Lock()
		var one recent
		if len(w.recents) > 0 {
			one = w.recents[luck.IntN(len(w.recents))]
		}
		w.seenMu.Unlock()
		if one.token != 0 {
			w.judge.takeOver(one.semaphore, one.token, groupOf(luck.IntN(2)))
		}
	}
}

func (p *process) takeOver(semaphore string, token uint64, group string) {
	by := history.Identity{Group: group, Acquirer: p.acquirer}
	answered := p.record.Call(history.Request{Kind: history.TakeOver, Semaphore: semaphore, Token: token, Identity: by})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := p.client.Permits().TakeOver(ctx, &gatekeeperv1.TakeOverRequest{
		Token: token, Identity: &gatekeeperv1.Identity{Group: by.Group, Acquirer: by.Acquirer}, Reason: "sim",
	})
	if err != nil {
		if refused, ok := errors.AsType[*client.StatusError](err); ok && refused.Reason == "REFUSED" && !takeover(semaphore) {
			p.world.paths.met(takeOverForbidden)
		}
		answered(outcome(err), history.Response{}, err)
		return
	}
	answered(history.Known, history.Response{Result: history.Done}, nil)
}

// lostClaim sometimes makes a caller wait for the end of a firing that another holder has claimed.
func (p *process) lostClaim(w wish, token uint64, luck *rand.Rand) {
	if p.world.judge != nil && token != 0 && luck.IntN(3) == 0 {
		p.awaits(w.semaphore, w.due, token, luck)
	}
}

// awaits follows another holder's claim until the claim or the run ends. Most claims are followed by a process that
// survives every fault and must be notified of how each claim ended.
func (p *process) awaits(semaphore string, due time.Time, token uint64, luck *rand.Rand) {
	w := p.world
	if luck.IntN(3) > 0 {
		p = w.judge
	}
	if luck.IntN(4) == 0 {
		token = 0 // any holder's claim
	}
	led := w.serverLog.leader()
	answered := p.record.Call(history.Request{Kind: history.Await, Semaphore: semaphore, Firing: firingName(semaphore, due), Token: token})
	w.awaiting.Go(func() {
		for claim, err := range p.client.Semaphore(semaphore).WatchFiring(w.life, semaphore, due, token) {
			switch state := claim.GetState(); {
			case err != nil:
				if !errors.Is(err, client.ErrClosed) && !p.isCrashed() {
					w.wrong("waiting for the end of a firing of %s, claimed with token %d, failed: %v", semaphore, token, err)
				}
				return
			case state == gatekeeperv1.FiringState_FIRING_STATE_CLAIMED, state == gatekeeperv1.FiringState_FIRING_STATE_OPEN:
			case p.isCrashed():
			default:
				if w.serverLog.leader() != led {
					w.paths.met(awaitedLater)
				}
				answered(history.Known, history.Response{
					Result: history.FiringEnded, Firing: strings.TrimPrefix(state.String(), "FIRING_STATE_"), Token: claim.GetToken(),
					Failure: claim.GetFailure(), Attempts: claim.GetAttempts(),
				}, nil)
			}
		}
	})
}
