// Command gkctl shows and changes what a Gatekeeper cluster knows: definitions, permits, queues, members. It talks through
// package client; each command is one file.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/root"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(root.Execute(ctx, conn.New(os.Stdin, os.Stdout, os.Stderr), os.Args[1:]))
}
