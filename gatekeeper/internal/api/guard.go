package api

import (
	"context"
	"strconv"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// guard is a keeper that asks first whether the caller may do what it asks for. Every change passes through it as a command that names its
// semaphores one by one, so that no batch, selector, plan or undo gets around it. Reads are bounded where they are made.
//
// It also puts the principal into the identity and the author of a command: nobody names them on the wire.
type guard struct {
	Keeper
	api *API
}

// as asks for the role of an acquirer on a semaphore with an identity, and puts the principal into that identity.
func (g guard) as(ctx context.Context, sem string, id *semaphore.Identity) error {
	c := g.api.caller(ctx)
	if c == nil {
		return nil
	}
	p, err := c.may(ctx, acquires(sem, *id))
	if err == nil {
		id.Principal = p.Name()
	}
	return err
}

// author is what stands in the journal: the principal, with the name that the caller claims beside it.
func author(p *auth.Principal, claimed string) string {
	if claimed == "" || claimed == unknownAuthor || claimed == p.Name() {
		return p.Name()
	}
	return p.Name() + " (" + claimed + ")"
}

// change asks whether the caller may do something, and makes it the author.
func (g guard) change(ctx context.Context, claimed *string, allowed func(p *auth.Principal, state *fsm.State) error) error {
	c := g.api.caller(ctx)
	if c == nil {
		return nil
	}
	p, err := c.may(ctx, allowed)
	if err == nil {
		*claimed = author(p, *claimed)
	}
	return err
}

func (g guard) TryAcquire(ctx context.Context, call *keeper.AcquireCall) (keeper.Answer, error) {
	if err := g.as(ctx, call.Semaphore, &call.Identity); err != nil {
		return keeper.Answer{}, err
	}
	return g.Keeper.TryAcquire(ctx, call)
}

func (g guard) TryAcquireTogether(ctx context.Context, calls []*keeper.AcquireCall, answer func(i int, a keeper.Answer, err error)) {
	var allowed []*keeper.AcquireCall
	var at []int
	for i, call := range calls {
		if err := g.as(ctx, call.Semaphore, &call.Identity); err != nil {
			answer(i, keeper.Answer{}, err)
			continue
		}
		allowed, at = append(allowed, call), append(at, i)
	}
	g.Keeper.TryAcquireTogether(ctx, allowed, func(i int, a keeper.Answer, err error) { answer(at[i], a, err) })
}

// Acquire ends, as if the caller had given up, once the caller may not acquire here any more.
func (g guard) Acquire(ctx context.Context, call *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error) {
	if err := g.as(ctx, call.Semaphore, &call.Identity); err != nil {
		return keeper.Answer{}, err
	}
	ctx, over := g.api.caller(ctx).while(ctx, acquires(call.Semaphore, call.Identity))
	defer over()
	answer, err := g.Keeper.Acquire(ctx, call, progress)
	if err != nil {
		err = refusedSince(ctx, err)
	}
	return answer, err
}

// acquires asks for the role of an acquirer on a semaphore with an identity.
func acquires(sem string, id semaphore.Identity) func(p *auth.Principal, state *fsm.State) error {
	return func(p *auth.Principal, state *fsm.State) error {
		if p.MayAs(access.Acquirer, state, sem, id) {
			return nil
		}
		return &forbiddenError{
			p.Name(), access.Acquirer, "on semaphore " + strconv.Quote(sem) + " as acquirer " + strconv.Quote(id.Acquirer) + " in group " + strconv.Quote(id.Group),
		}
	}
}

func (g guard) Cancel(ctx context.Context, sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error) {
	if err := g.as(ctx, sem, &id); err != nil {
		return fsm.CancelResult{}, err
	}
	return g.Keeper.Cancel(ctx, sem, id, requestID)
}

func (g guard) TakeOver(ctx context.Context, cmd fsm.TakeOver) (fsm.PermitResult, error) {
	if g.api.caller(ctx) != nil {
		const none = "there is no live permit with this token to take over"
		sem, err := g.semaphoreOf(ctx, cmd.Token, none)
		if err != nil {
			return fsm.PermitResult{}, err
		}
		if !g.api.visible(ctx, g.api.cfg.Machine.State(), sem) {
			return fsm.PermitResult{}, &keeper.NoSuchPermitError{Token: cmd.Token, Why: none}
		}
		if err := g.as(ctx, sem, &cmd.By); err != nil {
			return fsm.PermitResult{}, err
		}
	}
	return g.Keeper.TakeOver(ctx, cmd)
}

// semaphoreOf is that of a permit.
func (g guard) semaphoreOf(ctx context.Context, token uint64, none string) (string, error) {
	state, err := g.Keeper.Read(ctx)
	if err != nil {
		return "", err
	}
	if p := state.Permit(token); p != nil {
		return p.Semaphore, nil
	}
	return "", &keeper.NoSuchPermitError{Token: token, Why: none}
}

// onPermit asks whether the caller may act as an operator on a permit. One on which it may not is as if it were not there.
func (g guard) onPermit(ctx context.Context, token uint64, claimed *string, none string) error {
	if g.api.caller(ctx) == nil {
		return nil
	}
	if err := g.change(ctx, claimed, func(p *auth.Principal, state *fsm.State) error {
		permit := state.Permit(token)
		switch {
		case !p.Has(access.Operator):
			return &forbiddenError{p.Name(), access.Operator, "anywhere"}
		case permit == nil || !p.MayAs(access.Operator, state, permit.Semaphore, permit.Identity):
			return &keeper.NoSuchPermitError{Token: token, Why: none}
		}
		return nil
	}); err != nil {
		return err
	}
	return nil
}

func (g guard) Revoke(ctx context.Context, cmd fsm.Revoke) (fsm.PermitResult, error) {
	if err := g.onPermit(ctx, cmd.Token, &cmd.Author, "there is no live permit with this token to revoke"); err != nil {
		return fsm.PermitResult{}, err
	}
	return g.Keeper.Revoke(ctx, cmd)
}

func (g guard) Clear(ctx context.Context, token uint64, author, reason string) (fsm.PermitResult, error) {
	if err := g.onPermit(ctx, token, &author, "there is no permit with this token that is held for an operator"); err != nil {
		return fsm.PermitResult{}, err
	}
	return g.Keeper.Clear(ctx, token, author, reason)
}

// Verify is for verifiers, and for the owner of the permit.
func (g guard) Verify(ctx context.Context, sem string, token uint64) (keeper.Verification, error) {
	if c := g.api.caller(ctx); c != nil {
		state, err := g.Keeper.Read(ctx)
		if err != nil {
			return keeper.Verification{}, err
		}
		p, state, err := c.principal()
		if err != nil {
			return keeper.Verification{}, err
		}
		of := sem
		owner := semaphore.OwnerOf(p.Name())
		owned := false
		if permit := state.Permit(token); permit != nil {
			of, owned = permit.Semaphore, p.Has(access.Acquirer) && owner.Sees(permit.Identity)
		} else if ended := state.EndedPermit(token); ended != nil {
			of, owned = ended.Semaphore, p.Has(access.Acquirer) && owner.Sees(ended.Identity)
		}
		switch {
		case owned || p.May(access.Verifier, state, of):
		case !p.Has(access.Verifier) && !p.Has(access.Acquirer):
			return keeper.Verification{}, &forbiddenError{p.Name(), access.Verifier, "anywhere"}
		default:
			return keeper.Verification{Message: keeper.NeverWas(token), Revision: state.Revision()}, nil
		}
	}
	return g.Keeper.Verify(ctx, sem, token)
}

// Explain is for viewers. The caller that is explained has the principal of a permit that it holds.
func (g guard) Explain(ctx context.Context, req *semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
	if c := g.api.caller(ctx); c != nil {
		p, err := c.may(ctx, views(req.Semaphore))
		if err != nil {
			return nil, semaphore.Decision{}, "", 0, err
		}
		named := semaphore.Owner{Identity: &req.Identity}
		req.Identity.Principal = p.Name()
		for held := range c.api.cfg.Machine.State().Holders(req.Semaphore) {
			if held.State == semaphore.Live && named.Owns(held.Identity) {
				req.Identity.Principal = held.Identity.Principal
				break
			}
		}
	}
	return g.Keeper.Explain(ctx, req)
}

// mayEdit says why a principal may not turn one definition into another; either may be nil. What a move does, an operator may.
func mayEdit(p *auth.Principal, before, after *semaphore.Definition) error {
	role := access.Editor
	switch {
	case before != nil && after != nil && onlyMoves(before, after):
		role = access.Operator
		if p.MayDefine(access.Editor, before) && p.MayDefine(access.Editor, after) {
			return nil
		}
	case before == nil && after != nil && ofSubmitter(after):
		role = access.Acquirer // it goes with its job
	}
	for _, d := range []*semaphore.Definition{before, after} {
		if d != nil && !p.MayDefine(role, d) {
			return &forbiddenError{p.Name(), role, "on semaphore " + strconv.Quote(d.Name)}
		}
	}
	return nil
}

// ofSubmitter reports whether a definition is that of the semaphore that stands for the submitter of a job.
func ofSubmitter(d *semaphore.Definition) bool {
	_, ok := d.Labels.Get(rules.OwnLabel)
	return ok
}

// onlyMoves reports whether two definitions differ in the group pattern alone.
func onlyMoves(before, after *semaphore.Definition) bool {
	fields := semaphore.Changed(before, after)
	return len(fields) == 0 || len(fields) == 1 && fields[0] == "group_pattern"
}

func (g guard) Edit(ctx context.Context, batch fsm.EditBatch, end keeper.Ending) (fsm.EditResult, error) {
	err := g.change(ctx, &batch.Author, func(p *auth.Principal, state *fsm.State) error {
		for _, c := range batch.Changes {
			before := definitionOf(state, c.Name)
			if c.Kind == fsm.Create || c.Kind == fsm.Declare {
				before = nil // one that is there stays as it is
			}
			if err := mayEdit(p, before, c.Definition); err != nil {
				return err
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

// mayOperate says why a principal may not pause or resume one of these, or forget its firings.
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
	err := g.change(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayOperate(p, state, cmd.Names...) })
	if err != nil {
		return fsm.RevisionResult{}, err
	}
	return g.Keeper.Pause(ctx, cmd, end)
}

func (g guard) Resume(ctx context.Context, cmd fsm.Resume) (fsm.RevisionResult, error) {
	err := g.change(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayOperate(p, state, cmd.Names...) })
	if err != nil {
		return fsm.RevisionResult{}, err
	}
	return g.Keeper.Resume(ctx, cmd)
}

func (g guard) Cordon(ctx context.Context, cmd fsm.SetCordon, end keeper.Ending) (fsm.RevisionResult, error) {
	err := g.change(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error {
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
	err := g.change(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error {
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
	err := g.change(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayOperate(p, state, cmd.Semaphore) })
	if err != nil {
		return fsm.FiringsResult{}, err
	}
	return g.Keeper.ForgetFirings(ctx, cmd)
}

// Undo needs the role of each thing that it does.
func (g guard) Undo(ctx context.Context, cmd fsm.Undo) (fsm.UndoResult, error) {
	err := g.change(ctx, &cmd.Author, func(p *auth.Principal, state *fsm.State) error { return mayUndo(p, state, &cmd) })
	if err != nil {
		return fsm.UndoResult{}, err
	}
	return g.Keeper.Undo(ctx, cmd)
}

func mayUndo(p *auth.Principal, state *fsm.State, cmd *fsm.Undo) error {
	for _, e := range cmd.Edits {
		if err := mayEdit(p, definitionOf(state, e.Change.Name), e.Change.Definition); err != nil {
			return err
		}
		for _, end := range e.EndsBack {
			if err := mayEdit(p, end.Before, end.After); err != nil {
				return err
			}
		}
	}
	for _, u := range cmd.Pauses {
		for _, of := range u.Of {
			if err := mayOperate(p, state, of.Name); err != nil {
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

// onJob asks whether the caller may change a job: as its submitter, or as an operator of its semaphore.
func (g guard) onJob(ctx context.Context, id string, claimed *string) error {
	return g.change(ctx, claimed, func(p *auth.Principal, state *fsm.State) error {
		j := state.Job(id)
		if j == nil {
			if p.Has(access.Operator) || p.Has(access.Acquirer) {
				return nil // the keeper says that there is none
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

// ownsJob reports whether the principal has submitted the job.
func ownsJob(p *auth.Principal, j *rules.Job) bool {
	return p.Has(access.Acquirer) && j.Principal == p.Name()
}

// SubmitJob needs the role of an acquirer, whatever the identity of the workers. The permit that stands for the submitter must be its own.
func (g guard) SubmitJob(ctx context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error) {
	if c := g.api.caller(ctx); c != nil {
		p, err := c.may(ctx, func(p *auth.Principal, state *fsm.State) error {
			if !p.MaySubmit(state, cmd.Spec.Semaphore) {
				return &forbiddenError{p.Name(), access.Acquirer, "on semaphore " + strconv.Quote(cmd.Spec.Semaphore)}
			}
			if permit := state.Permit(cmd.Submitter); permit != nil && !semaphore.OwnerOf(p.Name()).Sees(permit.Identity) {
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

func (g guard) CancelJob(ctx context.Context, id string, submitted uint64, author, reason string) (fsm.JobResult, error) {
	if err := g.onJob(ctx, id, &author); err != nil {
		return fsm.JobResult{}, err
	}
	return g.Keeper.CancelJob(ctx, id, submitted, author, reason)
}

func (g guard) ChangeTasks(ctx context.Context, id string, cmd fsm.ChangeTasks) (fsm.JobResult, error) {
	if err := g.onJob(ctx, id, new(string)); err != nil {
		return fsm.JobResult{}, err
	}
	return g.Keeper.ChangeTasks(ctx, id, cmd)
}

func (g guard) DeleteJob(ctx context.Context, id string, submitted uint64) (fsm.JobResult, error) {
	if err := g.onJob(ctx, id, new(string)); err != nil {
		return fsm.JobResult{}, err
	}
	return g.Keeper.DeleteJob(ctx, id, submitted)
}

func (g guard) Configure(
	ctx context.Context, author, reason string, change func(fsm.Settings) (fsm.Settings, error),
) (before, after fsm.Settings, r fsm.RevisionResult, err error) {
	if err := g.change(ctx, &author, mayAdminister); err != nil {
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
