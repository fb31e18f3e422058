//go:build !faulty

package store

import (
	"os/exec"
	"testing"
)

// TestFaultyDisk_FollowsItsFile builds this package with disks that fail on command, and runs TestDisturbed.
func TestFaultyDisk_FollowsItsFile(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-tags", "faulty", "-run", "^TestDisturbed", ".").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
