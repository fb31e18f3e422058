package servers

import (
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
)

const module = "github.com/gatekeeperd/gatekeeper/"

// BuildFaulty compiles gatekeeperd with disks that fail on command, for tests alone, into dir.
func BuildFaulty(dir string) error {
	_, err := buildTagged(dir, "faulty")
	return err
}

// BuildPlanted compiles gatekeeperd with the bugs of internal/planted, for tests alone, into dir, and returns its file.
func BuildPlanted(dir string) (file string, err error) { return buildTagged(dir, "planted") }

func buildTagged(dir, tag string) (file string, err error) {
	file = filepath.Join(dir, "gatekeeperd")
	if out, err := exec.Command("go", "build", "-tags", tag, "-o", file, module+"cmd/gatekeeperd").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}

// Build compiles commands of this module, named by their import paths within it ("cmd/gatekeeperd"), into dir and returns
// their files in the same order.
func Build(dir string, commands ...string) ([]string, error) {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	var files []string
	for _, command := range commands {
		args = append(args, module+command)
		files = append(files, filepath.Join(dir, path.Base(command)))
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return files, nil
}
