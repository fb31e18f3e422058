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

// RecoverConfig says from what a cluster that lost its majority for good is recovered.
type RecoverConfig struct {
	// From are the data folders of the old cluster's servers, as many as are left. None of these servers may run, now
	// or ever again. The folders are only read.
	From []string
	// DataDir is the data folder to make: one that is not there, or is empty.
	DataDir string
	// ID is the new server's. No member of the old cluster may ever have had it.
	ID string
	// LogStore is how DataDir is to keep its log. Default: as the folder that is taken does.
	LogStore LogStore
	// Backup says that the folders are copies from some time ago: what they hold of permits says nothing, however many
	// of them there are.
	Backup bool
	// Again takes folders whose server left because their cluster had been recovered already. What is made then is
	// another cluster beside that one, which must be gone for good.
	Again bool
	// MaxDuration is the largest max_duration that the old cluster ever had, when it is longer than the folders say:
	// one that was set after they were made, or by a majority that is lost, is not in them. Nothing is granted for that
	// long; but when the permits are carried over there is nothing to wait for, and it is only kept for a later
	// recovery. 0: as the folders say.
	MaxDuration time.Duration
	// UnsafeGrantAfter, when not nil, has permits granted so long after the new server's first start, although holders
	// that the old cluster granted permits to may believe in them for longer. It is an operator's word that they have
	// all stopped by then. It is journaled, and says nothing when the permits are carried over.
	UnsafeGrantAfter *time.Duration
	// Author and Reason are journaled.
	Author, Reason string
}

// Recovery is what Recover or Restore found and made.
type Recovery struct {
	// ClusterID is that of the new cluster, OldClusterID that of the old one.
	ClusterID, OldClusterID string
	ClusterName             string
	// PeerAddress is where the new server is taken to be until it is started.
	PeerAddress string
	// Folders are those of RecoverConfig.From, in their order.
	Folders []RecoveredFolder
	// VotersRead of Voters have a folder that was read to its end. Retired are the ids of all old members that are
	// known.
	VotersRead, Voters int
	Retired            []string
	// PermitsKept says that the permits found are carried over, each restarted in full: the folders of a majority of
	// the last voters were read. Otherwise PermitsLost were lost, PermitsCooled had ended and kept their slots for a
	// while; Permits are left, all of them held for an operator.
	PermitsKept                         bool
	Permits, PermitsLost, PermitsCooled int
	// Quarantine is how long after the new server's first start nothing is granted. FullQuarantine is what is safe
	// without PermitsKept.
	Quarantine, FullQuarantine time.Duration
	Definitions                int
	// TakenAt is when the backup was taken; zero after Recover.
	TakenAt time.Time
}

// RecoveredFolder is what was found in one folder.
type RecoveredFolder struct {
	Dir, MemberID       string
	LastTerm, LastIndex uint64
	// Chosen is the folder that the new cluster begins with: that with the highest last entry.
	Chosen bool
	// Err says why a folder counts as lost; nil for one that was read.
	Err error
}

// Recover makes the data folder of a new cluster of one server from what is left of a cluster that has lost its
// majority for good; other servers join it as they join any. It has the definitions, pauses, cordons and the journal of
// the folder with the highest last entry, and a new cluster id, so that servers of the old cluster and the new one
// refuse each other.
//
// Entries at the end of a log that were perhaps never committed are kept: a change that was never acknowledged does no
// harm, a lost one does. Only when folders of a majority of the last voters are read is every committed change
// certainly among them; then permits are carried over. Otherwise the old cluster may have granted permits that nobody
// here knows of, and the new one grants nothing until the longest of them has ended.
//
// It works offline: no server is asked. A damaged folder counts as lost, as long as another one can be used; everything
// else that is wrong is an error, and nothing was made then: a *ConfigError, ErrDataDirLocked for a folder whose server
// runs, ErrForeignDataDir for folders of different clusters and for what is no data folder, ErrSucceeded for one whose
// server left because it had heard from a recovered cluster (see Again), ErrDataDir for the rest. No error keeps you
// from recovering twice from the same folders: nothing is written to them.
func Recover(cfg RecoverConfig) (_ *Recovery, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &recovering{cfg: cfg, out: &Recovery{}}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.read(); err != nil {
		return nil, err
	}
	if err := r.make(); err != nil {
		return nil, err
	}
	return r.out, nil
}

func (c *RecoverConfig) validate() error {
	if len(c.From) == 0 {
		return &ConfigError{"From", "", "must be given: the data folders that are left of the old cluster"}
	}
	next := founding{c.DataDir, c.ID, c.LogStore, c.MaxDuration, c.UnsafeGrantAfter}
	if err := next.validate(); err != nil {
		return err
	}
	var seen []os.FileInfo
	for _, dir := range c.From {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDataDir, err)
		}
		if slices.ContainsFunc(seen, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return &ConfigError{"From", dir, "is given twice"}
		}
		seen = append(seen, info)
	}
	return next.checkEmpty()
}

// founding is what Recover and Restore are given of the cluster to make.
type founding struct {
	dataDir, id      string
	logStore         LogStore
	maxDuration      time.Duration
	unsafeGrantAfter *time.Duration
}

func (f *founding) validate() error {
	switch {
	case f.dataDir == "":
		return &ConfigError{"DataDir", "", "must be given: the folder to make"}
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

func (f *founding) checkEmpty() error {
	if err := consensus.CheckEmpty(f.dataDir); err != nil {
		return fmt.Errorf("%w: %s: the new cluster needs a new folder: %w", ErrDataDir, f.dataDir, err)
	}
	return nil
}

// recovering is one call of Recover.
type recovering struct {
	cfg    RecoverConfig
	out    *Recovery
	found  []*consensus.Remains
	latest *consensus.Remains
}

func (r *recovering) close() error {
	errs := make([]error, len(r.found))
	for i, found := range r.found {
		errs[i] = found.Close()
	}
	return errors.Join(errs...)
}

// read reads all folders and chooses one.
func (r *recovering) read() error {
	for _, dir := range r.cfg.From {
		if err := r.readOne(filepath.Clean(dir)); err != nil {
			return err
		}
	}
	if r.latest == nil {
		errs := make([]error, len(r.out.Folders))
		for i, f := range r.out.Folders {
			errs[i] = f.Err
		}
		return fmt.Errorf("%w: none of the folders can be recovered from: %w", ErrDataDir, errors.Join(errs...))
	}
	for i := range r.out.Folders {
		r.out.Folders[i].Chosen = r.out.Folders[i].Dir == r.latest.Dir
	}
	return nil
}

func (r *recovering) readOne(dir string) error {
	found, err := consensus.ReadFolder(dir, newMachine)
	switch {
	case errors.Is(err, consensus.ErrFolderDamaged):
		r.out.Folders = append(r.out.Folders, RecoveredFolder{Dir: dir, Err: err})
		return nil
	case errors.Is(err, consensus.ErrFolderInUse):
		return fmt.Errorf("%w: stop its server first, for good: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignFolder):
		return &noDataDirError{err}
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	r.found = append(r.found, found)
	if found.Succeeded != "" && !r.cfg.Again {
		return fmt.Errorf("%w: %s: %s. What is made of it again is another cluster beside that one, and grants what that one grants: recover from the folders of that one, "+
			"or say that it is gone for good (gatekeeperd recover --again)", ErrSucceeded, dir, found.Succeeded)
	}
	r.out.Folders = append(r.out.Folders, RecoveredFolder{
		Dir: dir, MemberID: found.MemberID, LastTerm: found.LastTerm, LastIndex: found.LastIndex,
	})
	if first := r.found[0]; first.ClusterID != found.ClusterID {
		return fmt.Errorf("%w: %s is of cluster %s, and %s of cluster %s: recover from folders of one cluster",
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

// make makes the new folder.
func (r *recovering) make() error {
	now := time.Now()
	old, out := r.latest, r.out
	if now.Before(old.Appended) {
		return fmt.Errorf("%w: this machine's clock says %s, and the last entry in %s was made at %s: set the clock, or tokens could be given again",
			ErrDataDir, now.UTC().Format(time.RFC3339), old.Dir, old.Appended.UTC().Format(time.RFC3339))
	}
	id := old.ClusterID.Next(now)
	out.ClusterID, out.OldClusterID, out.ClusterName = id.String(), old.ClusterID.String(), old.ClusterName
	out.PeerAddress = r.peerAddress()
	out.VotersRead, out.Voters = consensus.Quorum(r.found)
	out.PermitsKept = out.VotersRead > out.Voters/2 && !r.cfg.Backup
	out.Retired = r.oldIDs()
	if slices.Contains(out.Retired, r.cfg.ID) || old.State.Retired(r.cfg.ID) {
		return &ConfigError{"ID", r.cfg.ID, "was a member of the old cluster: a new cluster's server needs an id that was never used, for example " + r.freeID()}
	}
	state, err := r.recovered(id, now)
	if err != nil {
		return err
	}
	err = consensus.Found(consensus.Founding{
		Dir: r.cfg.DataDir, ClusterID: id, ClusterName: old.ClusterName, MemberID: r.cfg.ID, PeerAddress: out.PeerAddress,
		LogStore: cmp.Or(consensus.LogStore(r.cfg.LogStore), old.LogStore),
		Term:     r.term(), LastIndex: old.LastIndex, LastTerm: old.LastTerm, State: state,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	return nil
}

// recovered is the state of the new cluster.
func (r *recovering) recovered(id consensus.ClusterID, now time.Time) (*fsm.State, error) {
	return r.out.recovered(r.latest.State, fsm.Recovery{
		ClusterID: id.String(), At: now, Author: r.cfg.Author, Reason: r.cfg.Reason, Retired: r.out.Retired, KeepPermits: r.out.PermitsKept,
		MaxDuration: r.cfg.MaxDuration,
	}, r.cfg.UnsafeGrantAfter)
}

// recovered is the state that how makes of an old one, and notes what became of permits. unsafeAfter says nothing if
// they are kept.
func (out *Recovery) recovered(old *fsm.State, how fsm.Recovery, unsafeAfter *time.Duration) (*fsm.State, error) {
	out.FullQuarantine = how.FullQuarantine(old)
	if unsafeAfter != nil && !how.KeepPermits {
		if *unsafeAfter > out.FullQuarantine {
			return nil, &ConfigError{"UnsafeGrantAfter", unsafeAfter.String(),
				fmt.Sprintf("is longer than %v, after which it is safe: leave it out", out.FullQuarantine)}
		}
		how.UnsafeGrantAfter = unsafeAfter
	}
	state, err := old.Recovered(how)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	out.Permits, out.PermitsLost = state.PermitCount(), old.PermitCount()-state.PermitCount()
	if !how.KeepPermits {
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

// oldIDs are all members of the old cluster that the folders tell of, sorted.
func (r *recovering) oldIDs() []string {
	var ids []string
	for _, found := range r.found {
		ids = append(append(ids, found.MemberID), found.Met...)
		for _, m := range found.Members {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// freeID is an id that nobody had.
func (r *recovering) freeID() string {
	stem := strings.TrimRight(r.latest.MemberID, "0123456789")
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s%d", stem, n)
		if !slices.Contains(r.out.Retired, id) && !r.latest.State.Retired(id) {
			return id
		}
	}
}

// peerAddress is that of the member whose folder was chosen: its machine most likely runs the new server.
func (r *recovering) peerAddress() string {
	for _, m := range r.latest.Members {
		if m.ID == r.latest.MemberID {
			return m.PeerAddress
		}
	}
	return DefaultPeerAddress
}

// term is the newest one that any of the folders knows of.
func (r *recovering) term() uint64 {
	term := uint64(0)
	for _, found := range r.found {
		term = max(term, found.Term)
	}
	return term
}
