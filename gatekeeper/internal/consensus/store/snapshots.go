package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// Snapshots is a raft.SnapshotStore with guarded writes. A failed read is not a fault, because a snapshot can be reaped
// between being listed and being opened.
//
// A leader's snapshot replaces a log that does not contain the snapshot's last entry. At startup, Raft falls back to
// older snapshots if it cannot read the newest. That is a fault unless the log covers everything from the older
// snapshot to the index of the newest.
type Snapshots struct {
	inner  raft.SnapshotStore
	log    intact.Log
	guard  *Guard
	newest uint64 // index of the newest snapshot at startup, readable or not
	dir    string // inner's directory; empty if it has none
}

// syncEvery is the number of bytes written to a snapshot between syncs. Raft syncs only at the end. Without these
// syncs, the file system might have to write the entire snapshot before it can sync a log entry, and calls waiting for
// that entry would be held up.
const syncEvery = 1 << 20

var _ raft.SnapshotStore = (*Snapshots)(nil)

// NewSnapshots returns Snapshots that guard inner. log is the log that Raft uses, including its cache if it has one.
func NewSnapshots(inner raft.SnapshotStore, log intact.Log, guard *Guard) *Snapshots {
	return &Snapshots{inner: inner, log: log, guard: guard}
}

func (s *Snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (_ raft.SnapshotSink, err error) {
	guarded := &snapshotSink{snapshots: s, index: index, term: term}
	s.guard.Do("create snapshot", func() error {
		guarded.SnapshotSink, err = s.inner.Create(version, index, term, configuration, configurationIndex, trans)
		if err == nil && s.dir != "" { // where Raft (v1.8.0) writes the state
			guarded.file, err = os.OpenFile(filepath.Join(s.dir, guarded.ID()+".tmp", snapshotState), os.O_WRONLY, 0)
		}
		return err
	})
	return guarded, nil
}

// List omits snapshots whose metadata does not match their name.
func (s *Snapshots) List() ([]*raft.SnapshotMeta, error) {
	all, err := s.inner.List()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(meta *raft.SnapshotMeta) bool { return !nameMatches(meta) }), nil
}

func (s *Snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, content, err := s.inner.Open(id)
	if err != nil {
		return nil, nil, err
	}
	if err := checkCovers(s.log, meta.Index, s.newest); err != nil {
		s.guard.Halt(errors.Join(err, content.Close()))
	}
	return meta, content, nil
}

// checkCovers returns ErrDamaged unless the log contains all entries after from, up to newest. from is the index of the
// snapshot that Raft starts from, or 0 if there is none. newest is the index of the newest snapshot, readable or not.
// This member has acknowledged everything up to newest.
func checkCovers(log intact.Log, from, newest uint64) error {
	if from >= newest {
		return nil
	}
	first, err := log.FirstIndex()
	if err != nil {
		return err
	}
	last, err := log.LastIndex()
	if err != nil {
		return err
	}
	if first == 0 || first > from+1 || last < newest {
		return Damaged(snapshotsDir, "the snapshot up to entry %d cannot be read, the one before it ends with entry %d, and the log contains entries %d to %d",
			newest, from, first, last)
	}
	return nil
}

type snapshotSink struct {
	raft.SnapshotSink
	snapshots   *Snapshots
	index, term uint64
	file        *os.File // the file that inner writes, opened a second time to sync it; nil if there is none
	unsynced    int
}

func (s *snapshotSink) Write(p []byte) (n int, err error) {
	s.snapshots.guard.Do("write snapshot", func() error {
		n, err = s.SnapshotSink.Write(p)
		return err
	})
	if s.unsynced += n; s.unsynced >= syncEvery && s.file != nil {
		s.snapshots.guard.Do("sync snapshot", s.file.Sync)
		s.unsynced = 0
	}
	return n, nil
}

// Cancel and Close may be called more than once, because Raft does so.
func (s *snapshotSink) Cancel() error { return errors.Join(s.closeFile(), s.SnapshotSink.Cancel()) }

func (s *snapshotSink) closeFile() error {
	file := s.file
	if s.file = nil; file == nil {
		return nil
	}
	return file.Close()
}

func (s *snapshotSink) Close() error {
	guard := s.snapshots.guard
	guard.Do("finish snapshot", func() error { return errors.Join(s.closeFile(), s.SnapshotSink.Close()) })
	forked, err := replaceLog(s.snapshots.log, s.index, s.term)
	if forked && err == nil {
		err = errForked
	}
	if err != nil {
		guard.Halt(err)
	}
	return nil
}

// errForked stops a member that can continue only after a restart, because Raft remembers how long its log was.
var errForked = errors.New("store: a snapshot from the leader has replaced entries that were never committed; nothing is lost, and this server will resume from the snapshot when it is restarted")

// replaceLog deletes the whole log if it does not contain the last entry of the snapshot with the given index and term,
// which must be on disk (Raft paper, figure 13, InstallSnapshot, steps 6 and 7). Raft keeps such a log, including
// entries that were never committed, and appends after the snapshot. If this member became leader, it would send those
// entries, up to the gap, to a follower that lacks them, and the follower would apply them. A snapshot that was taken
// locally or arrives late does not cause any deletion. forked reports whether the log reached as far as the snapshot,
// but with different entries.
func replaceLog(log intact.Log, index, term uint64) (forked bool, err error) {
	last, err := log.LastIndex()
	if err != nil || last == 0 {
		return false, err
	}
	forked = last >= index
	if forked {
		var entry raft.Log
		err := log.GetLog(index, &entry)
		if errors.Is(err, raft.ErrLogNotFound) || err == nil && entry.Term == term {
			return false, nil // the log begins after the snapshot, or contains its last entry
		}
		if err != nil {
			return false, err
		}
	}
	first, err := log.FirstIndex()
	if err != nil {
		return false, err
	}
	return forked, log.DeleteRange(first, last)
}
