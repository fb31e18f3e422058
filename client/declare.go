package client

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxEdits and maxEditBytes bound a batch of edits; servers reject larger ones.
	maxEdits     = 10000
	maxEditBytes = 1 << 20
)

// Declare creates the definitions that an application needs if they do not exist. It does not overwrite existing
// definitions and does not recreate those that an operator has deleted, so every process of an application can call it
// at startup. Warnings from the servers, for example about permits that are too short to survive a failover, are
// logged. Declare returns the names that it skipped. The error is an *InvalidFieldError, whose Field contains the
// definition's index, or an error that any call can return. Definitions before the invalid one may have been created.
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
			c.settings.logger.Warn("gatekeeper: the servers returned a warning about a declared definition", "warning", text)
		}
		skipped = append(skipped, r.GetSkipped()...)
		definitions = definitions[len(req.Edits):]
	}
	return slices.Clip(skipped), nil
}
