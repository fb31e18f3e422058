package app

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/gatekeeperd/gatekeeper/client"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/belief"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// Event is what an application writes down at a moment of its life. Instants are readings of the machine's shared clock.
type Event string

const (
	// Started: its scheduler runs.
	Started Event = "started"
	// Skipped: Job does not run this time; Text says why.
	Skipped Event = "skipped"
	// Granted: it was granted Token for Job, and has claimed the firing of Due with it.
	Granted Event = "granted"
	// Began: the run of Token begins, and from At on it believes to hold it.
	Began Event = "began"
	// Checked: the run has looked whether it may go on, and works on its write number Step.
	Checked Event = "checked"
	// Refused: its write number Step was refused; Text says why.
	Refused Event = "refused"
	// Returned: the run's function has returned, with the error Text.
	Returned Event = "returned"
	// Ended: it stopped believing in Token at Until. Lost: not by its own will.
	Ended Event = "ended"
	// Finished: the run is over. Without a Text the servers have confirmed the release; Ran says that it was begun, Lost that it had
	// been told to stop for want of its permit.
	Finished Event = "finished"
)

// ShutDown is why a run was skipped when its scheduler ends.
const ShutDown = "shut down"

// Record is one line of an application's account.
type Record struct {
	Event Event         `json:"event"`
	At    time.Duration `json:"at"`
	Job   string        `json:"job,omitempty"`
	Token uint64        `json:"token,omitempty"`
	Due   time.Time     `json:"due,omitzero"`
	Step  int           `json:"step,omitempty"`
	Until time.Duration `json:"until,omitempty"`
	Lost  bool          `json:"lost,omitempty"`
	Ran   bool          `json:"ran,omitempty"`
	Text  string        `json:"text,omitempty"`
}

// recorder writes down what happens. Nothing that it does decides anything.
type recorder struct {
	account *account.Writer
}

func (r *recorder) write(rec Record) {
	rec.At = boottime.Now()
	r.account.Write(rec)
}

func (r *recorder) hooks() client.Hooks {
	return client.Hooks{
		Granted: func(_ context.Context, p *client.Permit) {
			_, due := p.Firing()
			r.write(Record{Event: Granted, Job: p.Semaphore(), Token: p.Token(), Due: due})
		},
		Finished: func(_ context.Context, f client.Report) {
			rec := Record{Event: Finished, Job: f.Semaphore, Token: f.Token, Due: f.Due, Ran: f.Ran, Lost: f.Stopped != nil}
			if f.Release != nil {
				rec.Text = f.Release.Error()
			}
			r.write(rec)
		},
	}
}

// skipped is gocron's listener of locks that were not had.
func (r *recorder) skipped(_ uuid.UUID, job string, err error) {
	text := err.Error()
	denied, no := errors.AsType[*client.DeniedError](err)
	switch {
	case no:
		text = string(denied.Reason)
	case errors.Is(err, context.Canceled):
		text = ShutDown
	case errors.Is(err, client.ErrUnavailable):
		text = "no server answers"
	case errors.Is(err, gkgocron.ErrRunning):
		text = "still running"
	}
	r.write(Record{Event: Skipped, Job: job, Text: text})
}

// observe writes down a job's runs.
func (r *recorder) observe(job string, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		permit := client.PermitOf(ctx)
		rec := Record{Job: job, Token: permit.Token()}
		is := func(e Event) Record { rec := rec; rec.Event = e; return rec }
		r.write(is(Began))
		watch := belief.Of(permit, func(until time.Duration, lost bool) {
			end := is(Ended)
			end.Until, end.Lost = until, lost
			r.write(end)
		})
		err := run(ctx)
		returned := is(Returned)
		if err != nil {
			returned.Text = err.Error()
		}
		r.write(returned)
		watch.Stop()
		return err
	}
}
