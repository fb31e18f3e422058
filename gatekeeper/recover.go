package gatekeeper

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// RecoverConfig configures the recovery of a cluster that has permanently lost its majority.
type RecoverConfig struct {
	// From lists the remaining data directories of the old cluster's servers. None of these servers may be running now,
	// and none may ever be started again. The directories are opened read-only.
	From []string
	// DataDir is the data directory to create. It must be empty or not exist.
	DataDir string
	// ID is the id of the new server. It must never have been used by a member of the old cluster.
	ID string
	// LogStore selects how DataDir stores its log. The default is the log store of the chosen directory.
	LogStore LogStore
	// Backup means that the directories are older copies. Permits in them are not carried over, even if the directories
	// belong to a majority of the voters.
	Backup bool
	// Again accepts directories whose server stopped because its cluster had already been recovered. The result is a
	// second cluster that competes with the first recovered one, which must never run again.
	Again bool
	// MaxDuration overrides the largest max_duration found in the directories. Set it if the old cluster ever used a
	// longer one that the directories may not contain, because it was set after they were copied or only on the lost
	// majority. No permits will be granted for that long. If the permits are carried over, no wait is needed, and the
	// value is only stored for a later recovery. 0 means the value in the directories.
	MaxDuration time.Duration
	// UnsafeGrantAfter, if not nil, shortens the wait: permits are granted this long after the new server first starts,
	// even though holders of the old cluster's permits may rely on them for longer. Set it only if an operator has made
	// sure that those holders stop in time. It is recorded in the journal, and ignored if the permits are carried over.
	UnsafeGrantAfter *time.Duration
	// Author and Reason are written to the journal.
	Author, Reason string
}

// Recovery is the result of Recover or Restore.
type Recovery struct {
	// ClusterID is the id of the new cluster, and OldClusterID is the id of the old one.
	ClusterID, OldClusterID string
	ClusterName             string
	// PeerAddress is the peer address that is assumed for the new server until it starts.
	PeerAddress string
	// DataDirs describes the directories in RecoverConfig.From, in the same order.
	DataDirs []RecoveredDataDir
	// VotersRead is the number of voters, out of Voters, whose directories could be read completely. Retired lists the
	// ids of all known members of the old cluster.
	VotersRead, Voters int
	Retired            []string
	// PermitsKept means that the permits are carried over, each with its full duration, because the directories of a
	// majority of the last voters were read. Permits is the number of permits in the new cluster. If PermitsKept is
	// false, all of them are held for an operator, PermitsLost permits were lost, and PermitsCooled were cooling: they
	// had ended but still occupied their slots.
	PermitsKept                         bool
	Permits, PermitsLost, PermitsCooled int
	// Quarantine is how long the new server grants no permits after it first starts. FullQuarantine is the safe wait
	// after a recovery that keeps no permits.
	Quarantine, FullQuarantine time.Duration
	Definitions                int
	// TakenAt is the time at which the backup was taken. It is zero after Recover.
	TakenAt time.Time
}

// RecoveredDataDir describes one directory that Recover read.
type RecoveredDataDir struct {
	Dir, MemberID       string
	LastTerm, LastIndex uint64
	// Chosen marks the directory from which the new cluster starts: the one with the most recent last entry.
	Chosen bool
	// Err is the reason why the directory is treated as lost. It is nil if the directory could be read.
	Err error
}

// Recover creates the data directory of a new single-server cluster from what is left of a cluster that has permanently
// lost its majority. Other servers then join it as they would any other cluster. The new cluster has the definitions,
// pauses, cordons and journal of the directory with the most recent last entry. It has a new id, so that servers in the
// old cluster and the new one reject each other.
//
// Recover keeps entries at the end of a log even if they may never have been committed: keeping an unacknowledged
// change does no harm, but losing an acknowledged one does. Every committed change is certain to be included only if
// the directories of a majority of the last voters are read. In that case permits are carried over. Otherwise the old
// cluster may have granted permits that are unknown here, and the new cluster grants nothing until the longest of them
// has ended.
//
// Recover works offline and contacts no server. A damaged directory is treated as lost if a different one can be used.
// Any other problem is an error, and nothing is created: a *ConfigError, ErrDataDirLocked for a directory whose server
// is running, ErrForeignDataDir for directories from different clusters and for a path that is not a data directory,
// ErrSuperseded for one whose server stopped because its cluster had already been recovered (see Again), and ErrDataDir
// for everything else. Recover never writes to the old directories, so it cannot prevent a second recovery from them.
func Recover(cfg RecoverConfig) (_ *Recovery, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &recoverer{cfg: cfg, out: &Recovery{}}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.read(); err != nil {
		return nil, err
	}
	if err := r.create(); err != nil {
		return nil, err
	}
	return r.out, nil
}

func (c *RecoverConfig) validate() error {
	if len(c.From) == 0 {
		return &ConfigError{"From", "", "must be given: the remaining data directories of the old cluster"}
	}
	newServer := newServerConfig{c.DataDir, c.ID, c.LogStore, c.MaxDuration, c.UnsafeGrantAfter}
	if err := newServer.validate(); err != nil {
		return err
	}
	var seen []os.FileInfo
	for _, dir := range c.From {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDataDir, err)
		}
		if slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return &ConfigError{"From", dir, "is listed twice"}
		}
		seen = append(seen, info)
	}
	return newServer.checkEmpty()
}

// newServerConfig holds the settings that Recover and Restore share.
type newServerConfig struct {
	dataDir, id      string
	logStore         LogStore
	maxDuration      time.Duration
	unsafeGrantAfter *time.Duration
}

func (f *newServerConfig) validate() error {
	switch {
	case f.dataDir == "":
		return &ConfigError{"DataDir", "", "must be given: the directory to create"}
	case !validID(f.id):
		return &ConfigError{"ID", f.id, idRule}
	case !f.logStore.known():
		return &ConfigError{"LogStore", string(f.logStore), logStoreRule}
	case f.maxDuration != 0 && (f.maxDuration < semaphore.MinDuration || f.maxDuration > semaphore.MaxSpan):
		return &ConfigError{"MaxDuration", f.maxDuration.String(), fmt.Sprintf("must be %v to %v", semaphore.MinDuration, semaphore.MaxSpan)}
	case f.unsafeGrantAfter != nil && *f.unsafeGrantAfter < 0:
		return &ConfigError{"UnsafeGrantAfter", f.unsafeGrantAfter.String(), "must not be negative"}
	}
	return nil
}

func (f *newServerConfig) checkEmpty() error {
	if err := consensus.CheckEmpty(f.dataDir); err != nil {
		return fmt.Errorf("%w: %s: the new cluster needs a new directory: %w", ErrDataDir, f.dataDir, err)
	}
	return nil
}

// recoverer holds the state of one call to Recover.
type recoverer struct {
	cfg    RecoverConfig
	out    *Recovery
	found  []*consensus.OfflineDir
	latest *consensus.OfflineDir
}

func (r *recoverer) close() error {
	errs := make([]error, len(r.found))
	for i, found := range r.found {
		errs[i] = found.Close()
	}
	return errors.Join(errs...)
}

// read reads all directories and chooses one.
func (r *recoverer) read() error {
	for _, dir := range r.cfg.From {
		if err := r.readOne(filepath.Clean(dir)); err != nil {
			return err
		}
	}
	if r.latest == nil {
		errs := make([]error, len(r.out.DataDirs))
		for i, f := range r.out.DataDirs {
			errs[i] = f.Err
		}
		return fmt.Errorf("%w: none of the directories can be recovered: %w", ErrDataDir, errors.Join(errs...))
	}
	for i := range r.out.DataDirs {
		r.out.DataDirs[i].Chosen = r.out.DataDirs[i].Dir == r.latest.Dir
	}
	return nil
}

func (r *recoverer) readOne(dir string) error {
	found, err := consensus.ReadDataDir(dir, newMachine)
	switch {
	case errors.Is(err, consensus.ErrDataDirDamaged):
		r.out.DataDirs = append(r.out.DataDirs, RecoveredDataDir{Dir: dir, Err: err})
		return nil
	case errors.Is(err, consensus.ErrDataDirInUse):
		return fmt.Errorf("%w: stop its server first, and never start it again: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignDataDir):
		return &notDataDirError{err}
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	r.found = append(r.found, found)
	if found.SuccessorReason != "" && !r.cfg.Again {
		return fmt.Errorf("%w: %s: %s. Recovering from this directory again creates a second cluster, and both would grant the same permits: recover from the directories of the recovered cluster, "+
			"or confirm that it is permanently lost (gatekeeperd recover --again)", ErrSuperseded, dir, found.SuccessorReason)
	}
	r.out.DataDirs = append(r.out.DataDirs, RecoveredDataDir{
		Dir: dir, MemberID: found.MemberID, LastTerm: found.LastTerm, LastIndex: found.LastIndex,
	})
	if first := r.found[0]; first.ClusterID != found.ClusterID {
		return fmt.Errorf("%w: %s belongs to cluster %s, but %s belongs to cluster %s: recover from directories that belong to a single cluster",
			ErrForeignDataDir, first.Dir, first.ClusterID, dir, found.ClusterID)
	}
	r.latest = consensus.Latest(r.found)
	for _, other := range r.found {
		if other != r.latest {
			other.State = nil // it may be large
		}
	}
	return nil
}

// create creates the new data directory.
func (r *recoverer) create() error {
	now := time.Now()
	old, out := r.latest, r.out
	if now.Before(old.AppendedAt) {
		return fmt.Errorf("%w: this machine's clock reads %s, before the last entry in %s, which was written at %s: set the clock; otherwise, tokens could be issued twice",
			ErrDataDir, now.UTC().Format(time.RFC3339), old.Dir, old.AppendedAt.UTC().Format(time.RFC3339))
	}
	id := old.ClusterID.Next(now)
	out.ClusterID, out.OldClusterID, out.ClusterName = id.String(), old.ClusterID.String(), old.ClusterName
	out.PeerAddress = r.peerAddress()
	out.VotersRead, out.Voters = consensus.Quorum(r.found)
	out.PermitsKept = out.VotersRead > out.Voters/2 && !r.cfg.Backup
	out.Retired = r.oldIDs()
	if slices.Contains(out.Retired, r.cfg.ID) || old.State.Retired(r.cfg.ID) {
		return &ConfigError{"ID", r.cfg.ID, "was a member of the old cluster: the new server needs an id that has never been used, for example " + r.freeID()}
	}
	state, err := r.recovered(id, now)
	if err != nil {
		return err
	}
	err = consensus.Bootstrap(consensus.BootstrapConfig{
		Dir: r.cfg.DataDir, ClusterID: id, ClusterName: old.ClusterName, MemberID: r.cfg.ID, PeerAddress: out.PeerAddress,
		LogStore: cmp.Or(consensus.LogStore(r.cfg.LogStore), old.LogStore),
		Term:     r.term(), LastIndex: old.LastIndex, LastTerm: old.LastTerm, State: state,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	return nil
}

// recovered returns the state of the new cluster.
func (r *recoverer) recovered(id consensus.ClusterID, now time.Time) (*fsm.State, error) {
	return r.out.recovered(r.latest.State, fsm.Recovery{
		ClusterID: id.String(), At: now, Author: r.cfg.Author, Reason: r.cfg.Reason, Retired: r.out.Retired, KeepPermits: r.out.PermitsKept,
		MaxDuration: r.cfg.MaxDuration,
	}, r.cfg.UnsafeGrantAfter)
}

// recovered converts the old state as specified by spec, and records what happened to the permits. It ignores
// unsafeAfter if they are kept.
func (out *Recovery) recovered(old *fsm.State, spec fsm.Recovery, unsafeAfter *time.Duration) (*fsm.State, error) {
	out.FullQuarantine = spec.FullQuarantine(old)
	if unsafeAfter != nil && !spec.KeepPermits {
		if *unsafeAfter > out.FullQuarantine {
			return nil, &ConfigError{"UnsafeGrantAfter", unsafeAfter.String(),
				fmt.Sprintf("is longer than %v, which is already safe: omit it", out.FullQuarantine)}
		}
		spec.UnsafeGrantAfter = unsafeAfter
	}
	state, err := old.Recovered(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	out.Permits, out.PermitsLost = state.PermitCount(), old.PermitCount()-state.PermitCount()
	if !spec.KeepPermits {
		for p := range old.Permits(0) {
			if p.State == semaphore.Cooling {
				out.PermitsCooled++
			}
		}
		out.PermitsLost -= out.PermitsCooled
	}
	out.Definitions, out.Quarantine = state.DefinitionCount(), state.Quarantine()
	return state, nil
}

// oldIDs returns the sorted ids of all old members that appear in the directories.
func (r *recoverer) oldIDs() []string {
	var ids []string
	for _, found := range r.found {
		ids = append(append(ids, found.MemberID), found.KnownMembers...)
		for _, m := range found.Members {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// freeID returns an id that no known member has used.
func (r *recoverer) freeID() string {
	prefix := strings.TrimRight(r.latest.MemberID, "0123456789")
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s%d", prefix, n)
		if !slices.Contains(r.out.Retired, id) && !r.latest.State.Retired(id) {
			return id
		}
	}
}

// peerAddress returns the address of the member whose directory was chosen, since the new server most likely runs on
// the same machine.
func (r *recoverer) peerAddress() string {
	for _, m := range r.latest.Members {
		if m.ID == r.latest.MemberID {
			return m.PeerAddress
		}
	}
	return DefaultPeerAddress
}

// term returns the highest term in any of the directories.
func (r *recoverer) term() uint64 {
	term := uint64(0)
	for _, found := range r.found {
		term = max(term, found.Term)
	}
	return term
}
