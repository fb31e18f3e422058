package keeper

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Configure changes the settings. It calls change with the current settings, commits the result, and returns the
// settings before and after. Calls on the same leader are serialized, so none overwrites another's change. If change
// returns an error, Configure returns it unchanged and does nothing. Once the command has been proposed, Configure
// waits for its outcome even if ctx ends, because the next call must see it.
func (k *Keeper) Configure(
	ctx context.Context, author, reason string, change func(fsm.Settings) (fsm.Settings, error),
) (before, after fsm.Settings, r fsm.RevisionResult, err error) {
	select {
	case k.configuring <- struct{}{}:
		defer func() { <-k.configuring }()
	case <-ctx.Done():
		return before, after, r, ctx.Err()
	}
	state, err := k.Read(ctx)
	if err != nil {
		return before, after, r, err
	}
	before = state.Settings()
	if after, err = change(before); err != nil || after == before {
		return before, after, r, err
	}
	r, err = do[fsm.RevisionResult](context.WithoutCancel(ctx), k, fsm.Configure{Settings: after, Author: author, Reason: reason, At: time.Now()})
	return before, after, r, err
}
