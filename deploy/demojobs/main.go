// Command demojobs shows jobs of gocron under Gatekeeper and under faults: three servers and three applications, all processes of their
// own. Each application has the same timetable, fifty real jobs sped up, and one of them a clock that is two seconds off. An
// application is killed, then the leader, and then an application is suspended for longer than its permits last and woken up.
//
// It ends with a report, made of what the applications wrote down, of what the store that they write to has seen, and of what the servers
// say of every firing. A promise that was broken makes the exit code 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demojobs/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "demo-jobs:", err)
		os.Exit(1)
	}
}

// command is the demo, or one of its applications when the first argument says so.
func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "app" {
		a, err := app.Parse(args[1:])
		if err != nil {
			return err
		}
		return a.Run(ctx)
	}
	d := demo{out: os.Stdout}
	flags := flag.NewFlagSet("demojobs", flag.ContinueOnError)
	flags.StringVar(&d.bin, "bin", "bin", "folder of gatekeeperd")
	flags.DurationVar(&d.length, "for", 40*time.Second, "how long applications work")
	flags.IntVar(&d.jobs, "jobs", 50, "how many jobs the timetable has")
	flags.DurationVar(&d.duration, "duration", 3*time.Second, "duration of every permit: what a dead application keeps its slots for")
	flags.DurationVar(&d.skew, "clock", -2*time.Second, "how far the clock of the third application is off")
	flags.StringVar(&d.profile, "profile", "default", "the servers' timing profile, default or fast")
	flags.StringVar(&d.dir, "dir", "", "folder for the servers' data and logs, which stays; default is a temporary one")
	flags.StringVar(&d.jsonFile, "json", "", "file for the report as JSON; empty for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return d.run(ctx)
}
