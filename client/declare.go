package client

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxEdits and maxEditBytes bound a batch of edits; servers refuse larger ones.
	maxEdits     = 10000
	maxEditBytes = 1 << 20
)

// Declare makes the definitions that an application needs exist: it creates what is absent, overwrites nothing that is
// there, and does not bring back what an operator has deleted. Warnings of the servers, for example that permits are
// too brief to outlast a fail-over, go to the logger. So every process of an application can declare at its start. It
// returns the names that it skipped. The error is an *InvalidFieldError, whose field names the definition by its place,
// or one of those of every call; definitions before the one at fault may have been created.
func (c *Client) Declare(ctx context.Context, definitions ...*gatekeeperv1.Definition) (skipped []string, err error) {
	for len(definitions) > 0 {
		req := &gatekeeperv1.BatchEditRequest{Author: c.settings.defaults.acquirer, Reason: "declared by the application", RequestId: NewRequestID()}
		size := 0
		for _, d := range definitions {
			if size += proto.Size(d); len(req.Edits) == maxEdits || len(req.Edits) > 0 && size > maxEditBytes {
				break
			}
			req.Edits = append(req.Edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Declare{Declare: d}})
		}
		r, err := c.Definitions().BatchEdit(ctx, req)
		if err != nil {
			return skipped, err
		}
		for _, text := range r.GetWarnings() {
			c.settings.logger.Warn("gatekeeper: a declared definition", "warning", text)
		}
		skipped = append(skipped, r.GetSkipped()...)
		definitions = definitions[len(req.Edits):]
	}
	return slices.Clip(skipped), nil
}
