// Command demo shows Gatekeeper at work and under faults: three servers as processes of their own, the timetable of the Kubernetes
// project sped up, and for each of its seven build clusters several hosts, again processes of their own, which compete for every
// due run. Midway the leader is killed, and later a host. It ends with a table. Overlaps are counted from what the hosts wrote down that
// they believed; one is enough to fail.
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
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the demo, or one of its hosts when the first argument says so.
func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "host" {
		h, err := parseHost(args[1:])
		if err != nil {
			return err
		}
		return h.serve(ctx)
	}
	d := demo{out: os.Stdout}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&d.bin, "bin", "bin", "folder of gatekeeperd")
	flags.DurationVar(&d.length, "for", 30*time.Second, "how long hosts work")
	flags.DurationVar(&d.hour, "hour", 2*time.Second, "how long an hour of the timetable takes")
	flags.IntVar(&d.hosts, "hosts", 3, "hosts of each group")
	flags.DurationVar(&d.duration, "duration", 6*time.Second, "duration of every permit: what a dead host keeps its slots for")
	flags.StringVar(&d.profile, "profile", "default", "the servers' timing profile, default or fast")
	flags.StringVar(&d.dir, "dir", "", "folder for the servers' data and logs, which stays; default is a temporary one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return d.run(ctx)
}
