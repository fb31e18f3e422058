package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// batchFlags are those of every command that edits definitions.
type batchFlags struct {
	drain  drainFlag
	dryRun bool
}

func (f *batchFlags) register(cmd *cobra.Command) {
	f.drain.register(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and what that would do; do nothing")
}

// check refuses what contradicts itself before anything is asked of the servers, or of a person.
func (f *batchFlags) check() error {
	_, err := f.drain.read()
	return err
}

// carryOut carries a plan out and tells what was done; for a dry run it tells what would be done, and what that would do.
func (a *app) carryOut(
	ctx context.Context, c *client.Client, plan []change, flags batchFlags, end ending, output outputFlag, again string,
) error {
	drain, err := flags.drain.read()
	if err != nil {
		return err
	}
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	out := applied{Items: []appliedItem{}, DryRun: flags.dryRun, end: end}
	if flags.dryRun {
		if out.preview, err = a.preview(ctx, c, plan, drain, end); err != nil {
			return err
		}
		return a.told(output, plan, &out)
	}
	doubts := a.doubts(ctx, c, plan, drain, end)
	if takesHolders(plan) {
		if out.stops, err = a.preview(ctx, c, plan, drain, end); err != nil {
			return err
		}
	}
	if out.Revision, err = a.send(ctx, c, plan, drain, end, again); err != nil {
		return err
	}
	if err := a.told(output, plan, &out); err != nil {
		return err
	}
	for _, text := range doubts {
		a.say("warning: %s", cell(text))
	}
	return nil
}

// takesHolders says whether a plan deletes a definition that somebody holds permits of.
func takesHolders(plan []change) bool {
	return anyOf(plan, func(c change) bool { return c.action() == actionDeleted && c.before.GetHolders() > 0 })
}

// doubts are what a person should know of a plan, above all that nobody known would be let in: a slip in a pattern pauses a task
// without a word. A script has --dry-run for that.
func (a *app) doubts(ctx context.Context, c *client.Client, plan []change, drain *durationpb.Duration, end ending) []string {
	if !a.errTTY {
		return nil
	}
	r, err := a.preview(ctx, c, plan, drain, end)
	if err != nil {
		return nil // what is wrong with the plan is said when it is sent
	}
	return effectWarnings(r.GetEffects(), nil, someOf)
}

// preview asks the servers what a plan would do. It is nil when there is nothing to do.
func (a *app) preview(
	ctx context.Context, c *client.Client, plan []change, drain *durationpb.Duration, end ending,
) (*gatekeeperv1.PreviewResponse, error) {
	batch, edited, err := a.batch(plan, drain, end)
	if err != nil || batch == nil {
		return nil, err
	}
	r, err := c.Operator().Preview(ctx, &gatekeeperv1.PreviewRequest{Edits: batch})
	if e, ok := errors.AsType[*client.StatusError](err); ok && e.Code == codes.Unimplemented {
		a.say("These servers are of a version that cannot say what this would do to holders.")
		return nil, nil
	}
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		inBatch := *e
		inBatch.Field = strings.TrimPrefix(e.Field, "edits.")
		return nil, invalidField(edited, &inBatch)
	}
	return r, err
}
