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

// DiskVariable is the environment variable that holds the path of the file that controls the simulated disk. The file
// is read before every write, so that the disk can fail and be repaired while the server is running. If the file is
// missing or empty, the disk works normally. Otherwise, it contains one of
//
//	delay 300ms  every write takes that much longer
//	fail write   every write fails with EIO, and nothing is written
//	fail sync    every write fails with EIO after it has been written, because the effect of a failed sync is unknown
//
// Only builds with the tag `faulty` recognize the variable, and no release is built with that tag. Its name does not
// start with GATEKEEPER_, because a server refuses unknown variables with that prefix.
const DiskVariable = "FAULTY_DISK"

// withFaults runs the store call named op as the state of the simulated disk dictates. All store calls go through
// withFaults. Reads never fail, because a server has most of its data in memory even if its disk fails.
func withFaults(op string, f func() error) error {
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
	return fmt.Errorf("%s contains %q, which is not a valid disk state", file, words)
}
