package keeper

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// ExpireNow ends a live or cooling permit as if its deadline had passed. Its holder may still rely on the permit, so
// ExpireNow breaks this package's guarantee. It exists for tests of how holders cope, and no API exposes it.
func (k *Keeper) ExpireNow(ctx context.Context, token uint64) (fsm.PermitResult, error) {
	var none fsm.PermitResult
	t, err := k.leading()
	if err != nil {
		return none, err
	}
	state := k.cfg.Machine.State()
	p := state.Permit(token)
	if p == nil || p.State == semaphore.Held {
		return none, &NoSuchPermitError{token, "there is no live or cooling permit with this token" + describeState(p)}
	}
	if p.State == semaphore.Cooling {
		return do[fsm.PermitResult](ctx, k, fsm.EndCooling{Token: token, Term: t.term})
	}
	var def *semaphore.Definition
	if sd := state.Definition(p.Semaphore); sd != nil {
		def = sd.Definition
	}
	return do[fsm.PermitResult](ctx, k, fsm.Expire{
		Token: token, Term: t.term, Cooling: semaphore.LossCooling(def, k.lessor.Held(p)), At: time.Now(),
	})
}
