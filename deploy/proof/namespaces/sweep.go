package namespaces

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// prefix returns the prefix of all names that a process creates.
func prefix(pid int) string { return fmt.Sprintf("gkp%06x", pid) }

// Sweep removes leftovers from killed processes and returns their names. It does nothing on systems without network
// namespaces.
func Sweep() ([]string, error) {
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 {
		return nil, nil
	}
	var removed []string
	var errs []error
	for _, kind := range []struct {
		list   []string
		remove []string
	}{
		{[]string{"-o", "link"}, []string{"link", "del"}},
		{[]string{"netns", "list"}, []string{"netns", "del"}},
	} {
		text, err := output("ip", kind.list...)
		if err != nil {
			return removed, errors.Join(append(errs, err)...)
		}
		for _, name := range leftovers(text, alive) {
			if err := do("ip", append(slices.Clone(kind.remove), name)...); err != nil {
				if now, listErr := output("ip", kind.list...); listErr != nil || slices.Contains(leftovers(now, alive), name) {
					errs = append(errs, err)
				}
				continue // it was removed along with another interface or by another process
			}
			removed = append(removed, name)
		}
	}
	return removed, errors.Join(errs...)
}

// leftovers returns the names in ip's output that were created by processes that no longer exist.
func leftovers(text string, alive func(pid int) bool) []string {
	ours := regexp.MustCompile(`\bgkp([0-9a-f]{6})[0-9a-f]{2}(?:b|[pn][0-9]+)\b`)
	var names []string
	for line := range strings.Lines(text) {
		match := ours.FindStringSubmatch(line)
		if match == nil || slices.Contains(names, match[0]) {
			continue
		}
		if pid, err := strconv.ParseInt(match[1], 16, 32); err == nil && !alive(int(pid)) {
			names = append(names, match[0])
		}
	}
	return names
}

// alive reports whether a process with this id exists.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
