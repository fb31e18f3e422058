//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

// gateArg makes the test binary act as the process that waits at the gate.
const gateArg = "begin-for-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == gateArg {
		Begin(os.Args[2], os.Args[3:])
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestGate_CommandStartsOnlyWhenGateOpens(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path   string
		opened bool
		output string
		err    error
	}{
		"opened":          {"/bin/echo", true, "started\n", nil},
		"wrapper dies":    {"/bin/echo", false, "", nil},
		"no such command": {"/nowhere/echo", true, "", syscall.ENOENT},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := newGate()
			if err != nil {
				t.Fatal(err)
			}
			defer g.close()
			out, childOut, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			pid, err := syscall.ForkExec(self, []string{self, gateArg, c.path, "echo", "started"}, &syscall.ProcAttr{
				Files: []uintptr{0, childOut.Fd(), 2, g.childOpen.Fd(), g.childFailed.Fd()}, Sys: attributes(),
			})
			_ = childOut.Close()
			if err != nil {
				t.Fatal(err)
			}
			if c.opened {
				if err := g.pass(); !errors.Is(err, c.err) {
					t.Errorf("pass() = %v, want %v", err, c.err)
				}
			} else {
				g.close()
			}
			text, err := io.ReadAll(out)
			if err != nil || string(text) != c.output {
				t.Errorf("output: got %q, %v; want %q", text, err, c.output)
			}
			if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
				t.Error(err)
			}
		})
	}
}
