package consensus

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

var (
	// ErrClusterIDNeeded means that a joiner has a new data directory and must first ask the cluster for its id.
	ErrClusterIDNeeded = errors.New("consensus: a joiner with a new data directory needs the cluster's id")
	// ErrNotAgreed means that the members of a new set have no cluster id yet; see DataDir.Agree.
	ErrNotAgreed = errors.New("consensus: the members of the new set have not agreed on the cluster's id")
	// ErrDataDirInUse means that another process is using the data directory.
	ErrDataDirInUse = errors.New("in use")
	// ErrForeignDataDir means that the data directory belongs to another member, another cluster, or another program.
	ErrForeignDataDir = errors.New("not this member's")
	// ErrDataDirDamaged means that the content of the data directory is missing or corrupt.
	ErrDataDirDamaged = store.ErrDamaged
	// ErrLogStore means that the data directory does not use the requested kind of log store.
	ErrLogStore = store.ErrKind
	// ErrDataDirNotEmpty means that the new data directory is not empty.
	ErrDataDirNotEmpty = errors.New("not empty")
)

// DataDirConfig configures PrepareDataDir.
type DataDirConfig struct {
	Dir string
	// Memory is used instead of Dir. It is for tests.
	Memory      *Memory
	MemberID    string
	ClusterName string
	// Members lists the servers that bootstrap a new cluster together. Without other members, and without Join, the
	// member starts a cluster alone.
	Members []Member
	// Join makes the member join an existing cluster. Such a member never founds a cluster, even if it is restarted
	// without Join before it has heard from the cluster.
	Join bool
	// ClusterID is the id of the cluster to join, or of the one that Members are founding. An existing data directory
	// already contains it. If it is zero and there are several Members, a new directory has no id until Agree has
	// returned.
	ClusterID ClusterID
}

// DataDir is a locked data directory. It belongs to one member of one incarnation of one cluster.
//
// Each data directory contains a number generated when it was created, and a DataDir records the numbers of the other
// members' directories. A member that returns with a different number has lost its data, and with it votes and entries
// that others rely on. It is refused and must rejoin under a new id.
type DataDir struct {
	dir    string
	memory *Memory // instead of dir, or nil
	lock   io.Closer
	id     ClusterID
	file   clusterFile
	// members is the set of servers starting together while the directory has no id. seed is the content of its seed
	// file, if there is one.
	members []Member
	seed    seedFile

	writing sync.Mutex // held while a file is written; the disk may be slow, so mu is not held then
	begun   bool       // begunFileName exists; guarded by writing

	mu       sync.Mutex        // guards peerDirs, which is replaced but never modified
	peerDirs map[string]string // member id -> number of its directory
	close    sync.Once
}

const (
	clusterFileName = "cluster.json"
	metFileName     = "met.json"
	seedFileName    = "seed.json"
	// succeededFileName exists if the cluster was recovered without this member.
	succeededFileName = "succeeded.json"
	// begunFileName exists once the member has a log, a term or a snapshot.
	begunFileName = "begun.json"
	lockFileName  = "LOCK"
	dataDirFormat = 2
)

// clusterFile is the content of cluster.json. Its format is frozen. A different format needs a new format number.
type clusterFile struct {
	Format      int    `json:"format"`
	ClusterID   string `json:"cluster_id"`
	ClusterName string `json:"cluster_name"`
	MemberID    string `json:"member_id"`
	DataDir     string `json:"folder"`
	Joiner      bool   `json:"joiner,omitempty"`
}

// seedFile is the content of seed.json. A member of a new set stores it before the cluster is founded, which creates
// cluster.json. The file is kept after that, so that the members that agreed are the ones that bootstrap. Its format is
// frozen. A different format needs a new format number.
type seedFile struct {
	Format    int    `json:"format"`
	ClusterID string `json:"cluster_id"`
	MemberID  string `json:"member_id"`
	Set       string `json:"set"` // see digest
}

// begunFile is the content of begun.json. Its format is frozen. Only the existence of the file matters, so older and
// newer builds agree on it.
type begunFile struct {
	MemberID string `json:"member_id"`
}

// succeededFile is the content of succeeded.json: the reason given by a server in the recovered cluster.
type succeededFile struct {
	Reason string `json:"reason"`
}

// PrepareDataDir creates or opens a data directory, locks it, and determines the cluster id. If there are several
// Members, a new directory has no cluster id before Agree. It returns ErrClusterIDNeeded, ErrDataDirInUse,
// ErrForeignDataDir, ErrDataDirDamaged, ErrInvalidMember, or a system error. Once a server that uses the directory has
// stopped with ErrSuperseded, every call returns that error.
func PrepareDataDir(cfg DataDirConfig) (*DataDir, error) {
	if err := checkMemberID(cfg.MemberID); err != nil {
		return nil, err
	}
	f := &DataDir{dir: cfg.Dir, memory: cfg.Memory, peerDirs: make(map[string]string)}
	if err := f.createAndLock(); err != nil {
		return nil, fmt.Errorf("consensus: data directory %s: %w", cfg.Dir, f.withOwner(err))
	}
	if err := f.open(cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("consensus: data directory %s: %w", cfg.Dir, f.withOwner(err)), f.Close())
	}
	return f, nil
}

// createAndLock creates the directory if necessary, and locks it.
func (f *DataDir) createAndLock() (err error) {
	if f.memory != nil {
		f.lock, err = f.memory.lock()
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	f.lock, err = lockDataDir(filepath.Join(f.dir, lockFileName))
	return err
}

func (f *DataDir) open(cfg DataDirConfig) error {
	err := f.read(clusterFileName, &f.file)
	if errors.Is(err, fs.ErrNotExist) {
		return f.create(cfg)
	}
	if err != nil {
		return err
	}
	if f.file.Format != dataDirFormat {
		return formatError(f.file.Format)
	}
	if f.id, err = ParseClusterID(f.file.ClusterID); err != nil {
		return fmt.Errorf("%w: %w", ErrDataDirDamaged, err)
	}
	if f.file.MemberID != cfg.MemberID {
		return fmt.Errorf("%w: it belongs to member %q, not %q; a member keeps its data directory and its id for life", ErrForeignDataDir, f.file.MemberID, cfg.MemberID)
	}
	if f.file.ClusterName != cfg.ClusterName {
		return fmt.Errorf("%w: it belongs to cluster %q, not %q", ErrForeignDataDir, f.file.ClusterName, cfg.ClusterName)
	}
	if want := cfg.ClusterID; !want.IsZero() && want != f.id {
		return fmt.Errorf("%w: it belongs to cluster id %s, not %s", ErrForeignDataDir, f.id, want)
	}
	if err := f.readBegun(); err != nil { // before readSeed, whose advice applies to a directory without data
		return err
	}
	if !f.HasState() { // once there is state, the member list is outdated and may also include later members
		if err := f.readSeed(cfg); err != nil {
			return err
		}
	}
	var successor succeededFile
	switch err := f.read(succeededFileName, &successor); {
	case err == nil:
		return successorError(successor.Reason)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := f.read(metFileName, &f.peerDirs); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readBegun rejects a directory whose member has begun but whose stores are missing.
func (f *DataDir) readBegun() error {
	switch err := f.read(begunFileName, new(begunFile)); {
	case err == nil:
		f.begun = true
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if f.begun && !f.HasState() {
		return store.Damaged(store.RaftFile, "it is missing, even though this member previously wrote it")
	}
	return nil
}

// begin records that this member has a log, a term or a snapshot. Without that record, a directory that has lost all of
// them would look new: its member would vote again in old terms, and a single server would issue its tokens a second
// time.
func (f *DataDir) begin() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.begun {
		return nil
	}
	if err := f.write(begunFileName, begunFile{f.file.MemberID}); err != nil {
		return err
	}
	f.begun = true
	return nil
}

// hasBegun reports whether begin has been called, in this process or in an earlier one.
func (f *DataDir) hasBegun() bool {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.begun
}

// formatError returns the error for a directory in the format of an older or newer version, which is neither damaged
// nor foreign.
func formatError(format int) error {
	return fmt.Errorf("its format is %d, but this version of the program supports only %d: start the version that created it, "+
		"or let a new member join under a new id with an empty directory", format, dataDirFormat)
}

// readSeed reads the seed file, if there is one. A stored seed binds the directory to that set.
func (f *DataDir) readSeed(cfg DataDirConfig) error {
	err := f.read(seedFileName, &f.seed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.seed.Format != 1 {
		return formatError(f.seed.Format)
	}
	if _, err := ParseClusterID(f.seed.ClusterID); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDataDirDamaged, seedFileName, err)
	}
	if f.seed.MemberID != cfg.MemberID || f.seed.Set != digest(cfg.ClusterName, cfg.Members) {
		return fmt.Errorf("%w: it was created to start a new cluster as member %q, but with different members or under a different cluster name, "+
			"and has no data yet: start it with the same settings as before, or empty the directory", ErrForeignDataDir, f.seed.MemberID)
	}
	return nil
}

func (f *DataDir) create(cfg DataDirConfig) error {
	if f.HasState() {
		return fmt.Errorf("%w: %s exists, but %s does not", ErrDataDirDamaged, store.RaftFile, clusterFileName)
	}
	if err := f.readSeed(cfg); err != nil {
		return err
	}
	f.file = clusterFile{Format: dataDirFormat, ClusterName: cfg.ClusterName, MemberID: cfg.MemberID, Joiner: cfg.Join}
	switch {
	case !cfg.ClusterID.IsZero():
		return f.found(cfg.ClusterID)
	case cfg.Join:
		return ErrClusterIDNeeded
	case len(cfg.Members) > 1:
		f.members = slices.Clone(cfg.Members)
		return nil
	default:
		return f.found(NewClusterID())
	}
}

// found permanently assigns a new directory to this member of the cluster with the given id.
func (f *DataDir) found(id ClusterID) error {
	var number [8]byte
	rand.Read(number[:]) // never fails; see crypto/rand
	file := f.file
	file.ClusterID, file.DataDir = id.String(), hex.EncodeToString(number[:])
	if err := f.write(clusterFileName, file); err != nil {
		return err
	}
	f.file, f.id = file, id
	return nil
}

// ClusterID returns the id of the cluster to which the directory belongs. It is zero before Agree.
func (f *DataDir) ClusterID() ClusterID { return f.id }

// MemberID returns the id of the member to which the directory belongs.
func (f *DataDir) MemberID() string { return f.file.MemberID }

// HasState reports whether the member's stores have been created.
func (f *DataDir) HasState() bool {
	if f.memory != nil {
		return f.memory.hasState()
	}
	_, err := os.Stat(filepath.Join(f.dir, store.RaftFile))
	return err == nil
}

// Close unlocks the directory. A Node closes the DataDir that it was opened with.
func (f *DataDir) Close() error {
	var err error
	f.close.Do(func() { err = f.lock.Close() })
	return err
}

// closeAfter closes the directory in the background once wait has returned. A call to Close before that does nothing.
func (f *DataDir) closeAfter(wait func()) {
	f.close.Do(func() {
		go func() {
			wait()
			_ = f.lock.Close()
		}()
	})
}

// checkPeer rejects a member whose directory differs from the one it had before.
func (f *DataDir) checkPeer(id, number string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.peerDirs[id]; ok && known != number {
		return fmt.Errorf("%s returned with a new data directory: it has lost data that others rely on; remove it and add it under a new id", id)
	}
	return nil
}

// recordPeer calls checkPeer, then records the member's directory and drops those of former members.
func (f *DataDir) recordPeer(id, number string, members []raft.Server) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.checkPeer(id, number); err != nil || f.knowsPeer(id) {
		return err
	}
	f.mu.Lock()
	peerDirs := maps.Clone(f.peerDirs)
	f.mu.Unlock()
	maps.DeleteFunc(peerDirs, func(id, _ string) bool { return find(members, raft.ServerID(id)) == nil })
	peerDirs[id] = number
	if err := f.write(metFileName, peerDirs); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.peerDirs = peerDirs
	return nil
}

// succeeded records permanently that the cluster was recovered without this member.
func (f *DataDir) succeeded(reason string) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.write(succeededFileName, succeededFile{reason})
}

// memberName returns the name of a member (see Node.Name), or "" while its directory is unknown.
func (f *DataDir) memberName(id string) string {
	number := f.file.DataDir
	if id != f.file.MemberID {
		f.mu.Lock()
		number = f.peerDirs[id]
		f.mu.Unlock()
	}
	if number == "" {
		return ""
	}
	return f.file.ClusterID + "/" + id + "/" + number
}

func (f *DataDir) knowsPeer(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.peerDirs[id]
	return ok
}

func (f *DataDir) read(name string, v any) error {
	data, err := f.readFile(name)
	if err != nil {
		return err
	}
	if err := unseal(data, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDataDirDamaged, name, err)
	}
	return nil
}

func (f *DataDir) readFile(name string) ([]byte, error) {
	if f.memory != nil {
		return f.memory.read(name)
	}
	return os.ReadFile(filepath.Join(f.dir, name))
}

// write replaces a file so that a crash leaves either the old or the new content.
func (f *DataDir) write(name string, v any) error {
	data, err := seal(v)
	if err != nil {
		return err
	}
	if f.memory != nil {
		f.memory.write(name, data)
		return nil
	}
	path := filepath.Join(f.dir, name)
	file, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// stores opens the stores that Raft writes to.
func (f *DataDir) stores(kind LogStore, guard *store.Guard, logger hclog.Logger) (stores, error) {
	if f.memory != nil {
		return f.memory.stores(guard), nil
	}
	files, err := store.Open(f.dir, kind, guard, logger)
	if errors.Is(err, store.ErrInUse) { // by a server whose lock file was deleted
		err = fmt.Errorf("%w: %w", ErrDataDirInUse, err)
	}
	if err != nil {
		return stores{}, f.withOwner(err)
	}
	return stores{log: files.Log, stable: files.Stable, snapshots: files.Snapshots, queue: files.Queue, close: files.Close}, nil
}

func memberIDs(members []Member) []string {
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	return ids
}
