//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// The file descriptors of a process that calls Begin, in addition to the standard ones.
const (
	gateFile   = 3 // receives a byte when the command may start
	failedFile = 4 // receives the error number if the command cannot start
)

// gate holds a command back until its guard has received the group's id. Otherwise, if the wrapper were killed before
// that, processes already started by the command would survive: the kernel kills only the command itself.
type gate struct {
	open, failed           *os.File
	childOpen, childFailed *os.File
}

func newGate() (*gate, error) {
	g := new(gate)
	var err error
	if g.childOpen, g.open, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	if g.failed, g.childFailed, err = os.Pipe(); err != nil {
		g.close()
		return nil, fmt.Errorf("gate: %w", err)
	}
	return g, nil
}

// pass lets the waiting process execute the command, and returns an error if that fails.
func (g *gate) pass() error {
	g.closeChildEnds()
	if _, err := g.open.Write([]byte{1}); err != nil {
		return err
	}
	text, err := io.ReadAll(g.failed) // reaches end of file when the command starts or its process exits
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(string(text)); err == nil {
		return syscall.Errno(n)
	}
	return nil
}

func (g *gate) closeChildEnds() {
	_ = g.childOpen.Close() // no data is buffered in any of these files
	_ = g.childFailed.Close()
}

func (g *gate) close() {
	g.closeChildEnds()
	_ = g.open.Close()
	_ = g.failed.Close()
}

// Begin waits until the wrapper opens the gate, and then executes path with args, the first of which is the command's
// name. It returns only if the wrapper has died or the command cannot be executed.
func Begin(path string, args []string) {
	syscall.CloseOnExec(gateFile)
	syscall.CloseOnExec(failedFile)
	runtime.LockOSThread()
	dieWithParent() // must come first: if the wrapper has already died, waitForGate reads end of file
	if !waitForGate() {
		return
	}
	err := syscall.Exec(path, args, os.Environ()) //nolint:gosec // intentionally executes the user's command
	if n, ok := err.(syscall.Errno); ok {         //nolint:errorlint // a system call returns a plain Errno
		_, _ = syscall.Write(failedFile, []byte(strconv.Itoa(int(n))))
	}
}

// waitForGate waits for the byte on the gate, and reports whether it arrived. End of file means that the wrapper has
// died.
func waitForGate() bool {
	n := 0
	err := ignoringEINTR(func() (err error) { n, err = syscall.Read(gateFile, make([]byte, 1)); return err })
	return err == nil && n == 1
}
