package gatekeeper

import (
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// ConvertDataDir rewrites a data folder, which an earlier build has written and on which no server runs, in the format of this build. It
// returns the names under which the old files stay in the folder, and none if the folder has that format already. After a crash, call
// it again. Errors: ErrDataDirLocked, ErrForeignDataDir, ErrDataDir.
func ConvertDataDir(dir string) (kept []string, err error) {
	kept, err = consensus.ConvertFolder(dir)
	switch {
	case err == nil:
		return kept, nil
	case errors.Is(err, consensus.ErrFolderInUse):
		return nil, fmt.Errorf("%w: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignFolder):
		return nil, fmt.Errorf("%w: %w", ErrForeignDataDir, err)
	default:
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}
