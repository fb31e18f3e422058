package gatekeeper

import (
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// ConvertDataDir rewrites a data folder, which an earlier build has written and on which no server runs, in the format
// of this build. It returns the names under which the old files stay in the folder, and none if the folder has that
// format already and its log can be read. After a crash, call it again. Errors: ErrDataDirLocked, ErrForeignDataDir if
// there is no data folder, ErrDataDir.
func ConvertDataDir(dir string) (kept []string, err error) {
	kept, err = consensus.ConvertFolder(dir, newMachine)
	switch {
	case err == nil:
		return kept, nil
	case errors.Is(err, consensus.ErrFolderInUse):
		return nil, fmt.Errorf("%w: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignFolder):
		return nil, &noDataDirError{err}
	default:
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}

// newMachine is the state machine of a cluster, for reading a folder.
func newMachine(clusterID string) consensus.Machine { return fsm.New(clusterID) }

// noDataDirError is an ErrForeignDataDir for a folder that belongs to nobody, which its text must not deny.
type noDataDirError struct{ cause error }

func (e *noDataDirError) Error() string { return e.cause.Error() }
func (e *noDataDirError) Unwrap() error { return e.cause }

// Is makes errors.Is(err, ErrForeignDataDir) true.
func (e *noDataDirError) Is(target error) bool { return target == ErrForeignDataDir }
