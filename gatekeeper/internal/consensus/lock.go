package consensus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/gofrs/flock"
)

// lockDataDir locks the lock file at path. The operating system releases the lock when the process exits for any
// reason. The file contains the process id, which the next process includes in its error message.
func lockDataDir(path string) (io.Closer, error) {
	file := flock.New(path)
	if ok, err := file.TryLock(); !ok {
		return nil, notLocked(path, err)
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// lockDataDirShared locks the lock file at path without writing to it, so that no server can start in the meantime. A
// directory without a lock file, such as a copy, needs no lock because no server uses it.
func lockDataDirShared(path string) (io.Closer, error) {
	file := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := file.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return io.NopCloser(nil), nil
	case !ok:
		return nil, notLocked(path, err)
	}
	return file, nil
}

// notLocked explains why the lock file at path could not be locked. If err is nil, another process holds the lock.
func notLocked(path string, err error) error {
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	holder, _ := os.ReadFile(path)
	return fmt.Errorf("%w by process %.32s", ErrDataDirInUse, strings.TrimSpace(string(holder)))
}
