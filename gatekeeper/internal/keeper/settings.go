package keeper

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Configure changes the settings. It calls change with those in force, commits what change returns, and returns both. Calls on one leader
// take turns, so that none overwrites what another has set. An error of change is returned as it is, and nothing is done.
func (k *Keeper) Configure(
	ctx context.Context, author, reason string, change func(fsm.Settings) (fsm.Settings, error),
) (before, after fsm.Settings, r fsm.RevisionResult, err error) {
	k.configuring.Lock()
	defer k.configuring.Unlock()
	state, err := k.Read(ctx)
	if err != nil {
		return before, after, r, err
	}
	before = state.Settings()
	if after, err = change(before); err != nil || after == before {
		return before, after, r, err
	}
	r, err = do[fsm.RevisionResult](ctx, k, fsm.Configure{Settings: after, Author: author, Reason: reason, At: time.Now()})
	return before, after, r, err
}
