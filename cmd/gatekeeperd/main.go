// Command gatekeeperd is the Gatekeeper server. It makes sure that a scheduled job runs on one host at a time.
//
// The server itself is in package gatekeeper. This package only handles flags, environment variables, the configuration
// file, signals and exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after the first signal a repeated one counts as the same.
const sameSignal = 250 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops the server gracefully. After sameSignal, signals have their default effect again, so a
	// second one ends the process immediately. The delay is needed because some programs, such as timeout(1), signal
	// their child and then the child's process group.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameSignal, stop) })
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
