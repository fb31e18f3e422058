// Command gatekeeperd is a server of Gatekeeper: it decides who may run what, where, now. Everything it does is in package
// gatekeeper; here are only flags, variables, the configuration file, signals and exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after the first signal another one is taken for the same.
const sameSignal = 250 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops gracefully. From then on signals do what they do to any process: a second one ends it at once. Not
	// in the very same moment, though: timeout(1), for one, signals its child and then the child's group.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
