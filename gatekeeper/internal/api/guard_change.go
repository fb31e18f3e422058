package api

import (
	"context"
	"strconv"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// mayEdit returns nil if a principal may change one definition into another. Otherwise, it returns the reason. Either
// definition may be nil. For a change that a move could make, the operator role suffices.
func mayEdit(p *auth.Principal, state *fsm.State, before, after *semaphore.Definition) error {
	role := access.Editor
	switch {
	case before != nil && after != nil && isMove(before, after):
		role = access.Operator
		if p.MayDefine(access.Editor, before) && p.MayDefine(access.Editor, after) {
			return nil
		}
	case before == nil && after != nil && mayRepresentSubmitter(p, state, after), before != nil && after == nil && mayRepresentSubmitter(p, state, before):
		return nil
	}
	for _, d := range []*semaphore.Definition{before, after} {
		if d != nil && !p.MayDefine(role, d) {
			return &forbiddenError{p.Name(), role, "on semaphore " + strconv.Quote(d.Name)}
		}
	}
	return nil
}

// mayRepresentSubmitter reports whether a definition is for a semaphore that represents a job's submitter and the
// principal may be that submitter. Any existing job and permits must belong to the principal. The acquirer role, on
// any semaphore, suffices to create and delete such a definition.
func mayRepresentSubmitter(p *auth.Principal, state *fsm.State, d *semaphore.Definition) bool {
	job, ok := d.Labels.Get(rules.OwnLabel)
	if !ok || !strings.HasPrefix(d.Name, rules.OwnPrefix) || !p.MayRepresentSubmitter(d) {
		return false
	}
	if j := state.Job(job); j != nil && j.Principal != p.Name() {
		return false
	}
	for held := range state.Holders(d.Name) {
		if held.Identity.Principal != p.Name() {
			return false
		}
	}
	return true
}

// isMove reports whether two definitions differ only in the group pattern, if at all.
func isMove(before, after *semaphore.Definition) bool {
	fields := semaphore.Changed(before, after)
	return len(fields) == 0 || len(fields) == 1 && fields[0] == "group_pattern"
}

func (g guard) Edit(ctx context.Context, batch fsm.EditBatch, end keeper.Ending) (fsm.EditResult, error) {
	err := g.authorizeChange(ctx, &batch.Author, func(p *auth.Principal, state *fsm.State) error {
		for _, c := range batch.Changes {
			before := definitionOf(state, c.Name)
			if c.Kind == fsm.Create || c.Kind == fsm.Declare {
				before = nil // an existing definition is not changed
			}
			if err := mayEdit(p, state, before, c.Definition); err != nil {
				return err
			}
			if before == nil && c.Definition == nil && !p.May(access.Editor, state, c.Name) {
				return &forbiddenError{p.Name(), access.Editor, "on semaphore " + strconv.Quote(c.Name)}
			}
		}
		return nil
	})
	if err != nil {
		return fsm.EditResult{}, err
	}
	return g.Keeper.Edit(ctx, batch, end)
}

func definitionOf(state *fsm.State, name string) *semaphore.Definition {
	if sd := state.Definition(name); sd != nil {
		return sd.Definition
	}
	return nil
}

// mayOperate returns nil if a principal may pause or resume these semaphores or forget their firings. Otherwise, it
// returns the reason.
func mayOperate(p *auth.Principal, state *fsm.State, names ...string) error {
	for _, name := range names {
		allowed := p.May(access.Operator, state, name)
		if d := definitionOf(state, name); d != nil {
			allowed = p.MayDefine(access.Operator, d)
		}
		if !allowed {
			return &forbiddenError{p.Name(), access.Operator, "on semaphore " + strconv.Quote(name)}
		}
	}
	if len(names) == 0 && !p.Has(access.Operator) {
		return &forbiddenError{p.Name(), access.Operator, "anywhere"}
	}
	return nil
}

func mayCordon(p *auth.Principal, group, acquirer string) error {
	if p.MayCordon(group, acquirer) {
		return nil
	}
	return &forbiddenError{p.Name(), access.Operator, "to cordon " + strconv.Quote(group+acquirer) + " on every semaphore"}
}

func (g guard) Pause(ctx context.Context, cmd fsm.Pause, end keeper.Ending) (fsm.RevisionResult, error) {
	err := g.authorizeChange(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayOperate(p, state, cmd.Names...) })
	if err != nil {
		return fsm.RevisionResult{}, err
	}
	return g.Keeper.Pause(ctx, cmd, end)
}

func (g guard) Resume(ctx context.Context, cmd fsm.Resume) (fsm.RevisionResult, error) {
	err := g.authorizeChange(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayOperate(p, state, cmd.Names...) })
	if err != nil {
		return fsm.RevisionResult{}, err
	}
	return g.Keeper.Resume(ctx, cmd)
}

func (g guard) Cordon(ctx context.Context, cmd fsm.SetCordon, end keeper.Ending) (fsm.RevisionResult, error) {
	err := g.authorizeChange(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error {
		if before := state.Cordon(cmd.ID); before != nil {
			if err := mayCordon(p, before.GroupPattern, before.AcquirerPattern); err != nil {
				return err
			}
		}
		return mayCordon(p, cmd.GroupPattern, cmd.AcquirerPattern)
	})
	if err != nil {
		return fsm.RevisionResult{}, err
	}
	return g.Keeper.Cordon(ctx, cmd, end)
}

func (g guard) Uncordon(ctx context.Context, cmd fsm.Uncordon) (fsm.RevisionResult, error) {
	err := g.authorizeChange(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error {
		if before := state.Cordon(cmd.ID); before != nil {
			return mayCordon(p, before.GroupPattern, before.AcquirerPattern)
		}
		return mayOperate(p, state)
	})
	if err != nil {
		return fsm.RevisionResult{}, err
	}
	return g.Keeper.Uncordon(ctx, cmd)
}

func (g guard) ForgetFirings(ctx context.Context, cmd fsm.ForgetFirings) (fsm.FiringsResult, error) {
	err := g.authorizeChange(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayOperate(p, state, cmd.Semaphore) })
	if err != nil {
		return fsm.FiringsResult{}, err
	}
	return g.Keeper.ForgetFirings(ctx, cmd)
}

// Undo requires the roles needed for each change that it makes.
func (g guard) Undo(ctx context.Context, cmd fsm.Undo) (fsm.UndoResult, error) {
	err := g.authorizeChange(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayUndo(p, state, &cmd) })
	if err != nil {
		return fsm.UndoResult{}, err
	}
	return g.Keeper.Undo(ctx, cmd)
}

func mayUndo(p *auth.Principal, state *fsm.State, cmd *fsm.Undo) error {
	for _, e := range cmd.Edits {
		if err := mayEdit(p, state, definitionOf(state, e.Change.Name), e.Change.Definition); err != nil {
			return err
		}
		for _, end := range e.RestoredEnds {
			if err := mayEdit(p, state, end.Before, end.After); err != nil {
				return err
			}
		}
	}
	for _, u := range cmd.Pauses {
		for _, target := range u.Expected {
			if err := mayOperate(p, state, target.Name); err != nil {
				return err
			}
		}
	}
	for _, u := range cmd.Cordons {
		for _, c := range []*fsm.Cordon{state.Cordon(u.ID), u.Cordon} {
			if c == nil {
				continue
			}
			if err := mayCordon(p, c.GroupPattern, c.AcquirerPattern); err != nil {
				return err
			}
		}
	}
	for _, u := range cmd.Firings {
		if err := mayOperate(p, state, u.Semaphore); err != nil {
			return err
		}
	}
	if len(cmd.Edits)+len(cmd.Pauses)+len(cmd.Cordons)+len(cmd.Firings) == 0 {
		return mayOperate(p, state)
	}
	return nil
}

// authorizeOnJob requires the caller to be the job's submitter or an operator of its semaphore.
func (g guard) authorizeOnJob(ctx context.Context, id string, claimed *string) error {
	return g.authorizeChange(ctx, claimed, func(p *auth.Principal, state *fsm.State) error {
		j := state.Job(id)
		if j == nil {
			if p.Has(access.Operator) || p.Has(access.Acquirer) {
				return nil // the keeper reports the missing job
			}
			return &forbiddenError{p.Name(), access.Operator, "anywhere"}
		}
		if p.May(access.Operator, state, j.Semaphore) || ownsJob(p, j) {
			return nil
		}
		if p.May(access.Viewer, state, j.Semaphore) {
			return &forbiddenError{p.Name(), access.Operator, "on semaphore " + strconv.Quote(j.Semaphore)}
		}
		return &keeper.NoSuchJobError{ID: id}
	})
}

// ownsJob reports whether the principal submitted the job.
func ownsJob(p *auth.Principal, j *rules.Job) bool {
	return p.Has(access.Acquirer) && j.Principal == p.Name()
}

// SubmitJob requires the acquirer role, regardless of the identity to which the role is limited. A permit that
// represents the submitter must belong to the caller.
func (g guard) SubmitJob(ctx context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error) {
	if c := g.api.caller(ctx); c != nil {
		p, err := c.authorize(ctx, func(p *auth.Principal, state *fsm.State) error {
			if !p.MaySubmit(state, cmd.Spec.Semaphore) {
				return &forbiddenError{p.Name(), access.Acquirer, "on semaphore " + strconv.Quote(cmd.Spec.Semaphore)}
			}
			if permit := state.Permit(cmd.Submitter); permit != nil && !ownerOf(p, state).Sees(permit.Semaphore, permit.Identity) {
				return &keeper.NoSuchPermitError{Token: cmd.Submitter, Why: "there is no live permit with this token for the job to depend on"}
			}
			return nil
		})
		if err != nil {
			return fsm.SubmitResult{}, err
		}
		spec := *cmd.Spec
		spec.Author, cmd.Spec = author(p, spec.Author), &spec
	}
	return g.Keeper.SubmitJob(ctx, cmd)
}

// SubmitTasks requires the job to belong to the caller.
func (g guard) SubmitTasks(ctx context.Context, id string, cmd fsm.SubmitTasks) (fsm.SubmitResult, error) {
	err := g.authorizeChange(ctx, new(string), func(p *auth.Principal, state *fsm.State) error {
		j := state.JobByNumber(cmd.Job)
		switch {
		case j == nil:
			return nil // the keeper reports the missing job
		case j.Principal != p.Name():
			return &keeper.NoSuchJobError{ID: id}
		case !p.MaySubmit(state, j.Semaphore):
			return &forbiddenError{p.Name(), access.Acquirer, "on semaphore " + strconv.Quote(j.Semaphore)}
		}
		return nil
	})
	if err != nil {
		return fsm.SubmitResult{}, err
	}
	return g.Keeper.SubmitTasks(ctx, id, cmd)
}

func (g guard) CancelJob(ctx context.Context, id string, submitted uint64, author, reason string) (fsm.JobResult, error) {
	if err := g.authorizeOnJob(ctx, id, &author); err != nil {
		return fsm.JobResult{}, err
	}
	return g.Keeper.CancelJob(ctx, id, submitted, author, reason)
}

func (g guard) ChangeTasks(ctx context.Context, id string, cmd fsm.ChangeTasks) (fsm.JobResult, error) {
	if err := g.authorizeOnJob(ctx, id, new(string)); err != nil {
		return fsm.JobResult{}, err
	}
	return g.Keeper.ChangeTasks(ctx, id, cmd)
}

func (g guard) DeleteJob(ctx context.Context, id string, submitted uint64) (fsm.JobResult, error) {
	if err := g.authorizeOnJob(ctx, id, new(string)); err != nil {
		return fsm.JobResult{}, err
	}
	return g.Keeper.DeleteJob(ctx, id, submitted)
}

func (g guard) Configure(
	ctx context.Context, author, reason string, change func(fsm.Settings) (fsm.Settings, error),
) (before, after fsm.Settings, r fsm.RevisionResult, err error) {
	if err := g.authorizeChange(ctx, &author, mayAdminister); err != nil {
		return before, after, r, err
	}
	return g.Keeper.Configure(ctx, author, reason, change)
}

func mayAdminister(p *auth.Principal, _ *fsm.State) error {
	if p.Has(access.Admin) {
		return nil
	}
	return &forbiddenError{p.Name(), access.Admin, "anywhere"}
}
