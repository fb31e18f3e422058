package keeper

import (
	"context"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Access changes bindings or tokens. cmd is a SetBinding, an IssueToken or a RevokeToken. The result reports whether
// anything changed.
func (k *Keeper) Access(ctx context.Context, cmd fsm.Command) (fsm.AccessResult, error) {
	return do[fsm.AccessResult](ctx, k, cmd)
}
