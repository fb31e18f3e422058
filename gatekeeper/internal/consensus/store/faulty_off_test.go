//go:build !faulty

package store

import (
	"os/exec"
	"testing"
)

// TestFaultyDisk_DisturbedTestsPass runs the tests that need the faulty build tag, which makes disks fail on command.
func TestFaultyDisk_DisturbedTestsPass(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-tags", "faulty", "-run", "^TestDisturbed", ".").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
