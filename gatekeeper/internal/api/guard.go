package api

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// guard is a Keeper that checks the caller's permissions first. Every change passes through it as a command that lists
// its semaphores, so that batches, selectors, plans and undos cannot bypass the check. Reads are restricted by their
// handlers.
//
// guard also sets the principal in the identity and the author of a command. Callers cannot set it themselves.
type guard struct {
	Keeper
	api *API
}

// authorizeAcquire requires the acquirer role on a semaphore for an identity and sets the principal in that identity.
func (g guard) authorizeAcquire(ctx context.Context, sem string, id *semaphore.Identity) error {
	c := g.api.caller(ctx)
	if c == nil {
		return nil
	}
	p, err := c.authorize(ctx, mayAcquire(sem, *id))
	if err == nil {
		id.Principal = p.Name()
	}
	return err
}

// author returns the author for the journal: the principal, followed by the name that the caller claims.
func author(p *auth.Principal, claimed string) string {
	if claimed == "" || claimed == unknownAuthor || claimed == p.Name() {
		return p.Name()
	}
	return p.Name() + " (" + claimed + ")"
}

// authorizeChange requires a permission and sets the principal as the author.
func (g guard) authorizeChange(ctx context.Context, claimed *string, allowed permission) error {
	c := g.api.caller(ctx)
	if c == nil {
		return nil
	}
	p, err := c.authorize(ctx, allowed)
	if err == nil {
		*claimed = author(p, *claimed)
	}
	return err
}

func (g guard) TryAcquire(ctx context.Context, call *keeper.AcquireCall) (keeper.Answer, error) {
	if err := g.authorizeAcquire(ctx, call.Semaphore, &call.Identity); err != nil {
		return keeper.Answer{}, err
	}
	return g.Keeper.TryAcquire(ctx, call)
}

func (g guard) TryAcquireTogether(ctx context.Context, calls []*keeper.AcquireCall, answer func(i int, a keeper.Answer, err error)) {
	c := g.api.caller(ctx)
	if c == nil {
		g.Keeper.TryAcquireTogether(ctx, calls, answer)
		return
	}
	// All refusals are based on a single read of the state.
	refusals := make([]error, len(calls))
	p, err := c.authorize(ctx, func(p *auth.Principal, state *fsm.State) (first error) {
		for i, call := range calls {
			refusals[i] = mayAcquire(call.Semaphore, call.Identity)(p, state)
			first = cmp.Or(first, refusals[i])
		}
		return first
	})
	if p == nil {
		for i := range calls {
			answer(i, keeper.Answer{}, err)
		}
		return
	}
	var allowed []*keeper.AcquireCall
	var indexes []int
	for i, call := range calls {
		if refusals[i] != nil {
			g.api.auditCall(ctx, gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName, nil, nil, refusals[i])
			answer(i, keeper.Answer{}, refusals[i])
			continue
		}
		call.Identity.Principal = p.Name()
		allowed, indexes = append(allowed, call), append(indexes, i)
	}
	g.Keeper.TryAcquireTogether(ctx, allowed, func(i int, a keeper.Answer, err error) { answer(indexes[i], a, err) })
}

// Acquire stops waiting, as if the caller had given up, when the caller loses its permission to acquire.
func (g guard) Acquire(ctx context.Context, call *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error) {
	if err := g.authorizeAcquire(ctx, call.Semaphore, &call.Identity); err != nil {
		return keeper.Answer{}, err
	}
	call.Allowed = g.api.stillAllowed(ctx, mayAcquire(call.Semaphore, call.Identity))
	ctx, done := g.api.whileAllowed(ctx, mayAcquire(call.Semaphore, call.Identity))
	defer done()
	answer, err := g.Keeper.Acquire(ctx, call, progress)
	if err != nil {
		err = cancellationError(ctx, err)
	}
	return answer, err
}

// mayAcquire requires the acquirer role on a semaphore for an identity.
func mayAcquire(sem string, id semaphore.Identity) permission {
	return func(p *auth.Principal, state *fsm.State) error {
		if p.MayAs(access.Acquirer, state, sem, id) {
			return nil
		}
		if d := definitionOf(state, sem); d != nil && mayRepresentSubmitter(p, state, d) {
			return nil // the definition admits only the identity that it names
		}
		return &forbiddenError{
			p.Name(), access.Acquirer, "on semaphore " + strconv.Quote(sem) + " as acquirer " + strconv.Quote(id.Acquirer) + " in group " + strconv.Quote(id.Group),
		}
	}
}

func (g guard) Cancel(ctx context.Context, sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error) {
	if err := g.authorizeAcquire(ctx, sem, &id); err != nil {
		return fsm.CancelResult{}, err
	}
	return g.Keeper.Cancel(ctx, sem, id, requestID)
}

// Release and Refresh treat another principal's permit as nonexistent. Such calls are audited.
func (g guard) Release(ctx context.Context, cmd fsm.Release, owner semaphore.Owner) (fsm.ReleaseResult, error) {
	if owner.Principal != nil && g.api.hides(owner, cmd.Token) {
		g.api.auditHidden(ctx, gatekeeperv1.PermitService_Release_FullMethodName, cmd.Token)
	}
	return g.Keeper.Release(ctx, cmd, owner)
}

func (g guard) Refresh(ctx context.Context, received time.Time, owner semaphore.Owner, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
	results, err := g.Keeper.Refresh(ctx, received, owner, tokens)
	g.api.auditHidden(ctx, gatekeeperv1.PermitService_Refresh_FullMethodName, g.api.hidden(owner, results)...)
	return results, err
}

func (g guard) TakeOver(ctx context.Context, cmd fsm.TakeOver) (fsm.PermitResult, error) {
	if g.api.caller(ctx) != nil {
		const why = "there is no live permit with this token to take over"
		sem, err := g.semaphoreOf(ctx, cmd.Token, why)
		if err != nil {
			return fsm.PermitResult{}, err
		}
		if !g.api.visible(ctx, g.api.cfg.Machine.State(), sem) {
			return fsm.PermitResult{}, &keeper.NoSuchPermitError{Token: cmd.Token, Why: why}
		}
		if err := g.authorizeAcquire(ctx, sem, &cmd.By); err != nil {
			return fsm.PermitResult{}, err
		}
	}
	return g.Keeper.TakeOver(ctx, cmd)
}

// semaphoreOf returns the semaphore of a permit.
func (g guard) semaphoreOf(ctx context.Context, token uint64, why string) (string, error) {
	state, err := g.Keeper.Read(ctx)
	if err != nil {
		return "", err
	}
	if p := state.Permit(token); p != nil {
		return p.Semaphore, nil
	}
	return "", &keeper.NoSuchPermitError{Token: token, Why: why}
}

// authorizeOnPermit requires the operator role on a permit. Without it, the permit appears not to exist.
func (g guard) authorizeOnPermit(ctx context.Context, token uint64, claimed *string, why string) error {
	if g.api.caller(ctx) == nil {
		return nil
	}
	return g.authorizeChange(ctx, claimed, func(p *auth.Principal, state *fsm.State) error {
		permit := state.Permit(token)
		switch {
		case !p.Has(access.Operator):
			return &forbiddenError{p.Name(), access.Operator, "anywhere"}
		case permit == nil || !p.MayAs(access.Operator, state, permit.Semaphore, permit.Identity):
			return &keeper.NoSuchPermitError{Token: token, Why: why}
		}
		return nil
	})
}

func (g guard) Revoke(ctx context.Context, cmd fsm.Revoke) (fsm.PermitResult, error) {
	if err := g.authorizeOnPermit(ctx, cmd.Token, &cmd.Author, "there is no live permit with this token to revoke"); err != nil {
		return fsm.PermitResult{}, err
	}
	return g.Keeper.Revoke(ctx, cmd)
}

func (g guard) Clear(ctx context.Context, token uint64, author, reason string) (fsm.PermitResult, error) {
	if err := g.authorizeOnPermit(ctx, token, &author, "there is no permit with this token that is held for an operator"); err != nil {
		return fsm.PermitResult{}, err
	}
	return g.Keeper.Clear(ctx, token, author, reason)
}

// Verify requires the verifier role or ownership of the permit.
func (g guard) Verify(ctx context.Context, sem string, token uint64) (keeper.Verification, error) {
	if c := g.api.caller(ctx); c != nil {
		if _, err := g.Keeper.Read(ctx); err != nil {
			return keeper.Verification{}, err
		}
		p, state, err := c.principal()
		if err != nil {
			return keeper.Verification{}, err
		}
		may := p.May(access.Verifier, state, sem)
		check := func(name string, id semaphore.Identity) {
			may = p.MayAs(access.Verifier, state, name, id) || p.Has(access.Acquirer) && ownerOf(p, state).Sees(name, id)
		}
		if permit := state.Permit(token); permit != nil {
			check(permit.Semaphore, permit.Identity)
		} else if ended := state.EndedPermit(token); ended != nil {
			check(ended.Semaphore, ended.Identity)
		}
		switch {
		case may:
		case !p.Has(access.Verifier) && !p.Has(access.Acquirer):
			return keeper.Verification{}, &forbiddenError{p.Name(), access.Verifier, "anywhere"}
		default:
			if state.Permit(token) != nil {
				g.api.auditHidden(ctx, gatekeeperv1.PermitService_Verify_FullMethodName, token)
			}
			return keeper.Verification{Message: keeper.UnknownTokenMessage(token), Revision: state.Revision()}, nil
		}
	}
	return g.Keeper.Verify(ctx, sem, token)
}

// Explain requires the viewer role. If the request's identity holds a live permit, its principal is set to the permit's
// principal. Otherwise, it is set to the caller's.
func (g guard) Explain(ctx context.Context, req *semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
	if c := g.api.caller(ctx); c != nil {
		p, err := c.authorize(ctx, mayView(req.Semaphore))
		if err != nil {
			return nil, semaphore.Decision{}, "", 0, err
		}
		named := semaphore.Owner{Identity: &req.Identity}
		req.Identity.Principal = p.Name()
		for held := range c.api.cfg.Machine.State().Holders(req.Semaphore) {
			if held.State == semaphore.Live && named.Owns(held.Semaphore, held.Identity) {
				req.Identity.Principal = held.Identity.Principal
				break
			}
		}
	}
	return g.Keeper.Explain(ctx, req)
}
