package consensus

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// ConvertFolder rewrites the data folder dir, whose server does not run, in the format of this build, and returns the
// names of the old files that it keeps in the folder; none when the folder has that format already, and a server can
// start on it. newMachine is that of ReadFolder. Errors: ErrFolderInUse, ErrForeignFolder, ErrFolderDamaged, and those
// of the system.
func ConvertFolder(dir string, newMachine func(clusterID string) Machine) (kept []string, err error) {
	defer func() {
		if err != nil {
			err = ofFolder(dir, err)
		}
	}()
	// Without making the LOCK file: a folder that is not a server's must be left as it is. A server that starts in
	// between is caught below.
	r := &Remains{Dir: dir}
	err = r.open()
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	if err != nil {
		return nil, err
	}
	lock, err := lockFolder(filepath.Join(dir, lockFileName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	kept, err = store.Convert(dir)
	if to, top, err := heir(dir); err != nil {
		return nil, err
	} else if err := handOver(top, to); err != nil {
		return nil, err
	}
	switch {
	case errors.Is(err, store.ErrConverted): // which says only that raft.db is whole
		return nil, r.read(func(old *store.Old) error { return r.begin(old, newMachine(r.ClusterID.String())) })
	case errors.Is(err, store.ErrInUse): // by a server whose lock file is gone
		return nil, fmt.Errorf("%w: %w", ErrFolderInUse, err)
	}
	return kept, err
}
