//go:build !planted

package sim

import (
	"os/exec"
	"testing"
)

// TestPlantedBugs_AreCaught builds the harness and the tree under it with the planted bugs, and runs TestPlanted: each must be seen.
func TestPlantedBugs_AreCaught(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-tags", "planted", "-run", "^TestPlanted$", ".").CombinedOutput()
	if err != nil {
		t.Errorf("a planted bug was not caught: %v\n%s", err, out)
	}
}
