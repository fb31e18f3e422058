// Package demotest implements TestMain for programs that start servers and copies of themselves.
package demotest

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Main builds gatekeeperd into a directory, sets *bin to that directory, runs the tests and returns the exit code. If
// the first argument of the test program is the name of a part, Main runs that part instead.
func Main(m *testing.M, bin *string, part string, command func(context.Context, []string) error) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if len(os.Args) > 1 && os.Args[1] == part {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := command(ctx, os.Args[1:]); err != nil {
			return fail(err)
		}
		return 0
	}
	dir, err := os.MkdirTemp("", "gatekeeper-demo-test-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
		return fail(err)
	}
	*bin = dir
	return m.Run()
}
