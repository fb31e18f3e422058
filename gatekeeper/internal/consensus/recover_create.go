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

// incarnationBits are drawn; above them stand the Unix seconds.
const incarnationBits = 20

// Next draws the id of a cluster's next life, begun at a time. Of two lives the one that began later has the higher
// incarnation, and two that were begun at once, from copies of one folder, still differ.
func (c ClusterID) Next(at time.Time) ClusterID {
	var b [4]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	drawn := uint64(binary.BigEndian.Uint32(b[:])) % (1 << incarnationBits)
	return ClusterID{Seed: c.Seed, Incarnation: max(c.Incarnation+1, uint64(at.Unix())<<incarnationBits|drawn)}
}

// Succeeds says that c is a later life of the cluster old.
func (c ClusterID) Succeeds(old ClusterID) bool {
	return c.Seed == old.Seed && c.Incarnation > old.Incarnation
}

// Founding is a cluster of one server that begins with a state.
type Founding struct {
	// Dir is made, or is empty.
	Dir         string
	ClusterID   ClusterID
	ClusterName string
	MemberID    string
	// LogStore is how the folder is to keep its log. Default LogStoreBolt.
	LogStore LogStore
	// PeerAddress is where the other members will reach the server; it is corrected when the server is started with
	// another one.
	PeerAddress string
	// Term is the newest one of the life before, LastIndex and LastTerm those of the last entry that is in State.
	Term, LastIndex, LastTerm uint64
	State                     *fsm.State
}

// Found makes the data folder. What root makes belongs to the owner of the folder, if it is there, or of the one above
// it. When it fails, or does not end, no server will start from what it left: the file that says whose folder it is
// comes last. Errors: ErrFolderInUse, ErrFolderNotEmpty, ErrInvalidMember, and those of the system.
func Found(cfg Founding) (err error) {
	if err := errors.Join(checkMemberID(cfg.MemberID), checkAddress(cfg.PeerAddress)); err != nil {
		return err
	}
	if err := CheckEmpty(cfg.Dir); err != nil {
		return err
	}
	to, top, err := heir(cfg.Dir)
	if err != nil {
		return fmt.Errorf("consensus: data folder %s: %w", cfg.Dir, err)
	}
	f := &Folder{dir: cfg.Dir}
	if err := f.take(); err != nil {
		return fmt.Errorf("consensus: data folder %s: %w", cfg.Dir, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var number [8]byte
	rand.Read(number[:])
	err = store.Plant(cfg.Dir, store.Seed{
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
		return fmt.Errorf("consensus: data folder %s: %w", cfg.Dir, err)
	}
	f.file = clusterFile{
		Format:      folderFormat,
		ClusterID:   cfg.ClusterID.String(),
		ClusterName: cfg.ClusterName,
		MemberID:    cfg.MemberID,
		Folder:      hex.EncodeToString(number[:]),
	}
	if err := errors.Join(f.begin(), handOver(top, to)); err != nil {
		return err
	}
	if err := f.write(clusterFileName, f.file); err != nil {
		return err
	}
	return handOver(top, to)
}

// CheckEmpty says ErrFolderNotEmpty when there is anything in dir. It need not be there; the lost+found of a fresh disk
// is nothing.
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
			return fmt.Errorf("%w: there is %s", ErrFolderNotEmpty, filepath.Join(dir, e.Name()))
		}
	}
	return nil
}
