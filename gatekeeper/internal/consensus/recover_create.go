package consensus

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// incarnationBits is the number of random low bits of an incarnation. The bits above them are the Unix time in seconds.
const incarnationBits = 20

// Next generates the id of the cluster's next incarnation, which begins at the given time. A later incarnation has a
// higher number. Two incarnations that begin at the same time, from copies of one directory, still differ.
func (c ClusterID) Next(at time.Time) ClusterID {
	var b [4]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	drawn := uint64(binary.BigEndian.Uint32(b[:])) % (1 << incarnationBits)
	return ClusterID{Seed: c.Seed, Incarnation: max(c.Incarnation+1, uint64(at.Unix())<<incarnationBits|drawn)}
}

// Succeeds reports whether c is a later incarnation of the cluster old.
func (c ClusterID) Succeeds(old ClusterID) bool {
	return c.Seed == old.Seed && c.Incarnation > old.Incarnation
}

// BootstrapConfig describes a single-server cluster that starts with the given state.
type BootstrapConfig struct {
	// Dir must be empty or not exist.
	Dir         string
	ClusterID   ClusterID
	ClusterName string
	MemberID    string
	// LogStore is the kind of store in which the directory will keep its log. Default LogStoreBolt.
	LogStore LogStore
	// PeerAddress is the address at which the other members will reach the server. It is corrected if the server is
	// started with a different address.
	PeerAddress string
	// Term is the newest term of the previous incarnation. LastIndex and LastTerm belong to the last entry in State.
	Term, LastIndex, LastTerm uint64
	State                     *fsm.State
}

// Bootstrap creates the data directory. If root calls it, the new files belong to the owner of the directory or, if
// that does not exist yet, of its parent. If Bootstrap fails or is interrupted, no server can start on the result,
// because the file that names the directory's member is written last. Bootstrap returns ErrDataDirInUse,
// ErrDataDirNotEmpty, ErrInvalidMember, or a system error.
func Bootstrap(cfg BootstrapConfig) (err error) {
	if err := errors.Join(checkMemberID(cfg.MemberID), checkAddress(cfg.PeerAddress)); err != nil {
		return err
	}
	if err := CheckEmpty(cfg.Dir); err != nil {
		return err
	}
	dirOwner, top, err := targetOwner(cfg.Dir)
	if err != nil {
		return fmt.Errorf("consensus: data directory %s: %w", cfg.Dir, err)
	}
	f := &DataDir{dir: cfg.Dir}
	if err := f.createAndLock(); err != nil {
		return fmt.Errorf("consensus: data directory %s: %w", cfg.Dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var number [8]byte
	rand.Read(number[:])
	err = store.CreateFrom(cfg.Dir, store.Seed{
		Kind:      cfg.LogStore,
		Term:      cfg.Term,
		LastIndex: cfg.LastIndex,
		LastTerm:  cfg.LastTerm,
		Configuration: raft.Configuration{Servers: []raft.Server{
			{ID: raft.ServerID(cfg.MemberID), Address: raft.ServerAddress(cfg.PeerAddress)},
		}},
		Write: cfg.State.Snapshot,
	})
	if err != nil {
		return fmt.Errorf("consensus: data directory %s: %w", cfg.Dir, err)
	}
	f.file = clusterFile{
		Format:      dataDirFormat,
		ClusterID:   cfg.ClusterID.String(),
		ClusterName: cfg.ClusterName,
		MemberID:    cfg.MemberID,
		DataDir:     hex.EncodeToString(number[:]),
	}
	if err := errors.Join(f.begin(), chownTree(top, dirOwner)); err != nil {
		return err
	}
	if err := f.write(clusterFileName, f.file); err != nil {
		return err
	}
	return chownTree(top, dirOwner)
}

// CheckEmpty returns ErrDataDirNotEmpty if dir contains anything but the lost+found of a freshly created file system.
// dir need not exist.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "lost+found" {
			return fmt.Errorf("%w: it contains %s", ErrDataDirNotEmpty, filepath.Join(dir, e.Name()))
		}
	}
	return nil
}
