package move

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands are the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newMove(f, (*moveOptions).run),
		newPause(f, (*pauseOptions).run),
		newResume(f, (*resumeOptions).run),
		newCordon(f, (*cordonOptions).run),
		newCordons(f),
		newUncordon(f),
	}
}

// chosen are the definitions that a command is for: names and globs, labels, or all.
type chosen struct {
	names  []string
	labels string
	all    bool
}

func (c *chosen) register(cmd *cobra.Command) {
	ui.RegisterSelector(cmd, &c.labels, `only those with these labels, as in "team=data,tier!=test"`)
	cmd.Flags().BoolVar(&c.all, "all", false, "every definition")
}

// selector is the choice as the API takes it. What contradicts itself is refused.
func (c *chosen) selector() (*gatekeeperv1.Selector, error) {
	switch some := len(c.names) > 0 || c.labels != ""; {
	case c.all && some:
		return nil, ui.Usagef("--all contradicts names, globs and -l: give one or the other")
	case !c.all && !some:
		return nil, ui.Usagef("give names, globs, -l or --all")
	}
	return &gatekeeperv1.Selector{Names: c.names, Labels: c.labels, All: c.all}, nil
}

// meant is the servers' answer that the choice matches nothing, in the words of nothingChosen. Other errors stay as they are.
func (c *chosen) meant(ctx context.Context, to *client.Client, err error) error {
	if !ui.ChoseNothing(err) {
		return err
	}
	return lookup.NothingChosen(ctx, to, c.names, c.labels)
}
