package change

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// AskFlags are those of a change that is shown before it is made, and can be repeated: --dry-run, --yes and --request-id.
type AskFlags struct {
	YesFlag
	RepeatFlag
	DryRun bool
}

// Register adds the flags. dryRun says what a dry run shows.
func (f *AskFlags) Register(cmd *cobra.Command, dryRun string) {
	f.YesFlag.Register(cmd)
	f.RepeatFlag.Register(cmd)
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, dryRun+"; do nothing")
}

// Preview asks the servers what a change would do and, unless it is a dry run, asks a person whether to make it. p needs neither effects,
// warnings nor reasons; what says what the change is.
func (f *AskFlags) Preview(
	ctx context.Context, to *conn.Factory, c *client.Client, req *gatekeeperv1.PreviewRequest, p Proposal, what func(*gatekeeperv1.PreviewResponse) string,
) (*gatekeeperv1.PreviewResponse, error) {
	looking, cancel := to.Bounded(ctx)
	defer cancel()
	r, err := c.Operator().Preview(looking, req)
	if err != nil || f.DryRun {
		return r, err
	}
	p.What, p.Effects, p.Warnings, p.Confirm = what(r), r.GetEffects(), r.GetWarnings(), r.GetConfirm()
	_, err = Agree(ctx, to.IO, &p, f.YesFlag)
	return r, err
}
