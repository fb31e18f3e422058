package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// identityFlags say who asks.
type identityFlags struct{ group, acquirer, holderID string }

func (f *identityFlags) register(cmd *cobra.Command) {
	f.registerAsker(cmd)
	cmd.Flags().StringVar(&f.holderID, "holder-id", "", "holder id; one that asks again takes over its own permit, under a new token")
}

// registerAsker registers those of a command whose holders are never the same.
func (f *identityFlags) registerAsker(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.group, "group", "", "group that asks (GK_GROUP), default "+client.DefaultGroup)
	cmd.Flags().StringVar(&f.acquirer, "acquirer", "", "acquirer that asks (GK_ACQUIRER), default the host name")
}

// options are those for the client.
func (f *identityFlags) options() []client.Option {
	var opts []client.Option
	if f.group != "" {
		opts = append(opts, client.WithGroup(f.group))
	}
	if f.acquirer != "" {
		opts = append(opts, client.WithAcquirer(f.acquirer))
	}
	return opts
}

// identity is who asks, complete.
func (f *identityFlags) identity(g *globalOptions) (*gatekeeperv1.Identity, error) {
	saved, err := g.saved()
	if err != nil {
		return nil, err
	}
	id := &gatekeeperv1.Identity{Group: f.group, Acquirer: f.acquirer, HolderId: f.holderID}
	if id.Group == "" {
		id.Group = g.pick("group", "", saved.Group)
	}
	if id.Group == "" {
		id.Group = client.DefaultGroup
	}
	if id.Acquirer == "" {
		id.Acquirer = g.pick("acquirer", "", saved.Acquirer)
	}
	if id.Acquirer == "" {
		if id.Acquirer, err = os.Hostname(); err != nil {
			return nil, ui.Usagef("give --acquirer: this machine does not say its name: %w", err)
		}
	}
	return id, nil
}
