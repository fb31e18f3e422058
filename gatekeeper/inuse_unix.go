//go:build unix

package gatekeeper

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// folderInUse says that another server holds the lock of a data folder. It only serves to explain a failure: consensus takes the
// lock that counts.
func folderInUse(dir string) bool {
	lock, err := os.Open(filepath.Join(dir, "LOCK"))
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }() // gives the lock back, too
	return errors.Is(unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
