// Command demomove shows what an operator does at three in the morning: three servers with the definitions of the Kubernetes
// project, a build cluster in which hosts hold all of its 510 tasks, and another one whose hosts wait. `gkctl move` moves all of
// them with a drain, and `gkctl undo` back. Most holders stop at once, some take their time, and one does not stop. With -kill the
// leader is killed in the middle of the move.
//
// It ends with a report, made of what the hosts wrote down that they believed. A promise that was broken makes the exit code 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo-move:", err)
		os.Exit(1)
	}
}

// command is the demo, or the hosts of one of its zones when the first argument says so.
func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "zone" {
		z, err := parseZone(args[1:])
		if err != nil {
			return err
		}
		return z.run(ctx)
	}
	d := demo{out: os.Stdout}
	flags := flag.NewFlagSet("demomove", flag.ContinueOnError)
	flags.StringVar(&d.bin, "bin", "bin", "folder of gatekeeperd and gkctl")
	flags.StringVar(&d.from, "from", "eks-prow-build-cluster", "the build cluster that is left")
	flags.StringVar(&d.to, "to", "k8s-infra-prow-build", "the build cluster that takes over")
	flags.IntVar(&d.tasks, "tasks", 0, "how many of its tasks have hosts; 0 for all")
	flags.DurationVar(&d.duration, "duration", 6*time.Second, "duration of every permit: what a holder keeps that does not stop")
	flags.DurationVar(&d.drain, "drain", 5*time.Second, "how long holders may go on after they were told to stop")
	flags.BoolVar(&d.kill, "kill", false, "kill the leader in the middle of the move")
	flags.StringVar(&d.profile, "profile", "default", "the servers' timing profile, default or fast")
	flags.StringVar(&d.dir, "dir", "", "folder for the servers' data and logs, which stays; default is a temporary one")
	flags.StringVar(&d.jsonFile, "json", "", "file for the report as JSON; empty for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return d.run(ctx)
}
