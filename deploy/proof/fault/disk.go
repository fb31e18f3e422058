package fault

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Exit codes of gatekeeperd. See docs/gatekeeperd.md.
const (
	exitFault   = 70
	exitDamaged = 73
	exitForeign = 78
)

// FullDisk is the kind that fills a server's disk. It requires a separate disk for each server.
const FullDisk = "full-disk"

// logFile contains the term and the vote. Depending on the log store, the log is also in logFile, with markFile next to
// it, or in separate files in the directory logDir.
const (
	logFile  = "raft.db"
	markFile = "acknowledged"
	logDir   = "wal"
)

// isLogFile reports whether a file in a data directory is part of the log.
func isLogFile(file string) bool {
	return file == logFile || file == markFile || filepath.Dir(file) == logDir
}

// damage kills a follower, truncates or corrupts one of its files, and restarts the server. The server must refuse the
// damaged file (see checkExit). A new member then replaces the server.
func damage(ctx context.Context, a *Arena, random *rand.Rand) error {
	a.damageMu.Lock() // a cluster does not survive damage to a majority
	defer a.damageMu.Unlock()
	s := a.follower(ctx, random)
	a.mu.Lock()
	s.Kill()
	file, what, err := damageFile(s.Data(), random)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	a.Note("damage: "+file+what, s.ID)
	// Replace the damaged member even if fault injection has ended.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	code, ok := 0, false
	for n := 0; n < 3 && !ok; n++ { // another fault may kill the server first
		if err := a.start(s); err != nil {
			return err
		}
		readyCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := s.Ready(readyCtx)
		cancel()
		if err == nil || s.Running() {
			return nil // it is ready, or is waiting for other faults to end
		}
		code, ok = s.Exited()
	}
	a.Note(fmt.Sprintf("the damaged file was refused, exit code %d", code), s.ID)
	if err := checkExit(file, code, ok, s.LogTail()); err != nil {
		return fmt.Errorf("%s, %s%s: %w", s.ID, file, what, err)
	}
	if err := a.join(ctx); err != nil {
		return err
	}
	return a.remove(ctx, random, s)
}

// checkExit checks that a server started on a damaged file exited with the code for a damaged directory. If a file
// other than the log is damaged, the server may also report that the directory belongs to another server. exited is
// false if a signal killed the process.
func checkExit(file string, code int, exited bool, log string) error {
	switch {
	case !exited:
		return fmt.Errorf("the server with a damaged file was killed by a signal:\n%s", log)
	case code == exitDamaged:
	case code == exitForeign && !isLogFile(file):
	case (code == exitFault || code == exitForeign) && !strings.Contains(log, "damaged: "): // caused by another fault
	default:
		return fmt.Errorf("the server with a damaged file exited with %d, want %d:\n%s", code, exitDamaged, log)
	}
	return nil
}

// damageFile damages a random file in a data directory and returns the file and the kind of damage. At least half of
// the time, the file is part of the log.
func damageFile(dir string, random *rand.Rand) (file, how string, err error) {
	var files []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".lock" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return "", "", err
	}
	path := files[random.IntN(len(files))]
	if random.IntN(2) == 0 {
		path = filepath.Join(dir, logFile)
		if segments, err := filepath.Glob(filepath.Join(dir, logDir, "*")); err == nil && len(segments) > 0 {
			path = segments[random.IntN(len(segments))]
		}
	}
	if file, err = filepath.Rel(dir, path); err != nil {
		return "", "", err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return file, "", err
	}
	used := len(content)
	if filepath.Ext(path) == ".wal" {
		used = len(bytes.TrimRight(content, "\x00")) // the rest of the file is preallocated
	}
	if used == 0 {
		return file, ": empty", nil
	}
	switch random.IntN(3) {
	case 0:
		n := random.IntN(used)
		return file, fmt.Sprintf(" torn at %d of %d", n, used), os.WriteFile(path, content[:n], 0o600)
	case 1:
		at := random.IntN(used)
		content[at] ^= 1 << random.IntN(8)
		return file, fmt.Sprintf(": a bit flipped at %d", at), os.WriteFile(path, content, 0o600)
	default:
		at := random.IntN(used)
		clear(content[at:min(len(content), at+512)])
		return file, fmt.Sprintf(": zeroes at %d", at), os.WriteFile(path, content, 0o600)
	}
}

// fullDisk temporarily fills a server's disk. The server must exit, and is then restarted.
func fullDisk(ctx context.Context, a *Arena, random *rand.Rand) error {
	s := a.leader(ctx, random)
	if random.IntN(2) == 0 {
		s = a.follower(ctx, random)
	}
	return a.fill(ctx, random, s)
}

func (a *Arena) fill(ctx context.Context, random *rand.Rand, s *servers.Server) error {
	a.Note(FullDisk, s.ID)
	freeSpace, err := a.Full(s)
	if err != nil {
		return err
	}
	sleep(ctx, between(random, 500*time.Millisecond, 3*time.Second))
	freeSpace()
	// A server whose disk is full may take seconds to exit. Until then, it does not respond.
	readyCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exitTimeout)
	defer cancel()
	_ = s.Ready(readyCtx)
	if code, ok := s.Exited(); ok {
		a.Note(fmt.Sprintf("exited with code %d", code), s.ID)
	}
	return a.start(s)
}
