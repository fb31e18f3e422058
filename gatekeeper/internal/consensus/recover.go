package consensus

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// OfflineDir is the content of a stopped server's data directory. Until Close, no server can use the directory.
type OfflineDir struct {
	Dir         string
	ClusterID   ClusterID
	ClusterName string
	MemberID    string
	// LogStore is the kind of store in which the directory keeps its log.
	LogStore LogStore
	// LastTerm and LastIndex are those of the last entry in this directory, in the log or in a snapshot.
	LastTerm, LastIndex uint64
	// Term is the newest term that the member has seen.
	Term uint64
	// AppendedAt is when the leader appended the last entry in the log, according to its own clock. It is zero if the
	// log is empty.
	AppendedAt time.Time
	// Members are the members of the last configuration in this directory.
	Members []Member
	// KnownMembers lists the ids of all members that this one has ever known, sorted.
	KnownMembers []string
	// Begun reports whether the member ever had a term, an entry or a snapshot.
	Begun bool
	// SuccessorReason is the reason that the member received when it stopped because its cluster had been recovered
	// without it. Otherwise, it is empty.
	SuccessorReason string
	// State is the state after the last entry. The last entries may never have been committed. Only a majority of the
	// directories can show whether they were.
	State *fsm.State

	lock io.Closer
}

// Close unlocks the directory.
func (r *OfflineDir) Close() error { return r.lock.Close() }

// ReadDataDir reads all of a stopped server's data directory without writing anything. newMachine returns the state
// machine for a cluster, to which ReadDataDir applies the snapshot and the log. It returns ErrDataDirInUse,
// ErrDataDirDamaged, ErrForeignDataDir, or a system error.
func ReadDataDir(dir string, newMachine func(clusterID string) Machine) (*OfflineDir, error) {
	r := &OfflineDir{Dir: dir}
	err := r.open()
	if err == nil {
		err = r.read(func(old *store.Offline) error { return r.replay(old, newMachine(r.ClusterID.String())) })
	}
	if err != nil {
		if r.lock != nil {
			err = errors.Join(err, r.lock.Close())
		}
		return nil, wrapDataDirError(dir, err)
	}
	return r, nil
}

// wrapDataDirError adds the directory to err.
func wrapDataDirError(dir string, err error) error {
	if noDir, ok := errors.AsType[*noDataDirError](err); ok {
		return noDir
	}
	return fmt.Errorf("consensus: data directory %s: %w", dir, err)
}

// noDataDirError means that a directory is not the data directory of a server. It matches ErrForeignDataDir, but its
// message differs, because the message of ErrForeignDataDir is about a different member.
type noDataDirError struct{ dir, reason string }

func (e *noDataDirError) Error() string {
	return fmt.Sprintf("%s is not a server's data directory: %s", e.dir, e.reason)
}

// Is makes errors.Is(err, ErrForeignDataDir) true.
func (e *noDataDirError) Is(target error) bool { return target == ErrForeignDataDir }

// open takes the lock and determines which member the directory belongs to.
func (r *OfflineDir) open() (err error) {
	if _, err := os.ReadDir(r.Dir); errors.Is(err, fs.ErrNotExist) {
		return &noDataDirError{r.Dir, "it does not exist"}
	} else if err != nil {
		return err
	}
	if r.lock, err = lockDataDirShared(filepath.Join(r.Dir, lockFileName)); err != nil {
		return err
	}
	var file clusterFile
	if err := r.readJSON(clusterFileName, &file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &noDataDirError{r.Dir, "it does not contain " + clusterFileName}
		}
		return err
	}
	if file.Format != dataDirFormat {
		return formatError(file.Format)
	}
	if r.ClusterID, err = ParseClusterID(file.ClusterID); err != nil {
		return fmt.Errorf("%w: %w", ErrDataDirDamaged, err)
	}
	r.ClusterName, r.MemberID = file.ClusterName, file.MemberID
	peers := make(map[string]string)
	if err := r.readJSON(metFileName, &peers); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.KnownMembers = slices.Sorted(maps.Keys(peers))
	switch err := r.readJSON(begunFileName, new(begunFile)); {
	case err == nil:
		r.Begun = true
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	var successor succeededFile
	if err := r.readJSON(succeededFileName, &successor); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.SuccessorReason = successor.Reason
	return nil
}

func (r *OfflineDir) readJSON(name string, v any) error {
	data, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return err
	}
	if err := unseal(data, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDataDirDamaged, name, err)
	}
	return nil
}

// read opens the log and calls use. The log file is mapped into memory, and its reader trusts the contents. A missing
// page causes a memory fault, and a corrupt page causes a panic. Both are confined to the goroutine that read starts.
func (r *OfflineDir) read(use func(old *store.Offline) error) error {
	done := make(chan error, 1)
	go func() { done <- r.readCatchingPanics(use) }()
	return <-done
}

func (r *OfflineDir) readCatchingPanics(use func(old *store.Offline) error) (err error) {
	debug.SetPanicOnFault(true) // for this goroutine
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s: %v", ErrDataDirDamaged, store.RaftFile, p)
		}
	}()
	old, err := store.OpenOffline(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s", ErrDataDirDamaged, store.RaftFile)
	}
	switch {
	case errors.Is(err, store.ErrInUse):
		return fmt.Errorf("%w: %w", ErrDataDirInUse, err)
	case errors.Is(err, ErrDataDirDamaged), errors.Is(err, store.ErrOldFormat):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDataDirDamaged, err)
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	r.LogStore = old.Kind()
	err = use(old)
	if errors.Is(err, fsm.ErrNewer) || errors.Is(err, fsm.ErrForeign) { // from another version or cluster, but intact
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDataDirDamaged, err)
	}
	return nil
}

// errLost means that a member has begun but all of its data is missing.
var errLost = errors.New("it contains no term, entries or snapshot, even though this member once had them")

// begin brings the machine to the point from which a server replays the log, and checks that the log continues from
// there. It rejects every directory on which a server would refuse to start.
func (r *OfflineDir) begin(old *store.Offline, machine Machine) error {
	first, last, err := old.Bounds()
	if err != nil {
		return err
	}
	term, err := old.Term()
	if err != nil {
		return err
	}
	newest, err := r.restore(old, machine, first)
	switch {
	case err != nil:
		return err
	case r.Begun && term == 0 && last == 0 && newest == 0:
		return errLost
	case newest > 0 && r.LastIndex == 0: // Raft would refuse to start, even if the log is complete
		return fmt.Errorf("its snapshot up to entry %d cannot be read", newest)
	}
	return checkCoversSnapshot(newest, max(last, r.LastIndex))
}

// checkCoversSnapshot rejects a directory whose newest snapshot cannot be read and whose other entries end before it.
func checkCoversSnapshot(newest, last uint64) error {
	if last < newest {
		return fmt.Errorf("its snapshot up to entry %d cannot be read, and without it the data ends at entry %d", newest, last)
	}
	return nil
}

// replay applies the snapshot and the log to the machine, up to the last entry.
func (r *OfflineDir) replay(old *store.Offline, machine Machine) error {
	first, last, err := old.Bounds()
	if err != nil {
		return err
	}
	if r.Term, err = old.Term(); err != nil {
		return err
	}
	newest, err := r.restore(old, machine, first)
	if err != nil {
		return err
	}
	for index := r.LastIndex + 1; index <= last; index++ {
		if err := r.applyEntry(old, machine, index); err != nil {
			return err
		}
	}
	if r.LastIndex == 0 && r.Begun && r.Term == 0 {
		return errLost
	}
	if r.LastIndex == 0 {
		return errors.New("its log is empty and there is no snapshot, so this server has not heard from its cluster yet")
	}
	if err := checkCoversSnapshot(newest, r.LastIndex); err != nil {
		return err
	}
	if len(r.Members) == 0 {
		return errors.New("it does not contain the list of members")
	}
	r.Term = max(r.Term, r.LastTerm)
	r.State = machine.State()
	return nil
}

// restore restores the newest readable snapshot from which the log continues. first is the first entry of the log.
// newest is the index of the newest existing snapshot.
func (r *OfflineDir) restore(old *store.Offline, machine Machine, first uint64) (newest uint64, err error) {
	snapshots, err := old.Snapshots()
	if err != nil {
		return 0, err
	}
	var errs error
	for i, meta := range snapshots {
		if i == 0 {
			newest = meta.Index
		}
		if first > meta.Index+1 {
			errs = errors.Join(errs, fmt.Errorf("snapshot %s: the log begins later, at entry %d", meta.ID, first))
			continue
		}
		if err := restoreOne(old, machine, meta); err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		r.LastIndex, r.LastTerm = meta.Index, meta.Term
		r.Members = membersIn(meta.Configuration)
		return newest, nil
	}
	if first > 1 {
		errs = errors.Join(errs, fmt.Errorf("the log begins at entry %d, and there is no snapshot of the entries before it", first))
	} else if first == 1 {
		return newest, nil // the log is complete
	}
	return newest, errs
}

func restoreOne(old *store.Offline, machine Machine, meta raft.SnapshotMeta) error {
	file, err := old.OpenSnapshot(meta)
	if err != nil {
		return err
	}
	err = machine.Restore(file)
	return errors.Join(err, file.Close())
}

func (r *OfflineDir) applyEntry(old *store.Offline, machine Machine, index uint64) error {
	entry, err := old.Entry(index)
	if err != nil {
		return err
	}
	if entry.Term < r.LastTerm {
		return fmt.Errorf("log entry %d has term %d, but the entry before it has term %d", index, entry.Term, r.LastTerm)
	}
	switch entry.Type {
	case raft.LogCommand:
		if _, err := machine.Apply(entry.Index, entry.Term, entry.Data); err != nil {
			return err
		}
	case raft.LogConfiguration:
		r.Members = membersIn(raft.DecodeConfiguration(entry.Data)) // panics on malformed data
	default: // Raft's internal entries
	}
	r.LastIndex, r.LastTerm, r.AppendedAt = entry.Index, entry.Term, entry.AppendedAt
	return nil
}

func membersIn(c raft.Configuration) []Member {
	members := make([]Member, len(c.Servers))
	for i, s := range c.Servers {
		members[i] = Member{ID: string(s.ID), PeerAddress: string(s.Address), Voter: s.Suffrage == raft.Voter}
	}
	return members
}

// Latest returns the data directory with the highest (last term, last index). If the directories of a majority of the
// last configuration's voters are given, the result contains every committed entry, because Raft uses the same order to
// elect leaders.
func Latest(dirs []*OfflineDir) *OfflineDir {
	return slices.MaxFunc(dirs, func(a, b *OfflineDir) int {
		return cmp.Or(cmp.Compare(a.LastTerm, b.LastTerm), cmp.Compare(a.LastIndex, b.LastIndex))
	})
}

// Quorum returns the number of voters in the last configuration, taken from Latest, and the number of those voters
// whose data directories are given. Copies of one member's directory count once. An uncommitted membership change is
// harmless: majorities of adjacent configurations overlap, so the directories of a majority of this configuration
// contain every later configuration that was committed.
func Quorum(dirs []*OfflineDir) (read, voters int) {
	for _, m := range Latest(dirs).Members {
		if !m.Voter {
			continue
		}
		voters++
		if slices.ContainsFunc(dirs, func(r *OfflineDir) bool { return r.MemberID == m.ID }) {
			read++
		}
	}
	return read, voters
}
