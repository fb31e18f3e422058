package jobs

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A job may be stored even if the response is lost. It can then be found only by its ID.
func TestSubmit_OutcomeUnknown_PrintsID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize"})
		s := newSubmission(t, srv, delayResponses(t, srv, time.Hour), "resize", "a.jpg")
		err := s.cmd.ExecuteContext(t.Context())
		code, hint := ui.Classify(s.cmd, err)
		m := regexp.MustCompile("^Run the command again with `--id ([A-Z0-9]+)`: ").FindStringSubmatch(hint)
		if !errors.Is(err, client.ErrOutcomeUnknown) || code != ui.ExitUnreachable || m == nil {
			t.Fatalf("submit returned %v with exit code %d and hint %q, want ErrOutcomeUnknown, 69 and a hint with the job ID", err, code, hint)
		}
		if j := must(work.Get(t.Context(), srv.Dial(t, "later"), m[1]))(t); j.GetTasks() != 1 {
			t.Errorf("stored job = %v, want 1 task", j)
		}
	})
}

// After Ctrl-C, gkctl prints no error, so the command must print the ID of a job that may have been stored.
func TestSubmit_Interrupted_PrintsID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize"})
		ctx, interrupt := context.WithCancel(t.Context())
		s := newSubmission(t, srv, delayResponses(t, srv, time.Hour), "resize", "a.jpg", "--id", "holiday")
		go func() {
			defer interrupt()
			awaitStored(t, srv, "holiday")
		}()
		if err := s.cmd.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		const want = "gkctl: interrupted; it is unknown whether job holiday was stored\n" +
			"Run the command again with `--id holiday`: if the job was stored, this is a no-op.\n"
		if s.out.String() != want {
			t.Errorf("interrupted submit printed %q, want %q", s.out, want)
		}
	})
}

func TestSubmit_InterruptedWhileServerDown_ReportsNothingSubmitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s := newSubmission(t, srv, func(*client.Client) { srv.Stop(t) }, "resize", "a.jpg", "--id", "holiday")
		if err := s.cmd.ExecuteContext(ctx); !errors.Is(err, client.ErrUnavailable) {
			t.Error(err)
		}
		if got, want := s.out.String(), "gkctl: interrupted: job holiday was not submitted\n"; got != want {
			t.Errorf("interrupted submit printed %q, want %q", got, want)
		}
	})
}

// If gkctl exits without a response, the submitter's permit expires unless the same command is run again and takes it
// over.
func TestSubmit_CancelOnExit_OutcomeUnknown_JobIsCancelledUnlessResubmitted(t *testing.T) {
	t.Parallel()
	for _, repeated := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			srv := gktest.Start(t)
			srv.Define(t, &gatekeeperv1.Definition{Name: "resize"})
			args := []string{"resize", "a.jpg", "--id", "holiday", "--cancel-on-exit"}
			s := newSubmission(t, srv, delayResponses(t, srv, time.Second), args...)
			// Responses take a second, so the network fails while the response to the submission is in flight.
			go func() {
				awaitStored(t, srv, "holiday")
				srv.Partition(t, s.client)
			}()
			err := s.cmd.ExecuteContext(t.Context())
			_, hint := ui.Classify(s.cmd, err)
			const want = "If it was stored, the servers cancel it within 30s, unless you run the command again first with `--id holiday`."
			if !errors.Is(err, client.ErrOutcomeUnknown) || hint != want {
				t.Fatalf("submit returned %v, hint %q, want hint %q", err, hint, want)
			}
			if repeated {
				again := newSubmission(t, srv, delayResponses(t, srv, 0), args...)
				go func() { _ = again.cmd.ExecuteContext(t.Context()) }() // blocks until the job has ended
			}
			srv.Advance(t, work.SubmitterLease)
			later := srv.Dial(t, "later")
			j := must(work.Get(t.Context(), later, "holiday"))(t)
			if cancelled := j.GetCancelCause() == gatekeeperv1.CancelCause_CANCEL_CAUSE_SUBMITTER_GONE; cancelled == repeated || j.GetOver() == repeated {
				t.Errorf("repeated = %v: job after the submitter's lease = %v, want cancelled = %v", repeated, j, !repeated)
			}
			must(work.Cancel(t.Context(), later, "holiday", "test ended"))(t)
		})
	}
}

// awaitStored waits until a job is stored.
func awaitStored(t *testing.T, srv *gktest.Server, id string) {
	t.Helper()
	c := srv.Dial(t, "observer")
	srv.Await(t, "the job to be stored", func() bool {
		_, err := work.Get(t.Context(), c, id)
		return err == nil
	})
}

// delayResponses returns a function that delays the servers' responses to a client.
func delayResponses(t *testing.T, srv *gktest.Server, d time.Duration) func(*client.Client) {
	return func(c *client.Client) { srv.SlowDown(t, d, c) }
}

// submission is a run of gkctl job submit.
type submission struct {
	cmd    *cobra.Command
	out    *bytes.Buffer
	client *client.Client // set when the command has connected
}

// newSubmission returns a gkctl job submit command. Before submitting, the command calls connected with its client.
func newSubmission(t *testing.T, srv *gktest.Server, connected func(*client.Client), args ...string) *submission {
	t.Helper()
	s := &submission{out: new(bytes.Buffer)}
	f := &conn.Factory{IO: &ui.IO{Out: s.out, Err: s.out}}
	f.Dial = func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
		s.client = srv.Dial(t, "ops", opts...)
		must(s.client.Work().ListJobs(ctx, new(gatekeeperv1.ListJobsRequest)))(t) // establishes the connection
		connected(s.client)
		return s.client, nil
	}
	s.cmd = newSubmit(f)
	f.Global.Register(&cobra.Command{})
	s.cmd.SetArgs(args)
	s.cmd.SilenceErrors, s.cmd.SilenceUsage = true, true
	return s
}
