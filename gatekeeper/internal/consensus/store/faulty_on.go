//go:build faulty

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// DiskVariable names the file that says how the disk is. It is read before every write, so that a disk can fail and be
// repaired while the server runs. No file, or an empty one, is a good disk; else it holds one of
//
//	delay 300ms  every write takes that much longer
//	fail write   every write fails, with EIO, and nothing is written
//	fail sync    every write fails, with EIO, after all of it was written: what a failed sync leaves is not known
//
// Only builds with the tag `faulty` know it, which no release is. It is not called GATEKEEPER_...: a server refuses
// such a one that it does not know.
const DiskVariable = "FAULTY_DISK"

// disturbed makes a call of a store, op by name, as the disk allows. All calls come through here, whatever store they
// are for. Reads succeed: a disk that fails has most of them in memory.
func disturbed(op string, f func() error) error {
	file := os.Getenv(DiskVariable)
	if file == "" || slices.Contains([]string{"first index", "last index", "get log", "get"}, op) {
		return f()
	}
	words, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return f()
	}
	if err != nil {
		return err
	}
	how, what, _ := strings.Cut(strings.TrimSpace(string(words)), " ")
	switch {
	case how == "":
		return f()
	case how == "delay":
		d, err := time.ParseDuration(what)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		time.Sleep(d)
		return f()
	case how == "fail" && what == "write":
		return syscall.EIO
	case how == "fail" && what == "sync":
		return errors.Join(f(), syscall.EIO)
	}
	return fmt.Errorf("%s says %q, which is no state of a disk", file, words)
}
