package docs

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

func TestMakeHelp_ListsEveryTarget(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command("make", "--no-print-directory", "-C", "..", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(help)), "\n")
	targets := regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(makefile), -1)
	if len(targets) == 0 || len(lines) != len(targets) {
		t.Fatalf("make help printed %d lines for %d targets", len(lines), len(targets))
	}
	for i, target := range targets {
		if name, what, _ := strings.Cut(strings.TrimSpace(lines[i]), " "); name != target[1] || strings.TrimSpace(what) == "" {
			t.Errorf("help line %q does not describe target %s", lines[i], target[1])
		}
	}
}
