package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// acquire acquires the permit, and takes over from a dead holder if necessary. It returns the run that due.Begin
// started, or the reason for giving up.
func (a *attempt) acquire(ctx context.Context, due gkgocron.DueRun) (*client.Run, error) {
	e, policy := a.entry, client.DenialSkip
	for attempt := 1; ; attempt++ {
		run, err := due.Begin(ctx, client.WithDenialPolicy(policy))
		denied, ok := errors.AsType[*client.DeniedError](err)
		if !ok {
			return run, err
		}
		verdict, token := e.judge(ctx, denied, attempt)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case verdict == Retry && attempt <= e.manager.settings.retries:
			if !sleep(ctx, e.manager.settings.retryDelay) {
				return nil, context.Cause(ctx)
			}
		case verdict == Dead && e.restartable():
			if err := a.takeOver(ctx, denied, token); err != nil {
				return nil, err
			}
			policy = client.DenialWait // the dead holder's slot is not free until its permit has ended
		case a.missed && policy == client.DenialSkip && (denied.Reason == client.ReasonNoFreePermit || denied.Reason == client.ReasonPaused):
			policy = client.DenialWait // this due time will not recur, and hosts that are catching up take turns
		default:
			return nil, err
		}
	}
}

// judge evaluates the holders that block the task, one by one. It stops at the first dead holder and returns its token.
func (e *entry) judge(ctx context.Context, d *client.DeniedError, attempt int) (v Verdict, token uint64) {
	v = Alive
	for _, token := range suspects(d) {
		switch e.judgeOne(ctx, d.Semaphore, token, attempt) {
		case Dead:
			return Dead, token
		case Retry:
			v = Retry
		case Alive:
		}
	}
	return v, 0
}

// suspects returns the tokens of the holders that caused the denial.
func suspects(d *client.DeniedError) (tokens []uint64) {
	switch d.Reason {
	case client.ReasonFiringClaimed:
		if d.Firing.GetState() == gatekeeperv1.FiringState_FIRING_STATE_CLAIMED {
			tokens = append(tokens, d.Firing.GetToken())
		}
	case client.ReasonNoFreePermit:
		for _, p := range d.Holders {
			if p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_LIVE {
				tokens = append(tokens, p.GetToken())
			}
		}
	}
	return tokens
}

func (e *entry) judgeOne(ctx context.Context, semaphore string, token uint64, attempt int) Verdict {
	m := e.manager
	m.mu.Lock()
	evidence := Evidence{Task: e.info(), Attempt: attempt}
	_, own := m.running[token]
	m.mu.Unlock()
	if own {
		return Alive // another task in this process uses the same semaphore
	}
	probeCtx, cancel := context.WithTimeout(ctx, m.settings.timeout)
	defer cancel()
	record, err := m.client.Verify(probeCtx, semaphore, token)
	switch {
	case errors.As(err, new(*client.NotValidError)):
		return Retry // the permit has since ended
	case err != nil:
		m.settings.logger.Warn("gatekeeper: cannot look up the holder that is blocking a denied task", "task", e.name, "token", token, "error", err)
		return Alive
	case record.Permit.GetStop() == gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER:
		return Dead // another host declared the holder dead
	case record.Stopping:
		return Alive // an operator or a rule is already stopping the holder
	}
	evidence.Holder = record.Permit
	evidence.Answer, evidence.Err = m.settings.probe.Alive(probeCtx, record.Permit)
	verdict := m.settings.strategy.Judge(ctx, evidence)
	m.settings.logger.Debug("gatekeeper: assessed the holder that is blocking a denied task", "task", e.name, "verdict", verdict, "token", token,
		"acquirer", record.Permit.GetIdentity().GetAcquirer(), "answer", evidence.Answer, "error", evidence.Err, "attempt", attempt)
	return verdict
}

// takeOver stops a dead holder. If the holder has claimed the task's firing, takeOver waits until the firing can be
// claimed again or has ended.
func (a *attempt) takeOver(ctx context.Context, d *client.DeniedError, token uint64) error {
	e := a.entry
	m := e.manager
	m.mu.Lock()
	a.state, a.tookOver = TakingOver, true
	m.mu.Unlock()
	semaphore := m.semaphore(e.name)
	holder, err := semaphore.TakeOver(ctx, token, fmt.Sprintf("task %s: declared dead", e.name))
	switch {
	case errors.As(err, new(*client.NoSuchPermitError)):
		return nil // the permit has since ended
	case err != nil:
		m.settings.logger.Warn("gatekeeper: the task cannot take over from a dead holder", "task", e.name, "token", token, "error", err)
		return fmt.Errorf("%w The takeover failed: %w", d, err)
	}
	m.settings.logger.Warn("gatekeeper: the task is taking over from a dead holder", "task", e.name, "token", token,
		"acquirer", holder.GetIdentity().GetAcquirer(), "group", holder.GetIdentity().GetGroup())
	if d.Reason != client.ReasonFiringClaimed {
		return nil
	}
	f := d.Firing.GetFiring()
	due := time.Time{}
	if f.GetDue() != nil {
		due = f.GetDue().AsTime()
	}
	for claim, err := range semaphore.WatchFiring(ctx, f.GetName(), due, token) {
		if err != nil {
			return fmt.Errorf("%w Could not wait for its holder to stop: %w", d, err)
		}
		if claim.GetState() != gatekeeperv1.FiringState_FIRING_STATE_CLAIMED {
			break
		}
	}
	return nil
}

// sleep waits for d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
