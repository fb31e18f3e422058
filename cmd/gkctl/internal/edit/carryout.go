package edit

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// batchFlags are those of every command that edits definitions.
type batchFlags struct {
	drain  change.DrainFlag
	dryRun bool
	change.YesFlag
}

func (f *batchFlags) register(cmd *cobra.Command) {
	f.drain.Register(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and what that would do; do nothing")
	f.YesFlag.Register(cmd)
}

// check refuses flags that contradict each other before gkctl asks the servers, or a person.
func (f *batchFlags) check() error {
	_, err := f.drain.Read()
	return err
}

// carryOut previews a plan, asks where that is needed, makes the change, and prints what was done. A dry run stops after the preview.
// Each edit carries the version that the preview saw, so the servers refuse the change if somebody edits a definition meanwhile.
func carryOut(
	ctx context.Context, f *conn.Factory, c *client.Client, plan []step, flags batchFlags, end change.Ending, output ui.Output, again string,
) error {
	drain, err := flags.drain.Read()
	if err != nil {
		return err
	}
	out := applied{Items: []appliedItem{}, DryRun: flags.dryRun, end: end}
	looking, cancel := f.Bounded(ctx)
	defer cancel()
	if out.preview, err = preview(looking, f, c, plan, drain, end, again); err != nil {
		return err
	}
	if !flags.dryRun {
		if out.asked, err = change.Agree(ctx, f.IO, proposed(plan, out.preview), flags.YesFlag); err != nil {
			return err
		}
		sending, cancel := f.Bounded(ctx)
		defer cancel()
		if out.Revision, err = send(sending, f, c, plan, drain, end, again); err != nil {
			return err
		}
	}
	return printApplied(f, output, plan, &out)
}

// proposed is a plan as a person is asked about it.
func proposed(plan []step, r *gatekeeperv1.PreviewResponse) *change.Proposal {
	names := make(map[string][]string)
	for i := range plan {
		names[plan[i].action()] = append(names[plan[i].action()], plan[i].name)
	}
	var parts []string
	for _, x := range []struct{ action, does string }{
		{actionCreated, "creates"}, {actionReplaced, "replaces"}, {actionDeleted, "deletes"},
	} {
		if some := names[x.action]; len(some) > 0 {
			parts = append(parts, x.does+" "+words.SomeNames(some))
		}
	}
	return &change.Proposal{
		What: "this " + strings.Join(parts, " and "), Question: "Go on?", Declined: "nothing was changed",
		Effects: r.GetEffects(), Warnings: r.GetWarnings(), Confirm: r.GetConfirm(),
	}
}

// preview asks the servers what a plan would do. It is nil when there is nothing to do.
func preview(
	ctx context.Context, f *conn.Factory, c *client.Client, plan []step, drain *durationpb.Duration, end change.Ending, again string,
) (*gatekeeperv1.PreviewResponse, error) {
	batch, edited, err := batch(f, plan, drain, end)
	if err != nil || batch == nil {
		return nil, err
	}
	r, err := c.Operator().Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Edits{Edits: batch}})
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		inBatch := *e
		inBatch.Field = strings.TrimPrefix(e.Field, "edits.")
		err = &inBatch
	}
	if err != nil {
		return nil, editRefusal(ctx, f, c, edited, err, again)
	}
	return r, nil
}
