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

// lockFolder takes the lock file at path. The system releases the lock when the process ends, in whatever way. The file
// holds the process id, for the message of the next one.
func lockFolder(path string) (io.Closer, error) {
	file := flock.New(path)
	if ok, err := file.TryLock(); !ok {
		return nil, notLocked(path, err)
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// watchFolder takes the lock file at path so that no server starts meanwhile, and writes nothing. A folder without a
// lock file, such as a copy, has no server to keep out.
func watchFolder(path string) (io.Closer, error) {
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

// notLocked says why the lock file at path could not be locked. Without an error of the system, another process has it.
func notLocked(path string, err error) error {
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	holder, _ := os.ReadFile(path)
	return fmt.Errorf("%w by process %.32s", ErrFolderInUse, strings.TrimSpace(string(holder)))
}
