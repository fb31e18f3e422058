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

// The files of a process that calls Begin, after its standard ones.
const (
	gateFile   = 3 // receives a byte when the command may start
	failedFile = 4 // takes the error number if the command cannot start
)

// gate holds a command back until its guard knows its group. Without it, processes that the command starts early would
// outlive a wrapper that is killed at that moment: the kernel kills only the command, and the guard knows no group.
type gate struct {
	open, failed           *os.File
	theirOpen, theirFailed *os.File
}

func newGate() (*gate, error) {
	g := new(gate)
	var err error
	if g.theirOpen, g.open, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	if g.failed, g.theirFailed, err = os.Pipe(); err != nil {
		g.close()
		return nil, fmt.Errorf("gate: %w", err)
	}
	return g, nil
}

// pass lets the waiting process become the command. It returns why that failed.
func (g *gate) pass() error {
	g.closeTheirs()
	if _, err := g.open.Write([]byte{1}); err != nil {
		return err
	}
	text, err := io.ReadAll(g.failed) // ends when the command starts, or its process ends
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(string(text)); err == nil {
		return syscall.Errno(n)
	}
	return nil
}

func (g *gate) closeTheirs() {
	_ = g.theirOpen.Close() // nothing is buffered in any of these
	_ = g.theirFailed.Close()
}

func (g *gate) close() {
	g.closeTheirs()
	_ = g.open.Close()
	_ = g.failed.Close()
}

// Begin waits until the wrapper opens the gate, and then becomes the command: path with args, the first of which is its
// name. It returns if the wrapper is gone, or the command cannot be executed.
func Begin(path string, args []string) {
	syscall.CloseOnExec(gateFile)
	syscall.CloseOnExec(failedFile)
	runtime.LockOSThread()
	dieWithParent() // before the gate: if the wrapper dies in between, the gate is closed
	if !opened() {
		return
	}
	err := syscall.Exec(path, args, os.Environ()) //nolint:gosec // its purpose
	if n, ok := err.(syscall.Errno); ok {         //nolint:errorlint // a system call's own number
		_, _ = syscall.Write(failedFile, []byte(strconv.Itoa(int(n))))
	}
}

// opened waits for the byte of the gate. End of file without one means that the wrapper is gone.
func opened() bool {
	n := 0
	err := ignoringEINTR(func() (err error) { n, err = syscall.Read(gateFile, make([]byte, 1)); return err })
	return err == nil && n == 1
}
