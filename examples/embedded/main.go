// Command embedded is an application whose processes form the Gatekeeper cluster; nothing else needs to be installed or
// started. Run it on two production hosts and on a small one at the standby site. docs/embedding.md shows how to start
// it, kill one process, and move the job.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// application holds the settings from this process's flags.
type application struct {
	id, group, members, dataDir, api, schedule string
}

func main() {
	var app application
	flag.StringVar(&app.id, "id", "", "name of this process, as listed in -members")
	flag.StringVar(&app.group, "group", "prod", "group in which this process acquires permits")
	flag.StringVar(&app.members, "members", "", "comma-separated list of ID=HOST:PORT, one per process, for traffic within the cluster")
	flag.StringVar(&app.dataDir, "data-dir", "", "data directory of this process; must not be shared")
	flag.StringVar(&app.api, "api-address", "", "HOST:PORT for gkctl and the other processes")
	flag.StringVar(&app.schedule, "schedule", "30 2 * * *", "when to run the job, as a cron expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := app.run(ctx); err != nil {
		slog.Error("exiting", "error", err)
		os.Exit(1)
	}
}

// run runs the application until ctx ends or its cluster member fails.
func (app *application) run(ctx context.Context) (err error) {
	members, err := parseMembers(app.members)
	if err != nil {
		return err
	}
	server, err := gatekeeper.Open(ctx, gatekeeper.Config{
		ID:         app.id,
		Members:    members,
		DataDir:    app.dataDir,
		APIAddress: app.api,
		Definitions: []*gatekeeperv1.Definition{ // created once; later edits by operators are kept
			{Name: "nightly-export", GroupPattern: new("prod"), Duration: durationpb.New(10 * time.Second)},
		},
		DumpInterval: 5 * time.Minute,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeServer(server)) }()

	c, err := client.Dial(ctx, []string{server.APIAddress()}, client.WithGroup(app.group), client.WithAcquirer(app.id))
	if err != nil {
		return err
	}
	defer c.Close()

	jobs, stopJobs := context.WithCancel(ctx)
	scheduler := cron.New()
	runner := client.NewRunner(c.Semaphore("nightly-export"), app.export)
	if _, err := gkcron.Add(jobs, scheduler, app.schedule, runner); err != nil {
		stopJobs()
		return err
	}
	scheduler.Start()
	defer func() { // Stop the jobs and release their permits while the member is still serving.
		stopJobs()
		<-scheduler.Stop().Done()
	}()

	select {
	case <-ctx.Done():
		return nil
	case <-server.Done():
		return server.Err()
	}
}

// export is the job. A real job would do its work and stop when ctx ends.
func (app *application) export(ctx context.Context) error {
	slog.Info("exporting", "on", app.id, "token", client.TokenOf(ctx))
	return ctx.Err()
}

func closeServer(server *gatekeeper.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Close(ctx)
}

func parseMembers(list string) (members []gatekeeper.Member, err error) {
	for _, text := range strings.Split(list, ",") {
		id, address, found := strings.Cut(text, "=")
		if !found {
			return nil, fmt.Errorf("-members: %q is not ID=HOST:PORT", text)
		}
		members = append(members, gatekeeper.Member{ID: id, PeerAddress: address})
	}
	return members, nil
}
