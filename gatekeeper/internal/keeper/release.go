package keeper

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Release ends a permit on behalf of its holder. If the permit has already ended, Release changes nothing, and the
// result reports how it ended. cmd.Job decides what happens to the firing. The slot cools for the rest of min_hold,
// measured in this epoch, and for as long as a holder may still rely on a superseded token of the permit. owner must
// own the permit: for another principal's permit, Release behaves as if the permit had never existed. While a member
// may not support jobs that failed or were cut short, such a job counts as done. Release sets the command's At and
// Cooling.
func (k *Keeper) Release(ctx context.Context, cmd fsm.Release, owner semaphore.Owner) (fsm.ReleaseResult, error) {
	// Check this first, because the state of a server that is being promoted may not reflect earlier responses yet.
	if _, err := k.leading(); err != nil {
		return fsm.ReleaseResult{}, err
	}
	token := cmd.Token
	cmd.At = time.Now()
	state := k.cfg.Machine.State()
	if fsm.Level(cmd) > state.FeatureLevel() {
		cmd.Job, cmd.Failure, cmd.Result = semaphore.JobDone, "", nil
	}
	sem, id, known := ownerOf(state, token)
	if owner.Principal != nil && (!known || !owner.Sees(sem, id)) {
		_, err := k.Read(ctx) // only a server that still leads can say for certain that the token is unknown
		return fsm.ReleaseResult{}, err
	}
	if known && !owner.Owns(sem, id) {
		return fsm.ReleaseResult{}, &RefusedError{fmt.Sprintf("the permit with token %d does not belong to the identity named in the call", token)}
	}
	if err := checkResult(state, &cmd); err != nil {
		return fsm.ReleaseResult{}, err
	}
	if p := state.Permit(token); p != nil {
		cmd.Cooling = k.cooling(state, p)
	}
	return do[fsm.ReleaseResult](ctx, k, cmd)
}

// ownerOf returns the semaphore and the identity to which a token belongs or belonged, if they are still recorded.
func ownerOf(state *fsm.State, token uint64) (sem string, owner semaphore.Identity, known bool) {
	if p := state.Permit(token); p != nil {
		return p.Semaphore, p.Identity, true
	}
	if ended := state.EndedPermit(token); ended != nil {
		return ended.Semaphore, ended.Identity, true
	}
	return "", semaphore.Identity{}, false
}

// cooling returns how long the slot of a live permit stays taken if its holder gives it up now: for the rest of
// min_hold, and for as long as the holders of superseded tokens may still rely on it.
func (k *Keeper) cooling(state *fsm.State, p *semaphore.Permit) time.Duration {
	left := k.lessor.Owed(p)
	if sd := state.Definition(p.Semaphore); sd != nil && sd.Definition.MinHold > 0 {
		left = max(left, semaphore.ReleaseCooling(sd.Definition, k.lessor.Held(p)))
	}
	return left
}

// Revoke orders the holder of a live permit to stop. Its refreshes are refused immediately or, with a drain, once the
// drain has ended. Revoke does not free the slot unless UnsafeNow is set, in which case the permit ends immediately,
// even if its holder still relies on it. If the permit is already due to stop at that time or earlier, it is returned
// unchanged. Revoke sets the command's At.
func (k *Keeper) Revoke(ctx context.Context, cmd fsm.Revoke) (fsm.PermitResult, error) {
	if err := validDrain(cmd.Drain); err != nil {
		return fsm.PermitResult{}, err
	}
	token := cmd.Token
	cmd.At = time.Now()
	r, err := do[fsm.PermitResult](ctx, k, cmd)
	if err == nil && !r.Applied && (r.Permit == nil || r.Permit.State != semaphore.Live) {
		return r, &NoSuchPermitError{token, "there is no live permit with this token to revoke" + describeState(r.Permit)}
	}
	return r, err
}

// TakeOver orders the holder of a live permit to stop because another caller considers it dead. It does not free the
// slot. The definition must allow takeovers and admit the caller. A permit that is already being stopped is returned
// unchanged. TakeOver sets the command's At.
func (k *Keeper) TakeOver(ctx context.Context, cmd fsm.TakeOver) (fsm.PermitResult, error) {
	if _, err := k.leading(); err != nil {
		return fsm.PermitResult{}, err
	}
	cmd.At = time.Now()
	state := k.cfg.Machine.State()
	if p := state.Permit(cmd.Token); p != nil {
		if err := k.mayTakeOver(state, p, cmd.By); err != nil {
			return fsm.PermitResult{}, err
		}
	}
	r, err := do[fsm.PermitResult](ctx, k, cmd)
	switch {
	case err != nil || r.Applied:
	case r.Permit == nil || r.Permit.State != semaphore.Live:
		return r, &NoSuchPermitError{cmd.Token, "there is no live permit with this token to take over" + describeState(r.Permit)}
	case r.Permit.Stop == semaphore.NotStopping:
		return r, &RefusedError{fmt.Sprintf("semaphore %q no longer allows takeovers", r.Permit.Semaphore)}
	}
	return r, err
}

func (k *Keeper) mayTakeOver(state *fsm.State, p *semaphore.Permit, by semaphore.Identity) error {
	sd := state.Definition(p.Semaphore)
	if sd == nil || !sd.Definition.Takeover {
		return &RefusedError{fmt.Sprintf("semaphore %q does not allow takeovers; an operator can revoke permit %d", p.Semaphore, p.Token)}
	}
	if a := k.patterns.admission(state, sd, by); !a.Group || !a.Acquirer || len(a.Cordons) > 0 {
		return &RefusedError{fmt.Sprintf("semaphore %q does not admit %q in group %q, so this caller cannot take over its permits", p.Semaphore, by.Acquirer, by.Group)}
	}
	return nil
}

// Clear ends a permit that on_expiry has held for an operator and frees its slot.
func (k *Keeper) Clear(ctx context.Context, token uint64, author, reason string) (fsm.PermitResult, error) {
	r, err := do[fsm.PermitResult](ctx, k, fsm.Clear{Token: token, Author: author, Reason: reason, At: time.Now()})
	if err == nil && !r.Applied {
		return r, &NoSuchPermitError{token, "there is no permit with this token that is held for an operator" + describeState(r.Permit)}
	}
	return r, err
}

func describeState(p *semaphore.Permit) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("; it is %s", p.State)
}

// Cancel ends the acquisition with the given request id. The acquisition leaves the queue, and a retry of the acquire
// never gets a grant. If the acquisition was granted a permit, the permit is given back, so the caller must no longer
// rely on it.
//
// A permit granted to another request by the identity is unaffected, even if it has superseded this request's permit.
// The firing is no longer claimed, because no job has run: a holder whose job has begun must release by token instead.
// The slot cools as it does after a release.
func (k *Keeper) Cancel(ctx context.Context, sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error) {
	if call, known := k.queue.Leave(queue.Key{Semaphore: sem, Identity: id, RequestID: requestID}); known {
		if call != nil {
			call.cancelled.Store(true)
			call.signal()
		}
		k.inbox.touch(sem)
	}
	for {
		if _, err := k.leading(); err != nil { // checked before the state is read, as in Release
			return fsm.CancelResult{}, err
		}
		state := k.cfg.Machine.State()
		cmd := fsm.Cancel{Semaphore: sem, Identity: id, RequestID: requestID}
		if p := state.Own(sem, id); p != nil && p.State == semaphore.Live && p.RequestID == requestID && state.FeatureLevel() >= 3 {
			cmd.Token, cmd.Cooling = p.Token, k.cooling(state, p)
		}
		r, err := do[fsm.CancelResult](ctx, k, cmd)
		if err != nil || !r.Changed {
			return r, err
		}
	}
}

// cancelledRecord returns the record of the call's acquisition after Cancel has ended it.
func cancelledRecord(call *AcquireCall) fsm.Remembered {
	return fsm.Remembered{
		Semaphore: call.Semaphore, Identity: call.Identity, RequestID: call.RequestID, Outcome: semaphore.EndCancelled,
	}
}

// do proposes a command on a caller's behalf and returns its result. The error is a *RequestReusedError if the request
// id of an edit belongs to a different edit, and a *RequestTooOldError if the edit may have been made and forgotten.
func do[R fsm.Result](ctx context.Context, k *Keeper, cmd fsm.Command) (R, error) {
	var none R
	t, err := k.leading()
	if err != nil {
		return none, err
	}
	if level := k.cfg.Machine.State().FeatureLevel(); fsm.Level(cmd) > level {
		return none, &FeatureLevelError{Needed: fsm.Level(cmd), InForce: level}
	}
	return resultOf[R](k, t, k.cfg.Proposer.Do(ctx, cmd))
}

// resultOf returns the result of a command, or translates its error for the caller.
func resultOf[R fsm.Result](k *Keeper, t *tenure, o batcher.Outcome) (R, error) {
	var none R
	if o.Err != nil {
		return none, k.failure(t, o.Err)
	}
	r, ok := o.Result.(R)
	if !ok {
		return none, invalid(o.Result)
	}
	return r, nil
}
