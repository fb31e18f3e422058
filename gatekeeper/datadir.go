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

// prepareDataDir opens or creates the data directory. A new directory belongs to a new single-server cluster, to a new
// cluster of Members (which must still agree on an id) or, with Join, to the cluster that accepts this server.
func (c *Config) prepareDataDir(ctx context.Context, peerAddress string, creds credentials.TransportCredentials) (*consensus.DataDir, error) {
	want := consensus.DataDirConfig{
		Dir:         c.DataDir,
		Memory:      c.consensusMemory(),
		MemberID:    c.ID,
		ClusterName: c.ClusterName,
		Members:     c.members(),
		Join:        len(c.Join) > 0,
	}
	dataDir, err := consensus.PrepareDataDir(want)
	if !errors.Is(err, consensus.ErrClusterIDNeeded) {
		if err == nil && want.Join {
			c.Logger.Info("the data directory already belongs to a cluster: Join will be used only to request a vote, if this member does not have one", slog.Any("cluster_id", dataDir.ClusterID()))
		}
		return dataDir, c.dataDirError(err)
	}
	clusterID, err := c.joiner(peerAddress, creds).join(ctx)
	if err != nil {
		return nil, err
	}
	if want.ClusterID, err = consensus.ParseClusterID(clusterID); err != nil {
		return nil, fmt.Errorf("%w: one of the servers %v sent an invalid cluster id: %w", ErrJoin, c.Join, err)
	}
	dataDir, err = consensus.PrepareDataDir(want)
	return dataDir, c.dataDirError(err)
}

// joiner returns the client that asks the servers in Join to add this server to their cluster.
func (c *Config) joiner(peerAddress string, creds credentials.TransportCredentials) *joiner {
	return &joiner{servers: c.Join, credentials: creds, id: c.ID, peerAddress: peerAddress, nonVoter: c.NonVoter, log: c.Logger}
}

func (c *Config) members() []consensus.Member {
	members := make([]consensus.Member, len(c.Members))
	for i, m := range c.Members {
		members[i] = consensus.Member{ID: m.ID, PeerAddress: m.PeerAddress}
	}
	return members
}

// dataDirError converts an error from the data directory to one of this package's errors.
func (c *Config) dataDirError(err error) error {
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
	case errors.Is(err, consensus.ErrDataDirInUse):
		return fmt.Errorf("%w: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignDataDir), errors.Is(err, fsm.ErrForeign):
		return fmt.Errorf("%w: %w", ErrForeignDataDir, err)
	case errors.Is(err, consensus.ErrLogStore):
		return fmt.Errorf("%w: %w", ErrLogStore, err)
	case errors.Is(err, consensus.ErrSuperseded):
		return fmt.Errorf("%w: %w", ErrSuperseded, err)
	default:
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}

// warnIfMembersDiffer warns if the cluster's members differ from the configuration. The cluster's own list of members
// and addresses is in effect; the configuration does not override it.
func (c *Config) warnIfMembersDiffer(peerAddress string, current []consensus.Member) {
	var configured, actual []string
	for _, m := range current {
		actual = append(actual, m.ID+"="+m.PeerAddress)
		if m.ID == c.ID && m.PeerAddress != peerAddress {
			c.Logger.Warn("the cluster has a different address for this server, so the other members cannot reach it: "+
				"start it at that address, or remove this member and let it join again under a new id with an empty data directory",
				slog.String("known", m.PeerAddress), slog.String("advertised", peerAddress))
		}
	}
	for _, m := range c.Members {
		configured = append(configured, m.ID+"="+m.PeerAddress)
	}
	slices.Sort(configured)
	slices.Sort(actual)
	if len(configured) > 0 && !slices.Equal(configured, actual) {
		c.Logger.Warn("the cluster's members differ from Members, which is used only to create a cluster: using the cluster's members",
			slog.Any("configured", configured), slog.Any("cluster", actual))
	}
}
