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

// Command is an executable with its arguments, of which the first is its own name.
type Command struct {
	Path string
	Args []string
}

// Line is the cobra.PositionalArgs of a command of gkctl, such as "run", that takes the name of a semaphore, and after -- a command line.
func Line(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch dash := cmd.ArgsLenAtDash(); {
		case dash == 1 && len(args) > 1:
			return nil
		case dash < 0 && len(args) > 1:
			return ui.Usagef("put -- before the command: gkctl %s %s -- %s", name, args[0], strings.Join(args[1:], " "))
		}
		return ui.Usagef("give the name of a semaphore, and after -- a command")
	}
}

// Find finds the executable of a command line, or with shell, of the shell that runs its only word. The error has the exit code that a
// shell has for it, or says that this system cannot run commands.
func Find(line []string, shell bool) (Command, error) {
	if !child.Supported {
		return Command{}, &ui.CodeError{Code: ui.ExitUsage, Err: child.ErrUnsupported, Hint: "Use the Go client in the command itself, or `gkctl acquire --hold`."}
	}
	if shell {
		line = []string{"sh", "-c", line[0]}
	}
	path, err := exec.LookPath(line[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil && nameless(path) {
		err = syscall.ENOEXEC
	}
	if err != nil {
		return Command{}, notExecutable(line[0], err)
	}
	return Command{Path: path, Args: line}, nil
}

// Name is what is shown of the command. Its arguments are not: there may be secrets among them.
func (c Command) Name() string { return filepath.Base(c.Args[0]) }

// nameless says whether a file is a script that names no interpreter, as far as can be known without executing it. Shells run such a
// script themselves; the system does not. Where more interpreters are registered with the system, only the system knows.
func nameless(path string) bool {
	if more, err := os.ReadDir("/proc/sys/fs/binfmt_misc"); err == nil && len(more) > 2 { // next to register and status
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false // executable and not readable
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false
	}
	// Programs have zero bytes near their beginning, whatever their format.
	return !bytes.HasPrefix(head[:n], []byte("#!")) && !bytes.Contains(head[:n], []byte{0})
}

// notExecutable says why a command cannot be started, with the exit code that a shell has for it.
func notExecutable(name string, err error) error {
	e := &ui.CodeError{Code: ui.ExitNotExec, Err: fmt.Errorf("%s: cannot be executed: %w", name, reason(err))}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		e.Code, e.Err = ui.ExitNotFound, fmt.Errorf("%s: there is no such command in PATH", name)
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Err = ui.ExitNotFound, fmt.Errorf("%s: there is no such file, or the interpreter that it names is not there", name)
	case errors.Is(err, syscall.ENOEXEC):
		e.Hint = "A script starts with a line as #!/bin/sh; sh -c runs one without."
	}
	return e
}

// reason is an error without the names that its wrappers add.
func reason(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
