package jobs

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/gatekeeperd/gatekeeper/client"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

// Events of an application, in addition to grants and beliefs. A belief begins with stage.Began.
const (
	// schedulerStarted means that the application is ready.
	schedulerStarted stage.Event = "started"
	// skipped means that the job does not run this time. Text is the reason.
	skipped stage.Event = "skipped"
	// checked means that the run has checked that it may continue and is preparing write number Step.
	checked stage.Event = "checked"
	// refused means that write number Step of the run was refused. Text is the reason.
	refused stage.Event = "refused"
	// returned means that the job's function has returned. Text is its error, if any.
	returned stage.Event = "returned"
	// finished means that the run has ended. An empty Text means that the servers have confirmed the release. Lost
	// means that the run had to stop because its permit was lost.
	finished stage.Event = "finished"
)

// shutDown is the reason recorded for runs that are skipped because the scheduler is shutting down.
const shutDown = "shut down"

func (a *app) hooks() client.Hooks {
	return client.Hooks{
		Granted: func(_ context.Context, p *client.Permit) {
			_, due := p.Firing()
			a.account.Write(stage.Record{Event: stage.Granted, Semaphore: p.Semaphore(), Token: p.Token(), Due: due})
		},
		Finished: func(_ context.Context, f client.Report) {
			a.account.Write(stage.Record{Event: finished, Semaphore: f.Semaphore, Token: f.Token, Lost: f.Stopped != nil, Text: errorText(f.Release)})
		},
	}
}

// skipped implements gocron's listener for locks that were not granted.
func (a *app) skipped(_ uuid.UUID, job string, err error) {
	text := err.Error()
	denied, isDenied := errors.AsType[*client.DeniedError](err)
	switch {
	case isDenied:
		text = string(denied.Reason)
	case errors.Is(err, context.Canceled):
		text = shutDown
	case errors.Is(err, client.ErrUnavailable):
		text = "no server responded"
	case errors.Is(err, gkgocron.ErrRunning):
		text = "still running"
	}
	a.account.Write(stage.Record{Event: skipped, Semaphore: job, Text: text})
}

// observe records a job's runs.
func (a *app) observe(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		p := client.PermitOf(ctx)
		watch := a.account.Hold(p, stage.Began, stage.Record{})
		err := run(ctx)
		a.account.Write(stage.Record{Event: returned, Semaphore: p.Semaphore(), Token: p.Token(), Text: errorText(err)})
		watch.Stop()
		return err
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
