package held

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Command is an executable and its arguments, starting with its name.
type Command struct {
	Path string
	Args []string
}

// CommandArgs returns the cobra.PositionalArgs for a gkctl command, such as "run", that takes a semaphore name and,
// after --, a command line.
func CommandArgs(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch dash := cmd.ArgsLenAtDash(); {
		case dash == 1 && len(args) > 1:
			return nil
		case dash < 0 && len(args) > 1:
			return ui.Usagef("put -- before the command: gkctl %s %s -- %s", name, args[0], strings.Join(args[1:], " "))
		}
		return ui.Usagef("specify a semaphore, and a command after --")
	}
}

// Find finds the executable for a command line or, if shell is set, the shell that runs its only element. The error has
// the exit code that a shell would use, or reports that this system cannot run commands.
func Find(line []string, shell bool) (Command, error) {
	if !child.Supported {
		return Command{}, &ui.CodeError{Code: ui.ExitUsage, Err: child.ErrUnsupported, Hint: "Use the Go client inside the command, or `gkctl acquire --hold`."}
	}
	if shell {
		line = []string{"sh", "-c", line[0]}
	}
	path, err := exec.LookPath(line[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil && lacksShebang(path) {
		err = syscall.ENOEXEC
	}
	if err != nil {
		return Command{}, notExecutable(line[0], err)
	}
	return Command{Path: path, Args: line}, nil
}

// Name returns the name to show. It omits the arguments, because they may contain secrets.
func (c Command) Name() string { return filepath.Base(c.Args[0]) }

// lacksShebang reports whether a file is a script without a shebang line, as far as this can be determined without
// executing it. A shell runs such a script, but exec fails. lacksShebang returns false if the system has additional
// interpreters registered, because only the kernel knows whether one of them matches.
func lacksShebang(path string) bool {
	if registered, err := os.ReadDir("/proc/sys/fs/binfmt_misc"); err == nil && len(registered) > 2 { // more than register and status
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false // executable, but not readable
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false
	}
	// Binaries in any format contain zero bytes near the start.
	return !bytes.HasPrefix(head[:n], []byte("#!")) && !bytes.Contains(head[:n], []byte{0})
}

// notExecutable explains why a command cannot be started. The error has the exit code that a shell would use.
func notExecutable(name string, err error) error {
	e := &ui.CodeError{Code: ui.ExitNotExec, Err: fmt.Errorf("%s: cannot be executed: %w", name, reason(err))}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		e.Code, e.Err = ui.ExitNotFound, fmt.Errorf("%s: command not found in PATH", name)
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Err = ui.ExitNotFound, fmt.Errorf("%s: no such file, or its interpreter is missing", name)
	case errors.Is(err, syscall.ENOEXEC):
		e.Hint = "Start the script with a line such as #!/bin/sh, or run it with sh -c."
	}
	return e
}

// reason returns the innermost error.
func reason(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
