package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Edit applies a batch of edits atomically. It validates each definition, including its patterns, which only the leader
// compiles: an *EditFieldError names the first edit that breaks a rule. A *ConflictError names the first edit whose
// expected version is not current. If end is set, the replaced fields revert to their old values at that time. A
// *semaphore.FieldError reports an invalid end or drain. Edit sets the batch's At and Until.
func (k *Keeper) Edit(ctx context.Context, batch fsm.EditBatch, end Ending) (fsm.EditResult, error) {
	now := time.Now()
	var err error
	if batch.Until, err = end.instant("until", now); err != nil {
		return fsm.EditResult{}, err
	}
	if err := validDrain(batch.Drain); err != nil {
		return fsm.EditResult{}, err
	}
	longest := k.cfg.Machine.State().Settings().MaxDuration
	for i := range batch.Changes {
		c := &batch.Changes[i]
		if c.Definition == nil {
			continue
		}
		var field *semaphore.FieldError
		if err := c.Definition.Validate(longest); errors.As(err, &field) {
			return fsm.EditResult{}, &EditFieldError{Index: i, Name: c.Name, Err: field}
		}
	}
	batch.At = now
	k.clearUnsupported(&batch.RequestHash, &batch.RequestRevision)
	r, err := do[fsm.EditResult](ctx, k, batch)
	if err == nil && r.Conflict != nil {
		return r, &ConflictError{*r.Conflict}
	}
	return r, err
}

// Explain replays the decision for a request without changing anything. It returns each step, the decision, a
// one-sentence summary for the user, and the revision at which the decision holds.
func (k *Keeper) Explain(
	ctx context.Context, req *semaphore.Request,
) (steps []semaphore.Step, d semaphore.Decision, summary string, revision uint64, err error) {
	state, err := k.Read(ctx)
	if err != nil {
		return nil, semaphore.Decision{}, "", 0, err
	}
	facts := k.facts(state, &AcquireCall{Request: *req})
	if req.Worker || facts.OwnTask { // a worker asks for its next task under a different holder id
		asked := *req
		asked.Worker, facts.Own, facts.OwnTask, facts.Repeat = true, nil, false, false
		req = &asked
	}
	facts.WaitsAhead = k.ahead(req.Semaphore, nil)
	d = semaphore.Decide(req, &facts)
	steps, summary = semaphore.Explain(req, &facts), k.sentence(state, req, &facts, d)
	if d.Reason == semaphore.Cordoned {
		steps[len(steps)-1].Text = summary // the deciding step
	}
	return steps, d, summary, state.Revision(), nil
}
