package gatekeeper

import (
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// ConvertDataDir converts a data directory written by an earlier build to this build's format. Its server must be
// stopped. ConvertDataDir returns the names under which it keeps the old files in the directory. It returns none if the
// directory already has the current format and its log can be read. After a crash, call it again. The error is
// ErrDataDirLocked, ErrDataDir, or ErrForeignDataDir if dir is not a data directory.
func ConvertDataDir(dir string) (kept []string, err error) {
	kept, err = consensus.ConvertDataDir(dir, newMachine)
	switch {
	case err == nil:
		return kept, nil
	case errors.Is(err, consensus.ErrDataDirInUse):
		return nil, fmt.Errorf("%w: %w", ErrDataDirLocked, err)
	case errors.Is(err, consensus.ErrForeignDataDir):
		return nil, &notDataDirError{err}
	default:
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
}

// newMachine returns a cluster's state machine for reading a data directory.
func newMachine(clusterID string) consensus.Machine { return fsm.New(clusterID) }

// notDataDirError is an ErrForeignDataDir for a directory that is not a data directory. Its message omits that of
// ErrForeignDataDir, which would say that the directory belongs to another member.
type notDataDirError struct{ cause error }

func (e *notDataDirError) Error() string { return e.cause.Error() }
func (e *notDataDirError) Unwrap() error { return e.cause }

// Is makes errors.Is(err, ErrForeignDataDir) true.
func (e *notDataDirError) Is(target error) bool { return target == ErrForeignDataDir }
