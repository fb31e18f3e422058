package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Ending specifies when something ends: at an instant, or after a duration by the leader's clock. The zero Ending means
// never.
type Ending struct {
	At       time.Time
	Duration time.Duration
}

// Validate checks an end time and a drain against the rules that apply when the change is made. The error is a
// *semaphore.FieldError.
func (e Ending) Validate(drain time.Duration) error {
	if _, err := e.instant("until", time.Now()); err != nil {
		return err
	}
	return validDrain(drain)
}

// instant returns the end time by the leader's clock, or the zero time for never. The error is a *semaphore.FieldError
// that names the given field.
func (e Ending) instant(field string, now time.Time) (time.Time, error) {
	switch {
	case e.Duration < 0:
		return time.Time{}, &semaphore.FieldError{Field: field, Value: e.Duration.String(), Rule: "must be greater than 0"}
	case e.Duration > 0:
		return now.Round(0).Add(e.Duration), nil
	case !e.At.IsZero() && !e.At.After(now):
		return time.Time{}, &semaphore.FieldError{
			Field: field, Value: e.At.Format(time.RFC3339),
			Rule: "must be in the future: the leader's clock shows " + now.UTC().Format(time.RFC3339),
		}
	}
	return e.At, nil
}

// Pause pauses semaphores atomically. It sets the command's At and Until. The error is a *semaphore.FieldError if the
// end time or the drain is invalid, a *selector.NoDefinitionError if a name is not defined, and a *ConflictError if the
// state is not as expected.
func (k *Keeper) Pause(ctx context.Context, cmd fsm.Pause, end Ending) (fsm.RevisionResult, error) {
	now := time.Now()
	var err error
	if cmd.Until, err = end.instant("until", now); err != nil {
		return fsm.RevisionResult{}, err
	}
	if err := validDrain(cmd.Drain); err != nil {
		return fsm.RevisionResult{}, err
	}
	if err := k.checkDefined(cmd.Names, &cmd.Expected); err != nil {
		return fsm.RevisionResult{}, err
	}
	cmd.At = now
	k.clearUnsupported(&cmd.RequestHash, &cmd.RequestRevision)
	return withConflict(do[fsm.RevisionResult](ctx, k, cmd))
}

// Resume ends pauses atomically. It returns the same errors as Pause. The revision in its result is 0 if no semaphore
// was paused. If the command names no semaphore but has a request id, the id is still recorded, so that a retry does
// not resume a semaphore that has been paused since then.
func (k *Keeper) Resume(ctx context.Context, cmd fsm.Resume) (fsm.RevisionResult, error) {
	if err := k.checkDefined(cmd.Names, &cmd.Expected); err != nil {
		return fsm.RevisionResult{}, err
	}
	if len(cmd.Names) == 0 && (cmd.RequestID == "" || k.cfg.Machine.State().FeatureLevel() < 3) {
		return fsm.RevisionResult{}, nil
	}
	cmd.At = time.Now()
	k.clearUnsupported(&cmd.RequestHash, &cmd.RequestRevision)
	return withConflict(do[fsm.RevisionResult](ctx, k, cmd))
}

// withConflict returns a *ConflictError for a pause or a resume that did not find the expected state.
func withConflict(r fsm.RevisionResult, err error) (fsm.RevisionResult, error) {
	if err == nil && r.Conflict != nil {
		return r, &ConflictError{*r.Conflict}
	}
	return r, err
}

// Cordon sets a cordon. It returns a *semaphore.FieldError if one of its fields is invalid.
func (k *Keeper) Cordon(ctx context.Context, cmd fsm.SetCordon, end Ending) (fsm.RevisionResult, error) {
	now := time.Now()
	var err error
	if cmd.Until, err = end.instant("until", now); err != nil {
		return fsm.RevisionResult{}, err
	}
	if err := ValidCordon(&cmd); err != nil {
		return fsm.RevisionResult{}, err
	}
	cmd.At = now
	k.clearUnsupported(&cmd.RequestHash, &cmd.RequestRevision)
	return do[fsm.RevisionResult](ctx, k, cmd)
}

// ValidCordon checks the fields of a cordon. The error is a *semaphore.FieldError.
func ValidCordon(cmd *fsm.SetCordon) error {
	if cmd.GroupPattern == "" && cmd.AcquirerPattern == "" {
		return &semaphore.FieldError{Field: "group_pattern", Rule: "must be set unless acquirer_pattern is: a cordon applies to every caller that matches either pattern"}
	}
	if cmd.GroupPattern != "" {
		if _, err := semaphore.CompilePattern("group_pattern", cmd.GroupPattern); err != nil {
			return err
		}
	}
	if cmd.AcquirerPattern != "" {
		if _, err := semaphore.CompilePattern("acquirer_pattern", cmd.AcquirerPattern); err != nil {
			return err
		}
	}
	return validDrain(cmd.Drain)
}

// Uncordon ends a cordon. It returns a *NoSuchCordonError if no cordon has the id.
func (k *Keeper) Uncordon(ctx context.Context, cmd fsm.Uncordon) (fsm.RevisionResult, error) {
	cmd.At = time.Now()
	k.clearUnsupported(&cmd.RequestHash, &cmd.RequestRevision)
	r, err := do[fsm.RevisionResult](ctx, k, cmd)
	if err == nil && r.Revision == 0 {
		return r, &NoSuchCordonError{ID: cmd.ID}
	}
	return r, err
}

// WallClock returns the time against which firings' due times are compared while this server leads.
func (k *Keeper) WallClock() time.Time { return k.cfg.WallClock() }

// ForgetFirings forgets firings atomically. If any have been claimed, completed or forgotten since the plan was made,
// the result lists them and nothing is changed. ForgetFirings sets the command's At.
func (k *Keeper) ForgetFirings(ctx context.Context, cmd fsm.ForgetFirings) (fsm.FiringsResult, error) {
	cmd.At = time.Now()
	k.clearUnsupported(&cmd.RequestHash, &cmd.RequestRevision)
	return do[fsm.FiringsResult](ctx, k, cmd)
}

// Undo applies a plan from undo.NewPlan as one change. If anything has changed since the plan was made, the result
// names it and nothing is changed. Undo validates definitions, as Edit does: an *EditFieldError names a definition that
// now breaks a rule. Undo sets the command's At.
func (k *Keeper) Undo(ctx context.Context, cmd fsm.Undo) (fsm.UndoResult, error) {
	if err := validDrain(cmd.Drain); err != nil {
		return fsm.UndoResult{}, err
	}
	longest := k.cfg.Machine.State().Settings().MaxDuration
	for i, e := range cmd.Edits {
		var field *semaphore.FieldError
		if e.Definition != nil && errors.As(e.Definition.Validate(longest), &field) {
			return fsm.UndoResult{}, &EditFieldError{Index: i, Name: e.Name, Err: field}
		}
	}
	cmd.At = time.Now()
	k.clearUnsupported(&cmd.RequestHash, &cmd.RequestRevision)
	return do[fsm.UndoResult](ctx, k, cmd)
}

// Match reports whether a pattern matches an entire name. It uses the cache of compiled patterns. A pattern that cannot
// be compiled matches nothing.
func (k *Keeper) Match(pattern, name string) bool {
	return k.patterns.matches("pattern", pattern, name)
}

// Catches reports whether a cordon with these patterns would apply to a caller.
func (k *Keeper) Catches(groupPattern, acquirerPattern string, id semaphore.Identity) bool {
	c := k.patterns.compileCordon(&fsm.Cordon{GroupPattern: groupPattern, AcquirerPattern: acquirerPattern})
	return c.appliesTo(id)
}

// DrainLeft returns how much longer a permit's refreshes will succeed even though its holder must stop. It returns
// false if the holder need not stop or has no time left.
func (k *Keeper) DrainLeft(state *fsm.State, p *semaphore.Permit) (time.Duration, bool) {
	if p.State != semaphore.Live {
		return 0, false
	}
	d := k.admit(state, p, false)
	if d.Outcome != semaphore.Refreshed || d.Stop == semaphore.NotStopping {
		return 0, false
	}
	return k.drainLeft(state, p), true
}

// checkDefined returns a *selector.NoDefinitionError for an undefined name, unless the state machine compares the names
// with the expected versions. While a member may not support that comparison, checkDefined clears expected.
func (k *Keeper) checkDefined(names []string, expected *[]fsm.Expected) error {
	state := k.cfg.Machine.State()
	if state.FeatureLevel() < 3 {
		*expected = nil
	}
	if len(*expected) > 0 {
		return nil
	}
	return selector.CheckDefined(state, names...)
}

func validDrain(d time.Duration) error {
	if d < 0 || d > fsm.MaxDrain {
		return &semaphore.FieldError{Field: "drain", Value: d.String(), Rule: "must be 0 to " + fsm.MaxDrain.String()}
	}
	return nil
}
