package consensus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// ConvertFolder rewrites the data folder dir, whose server does not run, in the format of this build, and returns the names of the
// old files that it keeps in the folder; none when the folder has that format already. Errors: ErrFolderInUse, ErrForeignFolder,
// ErrFolderDamaged, and those of the system.
func ConvertFolder(dir string) (kept []string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("consensus: data folder %s: %w", dir, err)
		}
	}()
	if _, err := os.Stat(filepath.Join(dir, clusterFileName)); err != nil {
		return nil, fmt.Errorf("%w: this is not the data folder of a server: %w", ErrForeignFolder, err)
	}
	lock, err := lockFolder(filepath.Join(dir, lockFileName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	kept, err = store.Convert(dir)
	switch {
	case errors.Is(err, store.ErrConverted):
		return nil, nil
	case errors.Is(err, store.ErrInUse): // by a server whose lock file is gone
		return nil, fmt.Errorf("%w: %w", ErrFolderInUse, err)
	}
	return kept, err
}
