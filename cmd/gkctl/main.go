// Command gkctl shows and changes the state of a Gatekeeper cluster, such as definitions, permits, queues and members.
// It uses package client.
//
// Each of these packages under internal implements some of the commands:
//
//	show     get, holders, waiters, explain, history, watch
//	edit     apply, set, edit, delete, undo, preview, diff
//	move     move, pause, resume, cordon, uncordon, cordons
//	firings  firings list, show and forget
//	jobs     job submit, list, show, results, follow, cancel, retry and delete; task list, show, retry and drop
//	workers  work, work list
//	run      run, acquire, refresh, release, verify, revoke, clear
//	cluster  cluster, status, context
//	snapshot snapshot save and inspect
//	cert     cert init, server, peer, client and show
//	auth     auth whoami, can-i, roles, list, bind and unbind; auth token create, list and revoke
//	audit    audit verify
//	bench    bench
//	root     help, completion, version, and the root command
//
// Each command has an options struct, filled in from its flags, and a run method. The constructor newX takes that
// method as an argument, so that a test can inspect the options instead of running the command. These packages do not
// import each other. They share change (preview, confirmation, undo), conn (connections to servers), lookup (names and
// globs), ui (streams, formats, errors, exit codes) and words (API messages as text). Each shared package imports
// only packages that come later in this list. Package held runs a command while a permit is held, using package child.
// Script tests of complete commands are in testdata/script.
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
	context.AfterFunc(ctx, stop) // a second signal kills the process
	os.Exit(root.Execute(ctx, conn.New(os.Stdin, os.Stdout, os.Stderr), os.Args[1:]))
}
