//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package child

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
)

// Supported reports whether Start works on this system.
const Supported = false

// Spec, Process and State have the same fields as on systems with process groups.
type (
	Spec struct {
		Path        string
		Args, Env   []string
		Files       []*os.File
		Guard       []string
		Begin       []string
		CleanupDir  string
		Until       time.Duration
		OnWait      func(pids []int)
		MayContinue func() bool
	}
	Process struct{}
	State   struct {
		Code   int
		Signal syscall.Signal
	}
)

// Start returns ErrUnsupported, so the functions below are never called.
func Start(Spec) (*Process, error) { return nil, ErrUnsupported }

func (*Process) PID() int                           { return 0 }
func (*Process) Until(time.Duration)                {}
func (*Process) Signal(syscall.Signal) error        { return ErrUnsupported }
func (*Process) Kill() error                        { return ErrUnsupported }
func (*Process) Exited() <-chan struct{}            { return nil }
func (*Process) End(context.Context) (State, error) { return State{}, ErrUnsupported }
func Now() time.Duration                            { return 0 }
func Guard(io.Reader)                               {}
func Begin(string, []string)                        {}
func Forwarded() []os.Signal                        { return nil }
func Continues(syscall.Signal) bool                 { return false }
func SignalName(syscall.Signal) string              { return "" }
