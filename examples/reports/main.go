// Command reports is the online store from the StopLight article, running on several hosts. Every host registers the
// same two tasks, and each scheduled report is compiled by only one host. docs/articles/stoplight.md starts three hosts
// and kills one partway through a report.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
)

// shop is one process of the online store.
type shop struct {
	host, listen, dir string
	every             time.Duration
}

func main() {
	var s shop
	flag.StringVar(&s.host, "host", "", "name of this host")
	flag.StringVar(&s.listen, "listen", "", "HOST:PORT on which this host answers probes from other hosts")
	flag.StringVar(&s.dir, "dir", ".", "directory shared by all hosts")
	flag.DurationVar(&s.every, "every", time.Minute, "how often to compile the reports")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		slog.Error("exiting", "error", err)
		os.Exit(1)
	}
}

// run serves probes and runs the tasks until ctx ends.
func (s *shop) run(ctx context.Context) (err error) {
	c, err := client.Dial(ctx, nil, client.WithAcquirer(s.host))
	if err != nil {
		return err
	}
	defer c.Close()

	manager, err := tasks.NewManager(c,
		tasks.WithProbeURL("http://"+s.listen+"/tasks"),
		tasks.WithProbe(tasks.HTTPProbe{}),
	)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeManager(manager)) }()

	mux := http.NewServeMux()
	mux.Handle("/tasks", manager.Handler())
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	defer server.Close()

	inventory := &report{shop: s, name: "inventory-report"}
	sales := tasks.Func("sales-report", gocron.DurationJob(s.every), s.sales)
	for _, task := range []tasks.Task{inventory, sales} {
		if err := manager.Register(ctx, task); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// closeManager stops the tasks and waits until their permits are released.
func closeManager(m *tasks.Manager) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return m.Close(ctx)
}

// sales emails the sales report. The email is just a line appended to a file shared by all hosts.
func (s *shop) sales(ctx context.Context) error {
	_, due := client.PermitOf(ctx).Firing()
	return s.mail(fmt.Sprintf("sales-report %d from %s", due.UnixMilli(), s.host))
}

func (s *shop) mail(line string) error {
	f, err := os.OpenFile(filepath.Join(s.dir, "mail.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// report is the inventory report. Run creates a draft file and then waits for another system to deliver the file
// stock.csv.
type report struct {
	shop *shop
	name string
}

func (r *report) Name() string                     { return r.name }
func (r *report) Schedule() gocron.JobDefinition   { return gocron.DurationJob(r.shop.every) }
func (r *report) Initialize(context.Context) error { return os.MkdirAll(r.shop.dir, 0o700) }
func (r *report) Cancel()                          {}

func (r *report) draft() string { return filepath.Join(r.shop.dir, "draft.txt") }

// Reset removes the draft left by a host that died.
func (r *report) Reset(context.Context) error {
	slog.Info("resetting", "on", r.shop.host)
	if err := os.Remove(r.draft()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Run compiles the report. Two hosts must never do this at the same time. Run fails if a draft exists, so that it never
// overwrites one.
func (r *report) Run(ctx context.Context) error {
	slog.Info("compiling", "on", r.shop.host, "token", client.TokenOf(ctx))
	f, err := os.OpenFile(r.draft(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	stock := filepath.Join(r.shop.dir, "stock.csv")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for _, err := os.Stat(stock); err != nil; _, err = os.Stat(stock) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	// This host may have been suspended while another one took over the task.
	if err := client.PermitOf(ctx).Ensure(ctx, time.Second); err != nil {
		return err
	}
	return errors.Join(r.shop.mail("inventory-report from "+r.shop.host), os.Remove(r.draft()), os.Remove(stock))
}
