package servers

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

const module = "github.com/gatekeeperd/gatekeeper"

// BuildFaulty compiles a gatekeeperd whose disk can be made to fail, and writes it to dir. It is for tests only.
func BuildFaulty(dir string) error {
	return build(filepath.Join(dir, "gatekeeperd"), "-tags", "faulty", "./cmd/gatekeeperd")
}

// Build compiles the commands in the given directories of the product's module ("cmd/gatekeeperd") into dir, and
// returns the paths of the binaries in the same order.
func Build(dir string, commands ...string) ([]string, error) {
	var args, files []string
	for _, command := range commands {
		args = append(args, "./"+command)
		files = append(files, filepath.Join(dir, path.Base(command)))
	}
	return files, build(dir+string(filepath.Separator), args...)
}

// build runs go build in the product's module, regardless of which module the calling test is in.
func build(output string, args ...string) error {
	directory := strings.HasSuffix(output, string(filepath.Separator))
	output, err := filepath.Abs(output)
	if err != nil {
		return err
	}
	if directory { // Abs removes the trailing slash, which go build needs
		output += string(filepath.Separator)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return fmt.Errorf("go list: %w", err)
	}
	// Strip debug information, as in a release. This halves the link time.
	cmd := exec.Command("go", append([]string{"build", "-ldflags", "-s -w", "-o", output}, args...)...)
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
