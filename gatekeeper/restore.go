package gatekeeper

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/internal/backup"
)

// ErrBackup means that Restore cannot use the file: it is not a backup, is damaged, was written by a newer version, or
// cannot be read.
var ErrBackup = errors.New("cannot use the backup")

// RestoreConfig configures Restore, which creates a cluster from a backup.
type RestoreConfig struct {
	// File is a backup written by gkctl snapshot save.
	File string
	// DataDir is the data directory to create. It must be empty or not exist.
	DataDir string
	// ID is the id of the new server. It may be the id of a member of the old cluster, because servers of the two
	// clusters reject each other, but not the id of a removed member.
	ID string
	// LogStore selects how DataDir stores its log. The default is LogStoreBolt.
	LogStore LogStore
	// MaxDuration and UnsafeGrantAfter have the same meaning as in RecoverConfig.
	MaxDuration      time.Duration
	UnsafeGrantAfter *time.Duration
	// Author and Reason are written to the journal.
	Author, Reason string
}

// Restore creates the data directory of a new single-server cluster from a backup. Other servers then join it as they
// would any other cluster. The new cluster has a different seed from the old one, so servers and clients of the two
// reject each other: unlike Recover, Restore does not replace the old cluster.
//
// Changes since the backup are lost, and the old cluster may have granted permits that are not in the backup. For that
// reason, no live permit is carried over, new permits get tokens higher than any issued before, older requests are
// rejected as too old, and no permits are granted until the longest possible permit has ended. Bindings and bearer
// tokens come from the backup: credentials that have been revoked since then are valid again.
//
// Restore works offline. After an error, no server can start from the directory. It returns a *ConfigError, ErrBackup,
// or ErrDataDir.
func Restore(cfg RestoreConfig) (*Recovery, error) {
	if cfg.File == "" {
		return nil, &ConfigError{"File", "", "must be given: the backup to restore"}
	}
	newServer := newServerConfig{cfg.DataDir, cfg.ID, cfg.LogStore, cfg.MaxDuration, cfg.UnsafeGrantAfter}
	if err := newServer.validate(); err != nil {
		return nil, err
	}
	if err := newServer.checkEmpty(); err != nil {
		return nil, err
	}
	from, err := backup.Read(filepath.Clean(cfg.File))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	old := from.State
	now := time.Now()
	if now.Before(from.TakenAt) {
		return nil, fmt.Errorf("%w: this machine's clock reads %s, but the backup was taken at %s: set the clock; otherwise, tokens could be issued twice",
			ErrBackup, now.UTC().Format(time.RFC3339), from.TakenAt.UTC().Format(time.RFC3339))
	}
	if old.LastToken() >= uint64(now.Unix())<<20 {
		return nil, fmt.Errorf("%w: its last token, %d, is from a time that this machine's clock (%s) has not reached: set the clock; otherwise, tokens could be issued twice",
			ErrBackup, old.LastToken(), now.UTC().Format(time.RFC3339))
	}
	if old.Retired(cfg.ID) {
		return nil, &ConfigError{"ID", cfg.ID, "is the id of a removed member: choose a different id"}
	}
	id := consensus.NewClusterID()
	out := &Recovery{ClusterID: id.String(), OldClusterID: old.ClusterID(), ClusterName: from.ClusterName, PeerAddress: DefaultPeerAddress, TakenAt: from.TakenAt}
	state, err := out.recovered(old, fsm.Recovery{
		ClusterID: id.String(), At: now, Author: cfg.Author, Reason: cfg.Reason, MaxDuration: cfg.MaxDuration,
		Backup: fmt.Sprintf("taken at %s by member %s at revision %d", from.TakenAt.UTC().Format(time.RFC3339), from.Member, old.Revision()),
	}, cfg.UnsafeGrantAfter)
	if err != nil {
		return nil, err
	}
	err = consensus.Bootstrap(consensus.BootstrapConfig{
		Dir: cfg.DataDir, ClusterID: id, ClusterName: from.ClusterName, MemberID: cfg.ID, PeerAddress: out.PeerAddress,
		LogStore: consensus.LogStore(cmp.Or(cfg.LogStore, LogStoreBolt)), State: state,
		// A state without applied entries has no term or index, but a Raft snapshot must have both.
		Term: max(old.Term(), 1), LastIndex: max(old.Index(), 1), LastTerm: max(old.Term(), 1),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	return out, nil
}
