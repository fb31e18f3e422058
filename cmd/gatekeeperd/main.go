// Command gatekeeperd is the server of Gatekeeper: it makes sure that a scheduled job runs on one host at a time.
// Everything it does is in package gatekeeper. This package only has flags, variables, the configuration file, signals
// and exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after the first signal another one counts as the same.
const sameSignal = 250 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops the server gracefully. After sameSignal, signals have their default effect: a second one
	// ends the process at once. The delay is needed because timeout(1), for example, signals its child and then the
	// child's group.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
