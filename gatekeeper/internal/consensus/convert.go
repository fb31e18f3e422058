package consensus

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// ConvertDataDir rewrites the data directory dir, whose server must not be running, in this build's format. It
// returns the names of the old files that it keeps in the directory. It returns no names if the directory already has
// that format and a server can start on it. newMachine is the same as for ReadDataDir. ConvertDataDir returns
// ErrDataDirInUse, ErrForeignDataDir, ErrDataDirDamaged, or a system error.
func ConvertDataDir(dir string, newMachine func(clusterID string) Machine) (kept []string, err error) {
	defer func() {
		if err != nil {
			err = wrapDataDirError(dir, err)
		}
	}()
	// This does not create the LOCK file, because a directory that does not belong to a server must not be changed. A
	// server that starts before the directory is locked is detected below.
	r := &OfflineDir{Dir: dir}
	err = r.open()
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	if err != nil {
		return nil, err
	}
	lock, err := lockDataDir(filepath.Join(dir, lockFileName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	kept, err = store.Convert(dir)
	if to, top, err := targetOwner(dir); err != nil {
		return nil, err
	} else if err := chownTree(top, to); err != nil {
		return nil, err
	}
	switch {
	case errors.Is(err, store.ErrConverted): // this means only that raft.db is intact
		return nil, r.read(func(old *store.Offline) error { return r.begin(old, newMachine(r.ClusterID.String())) })
	case errors.Is(err, store.ErrInUse): // by a server whose lock file was deleted
		return nil, fmt.Errorf("%w: %w", ErrDataDirInUse, err)
	}
	return kept, err
}
