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

// ErrBackup: a file is not a backup, is damaged, was written by a newer version, or cannot be read. It is an error of
// Restore.
var ErrBackup = errors.New("cannot use the backup")

// RestoreConfig says from which backup a cluster is made.
type RestoreConfig struct {
	// File is what gkctl snapshot save has written.
	File string
	// DataDir is the data folder to make: one that is not there, or is empty.
	DataDir string
	// ID is the new server's. It may be that of a member of the old cluster, whose servers refuse the new one's, but
	// not one that was removed.
	ID string
	// LogStore is how DataDir is to keep its log. Default LogStoreBolt.
	LogStore LogStore
	// MaxDuration and UnsafeGrantAfter are those of RecoverConfig.
	MaxDuration      time.Duration
	UnsafeGrantAfter *time.Duration
	// Author and Reason are journaled.
	Author, Reason string
}

// Restore makes the data folder of a new cluster of one server from a backup; other servers join it as they join any.
// It has another seed than the old cluster, so that servers and clients of the two refuse each other: unlike Recover,
// it does not replace the old cluster.
//
// What was changed since the backup is lost, and the old cluster has granted permits that it does not know. So no live
// permit is carried over, tokens continue above all that were ever given, requests from before are refused as too old,
// and nothing is granted until the longest permit has certainly ended. Bindings and tokens are those of the backup:
// what was revoked since is valid again.
//
// It works offline. When there is an error, no server starts from what was made: a *ConfigError, ErrBackup, or
// ErrDataDir.
func Restore(cfg RestoreConfig) (*Recovery, error) {
	if cfg.File == "" {
		return nil, &ConfigError{"File", "", "must be given: the backup to restore"}
	}
	next := founding{cfg.DataDir, cfg.ID, cfg.LogStore, cfg.MaxDuration, cfg.UnsafeGrantAfter}
	if err := next.validate(); err != nil {
		return nil, err
	}
	if err := next.checkEmpty(); err != nil {
		return nil, err
	}
	from, err := backup.Read(filepath.Clean(cfg.File))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	old := from.State
	now := time.Now()
	if now.Before(from.TakenAt) {
		return nil, fmt.Errorf("%w: this machine's clock says %s, and the backup was taken at %s: set the clock, or tokens could be given again",
			ErrBackup, now.UTC().Format(time.RFC3339), from.TakenAt.UTC().Format(time.RFC3339))
	}
	if old.LastToken() >= uint64(now.Unix())<<20 {
		return nil, fmt.Errorf("%w: its last token, %d, is of a time that this machine's clock (%s) has not reached: set the clock, or tokens could be given again",
			ErrBackup, old.LastToken(), now.UTC().Format(time.RFC3339))
	}
	if old.Retired(cfg.ID) {
		return nil, &ConfigError{"ID", cfg.ID, "was a member that was removed: a server needs an id that was not"}
	}
	id := consensus.DrawClusterID()
	out := &Recovery{ClusterID: id.String(), OldClusterID: old.ClusterID(), ClusterName: from.ClusterName, PeerAddress: DefaultPeerAddress, TakenAt: from.TakenAt}
	state, err := out.recovered(old, fsm.Recovery{
		ClusterID: id.String(), At: now, Author: cfg.Author, Reason: cfg.Reason, MaxDuration: cfg.MaxDuration,
		Backup: fmt.Sprintf("taken at %s by member %s at revision %d", from.TakenAt.UTC().Format(time.RFC3339), from.Member, old.Revision()),
	}, cfg.UnsafeGrantAfter)
	if err != nil {
		return nil, err
	}
	err = consensus.Found(consensus.Founding{
		Dir: cfg.DataDir, ClusterID: id, ClusterName: from.ClusterName, MemberID: cfg.ID, PeerAddress: out.PeerAddress,
		LogStore: consensus.LogStore(cmp.Or(cfg.LogStore, LogStoreBolt)), State: state,
		// A state to which nothing was applied yet has neither; Raft's snapshots have.
		Term: max(old.Term(), 1), LastIndex: max(old.Index(), 1), LastTerm: max(old.Term(), 1),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	return out, nil
}
