package conn

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// IdentityFlags say who asks.
type IdentityFlags struct{ Group, Acquirer, HolderID string }

// Register adds all of the flags.
func (f *IdentityFlags) Register(cmd *cobra.Command) {
	f.RegisterAsker(cmd)
	cmd.Flags().StringVar(&f.HolderID, "holder-id", "", "holder id; one that asks again takes over its own permit, under a new token")
}

// RegisterAsker registers those of a command whose holders are never the same.
func (f *IdentityFlags) RegisterAsker(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Group, "group", "", "group that asks (GK_GROUP), default "+client.DefaultGroup)
	cmd.Flags().StringVar(&f.Acquirer, "acquirer", "", "acquirer that asks (GK_ACQUIRER), default the host name")
}

// Options are those for the client.
func (f *IdentityFlags) Options() []client.Option {
	var opts []client.Option
	if f.Group != "" {
		opts = append(opts, client.WithGroup(f.Group))
	}
	if f.Acquirer != "" {
		opts = append(opts, client.WithAcquirer(f.Acquirer))
	}
	return opts
}

// Identity is who asks, complete.
func (f *IdentityFlags) Identity(g *Global) (*gatekeeperv1.Identity, error) {
	saved, err := g.saved()
	if err != nil {
		return nil, err
	}
	id := &gatekeeperv1.Identity{Group: f.Group, Acquirer: f.Acquirer, HolderId: f.HolderID}
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
