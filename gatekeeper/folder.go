package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// prepareFolder opens the data folder, or makes it: for a cluster of this server alone, for the named set of Members,
// which must still agree on its id, or, with Join, for the cluster that takes this server in.
func (c *Config) prepareFolder(ctx context.Context, peerAddress string, creds credentials.TransportCredentials) (*consensus.Folder, error) {
	want := consensus.FolderConfig{
		Dir:         c.DataDir,
		Memory:      c.consensusMemory(),
		MemberID:    c.ID,
		ClusterName: c.ClusterName,
		Members:     c.members(),
		Join:        len(c.Join) > 0,
	}
	folder, err := consensus.PrepareFolder(want)
	if !errors.Is(err, consensus.ErrClusterIDNeeded) {
		if err == nil && want.Join {
			c.Logger.Info("the data folder belongs to a cluster: Join is asked only for a vote, when this member has none", slog.Any("cluster_id", folder.ClusterID()))
		}
		return folder, c.folderError(err)
	}
	answer, err := c.joining(peerAddress, creds).ask(ctx)
	if err != nil {
		return nil, err
	}
	if want.ClusterID, err = consensus.ParseClusterID(answer); err != nil {
		return nil, fmt.Errorf("%w: a server of %v answered nonsense: %w", ErrJoin, c.Join, err)
	}
	folder, err = consensus.PrepareFolder(want)
	return folder, c.folderError(err)
}

// joining is this server as one that the servers of Join take in.
func (c *Config) joining(peerAddress string, creds credentials.TransportCredentials) *joining {
	return &joining{servers: c.Join, credentials: creds, id: c.ID, peerAddress: peerAddress, nonVoter: c.NonVoter, log: c.Logger}
}

func (c *Config) members() []consensus.Member {
	members := make([]consensus.Member, len(c.Members))
	for i, m := range c.Members {
		members[i] = consensus.Member{ID: m.ID, PeerAddress: m.PeerAddress}
	}
	return members
}

// folderError says which of this package's errors an error of the data folder is.
func (c *Config) folderError(err error) error {
	if taken, ok := errors.AsType[*consensus.AddressTakenError](err); ok {
		return &ConfigError{"AdvertisePeer", taken.Address, fmt.Sprintf(
			"is the address of member %[1]s in the cluster's configuration: start this server at its own address, or remove %[1]s first (gkctl cluster remove %[1]s)", taken.Member)}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, consensus.ErrNotAgreed):
		return fmt.Errorf("%w: %w", ErrMembersMissing, err)
	case errors.Is(err, consensus.ErrMemberFounded):
		return fmt.Errorf("%w: %w", ErrMemberHasData, err)
	case errors.Is(err, consensus.ErrFolderInUse):
		return fmt.Errorf("%w: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignFolder), errors.Is(err, fsm.ErrForeign):
		return fmt.Errorf("%w: %w", ErrForeignDataDir, err)
	case errors.Is(err, consensus.ErrLogStore):
		return fmt.Errorf("%w: %w", ErrLogStore, err)
	case errors.Is(err, consensus.ErrSucceeded):
		return fmt.Errorf("%w: %w", ErrSucceeded, err)
	default:
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}

// warnOfMembers warns when the cluster differs from what this server is configured for. Its members are what the
// cluster decided, and addresses are not taken from a configuration that says otherwise.
func (c *Config) warnOfMembers(peerAddress string, now []consensus.Member) {
	var configured, actual []string
	for _, m := range now {
		actual = append(actual, m.ID+"="+m.PeerAddress)
		if m.ID == c.ID && m.PeerAddress != peerAddress {
			c.Logger.Warn("the cluster knows this server at another address, where the other members will not reach it: "+
				"start it there, or remove this member and let it join again under a new id with an empty data folder",
				slog.String("known", m.PeerAddress), slog.String("advertised", peerAddress))
		}
	}
	for _, m := range c.Members {
		configured = append(configured, m.ID+"="+m.PeerAddress)
	}
	slices.Sort(configured)
	slices.Sort(actual)
	if len(configured) > 0 && !slices.Equal(configured, actual) {
		c.Logger.Warn("the cluster has other members than Members says, which only founds a cluster: what the cluster says counts",
			slog.Any("configured", configured), slog.Any("cluster", actual))
	}
}
