// Command gatekeeperd is a server of Gatekeeper: it decides who may run what, where, now. Everything it does is in package
// gatekeeper; here are only flags, variables, the configuration file, signals and exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops gracefully. From then on signals do what they do to any process: a second one ends it at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
