package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"syscall"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// prepareFolder opens the data folder, or makes it: for a cluster of this server alone, for the named set of Members, or, with
// Join, for the cluster that takes this server in.
func (c *Config) prepareFolder(ctx context.Context, peerAddress string, creds credentials.TransportCredentials) (*consensus.Folder, error) {
	want := consensus.FolderConfig{
		Dir:         c.DataDir,
		MemberID:    c.ID,
		ClusterName: c.ClusterName,
		Members:     c.members(),
		Join:        len(c.Join) > 0,
	}
	folder, err := consensus.PrepareFolder(want)
	if !errors.Is(err, consensus.ErrClusterIDNeeded) {
		if err == nil && want.Join {
			c.Logger.Info("the data folder belongs to a cluster: Join is not looked at", slog.Any("cluster_id", folder.ClusterID()))
		}
		return folder, c.folderError(err)
	}
	j := joining{servers: c.Join, credentials: creds, id: c.ID, peerAddress: peerAddress, log: c.Logger}
	answer, err := j.ask(ctx)
	if err != nil {
		return nil, err
	}
	if want.ClusterID, err = consensus.ParseClusterID(answer); err != nil {
		return nil, fmt.Errorf("%w: a server of %v answered nonsense: %w", ErrJoin, c.Join, err)
	}
	folder, err = consensus.PrepareFolder(want)
	return folder, c.folderError(err)
}

func (c *Config) members() []consensus.Member {
	members := make([]consensus.Member, len(c.Members))
	for i, m := range c.Members {
		members[i] = consensus.Member{ID: m.ID, PeerAddress: m.PeerAddress}
	}
	return members
}

// folderError says which of this package's errors an error of the data folder is. What the system did not refuse, the folder's
// content did.
func (c *Config) folderError(err error) error {
	if err == nil {
		return nil
	}
	kind := ErrForeignDataDir
	if folderInUse(c.DataDir) {
		kind = ErrDataDirLocked
	} else if is[*fs.PathError](err) || is[*os.LinkError](err) || is[syscall.Errno](err) {
		kind = ErrDataDir
	}
	return fmt.Errorf("%w: %w", kind, err)
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// warnOfMembers tells when Members, which is only looked at while the cluster is founded, is not what the cluster has become.
func (c *Config) warnOfMembers(now []consensus.Member) {
	if len(c.Members) == 0 {
		return
	}
	var configured, actual []string
	for _, m := range c.Members {
		configured = append(configured, m.ID+"="+m.PeerAddress)
	}
	for _, m := range now {
		actual = append(actual, m.ID+"="+m.PeerAddress)
	}
	slices.Sort(configured)
	slices.Sort(actual)
	if !slices.Equal(configured, actual) {
		c.Logger.Warn("the cluster has other members than Members says, which only founds a cluster: the cluster's own count",
			slog.Any("configured", configured), slog.Any("cluster", actual))
	}
}
