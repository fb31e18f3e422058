package work

import (
	"context"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// scheduling: the timer runs.
	scheduling stage.Event = "scheduling"
	// lost: another Oddjob has claimed the firing Due, and this one is idle.
	lost stage.Event = "lost"
	// heard: the claim of the firing Due, which this Oddjob had lost, ended as Text.
	heard stage.Event = "heard"
	// open: the claim ended with the loss of its holder.
	open stage.Event = "open"
)

// oddjob is one Oddjob of the article. Each has the same timer, and does one thing at a time. It grabs for each firing that is due, and for one whose
// holder was lost. At SIGTERM its timer stops. Then it ends when the claims that it has lost have ended.
type oddjob struct {
	Name, Semaphore string
	Endpoints       []string
	Period, Takes   time.Duration

	account  stage.Account
	sem      *client.Semaphore
	due      time.Time // of the run under way
	watched  map[time.Time]bool
	watching sync.WaitGroup
	opened   chan time.Time
}

func (o *oddjob) run(ctx context.Context, account stage.Account) error {
	c, err := client.Dial(ctx, o.Endpoints, client.WithAcquirer(o.Name))
	if err != nil {
		return err
	}
	defer c.Close()
	o.account, o.sem = account, c.Semaphore(o.Semaphore)
	o.watched, o.opened = map[time.Time]bool{}, make(chan time.Time, 100)
	runner := client.NewRunner(o.sem, o.work, client.WithHooks(client.Hooks{Denied: o.lose}))
	lasting := context.WithoutCancel(ctx) // what has begun is finished
	grab := func(due time.Time) {
		o.due = due
		_ = runner.RunDue(lasting, due) // what came of it is written down
	}
	account.Write(stage.Record{Event: scheduling})
	for ctx.Err() == nil {
		due := time.Now().Truncate(o.Period).Add(o.Period)
		select {
		case <-time.After(time.Until(due)):
			grab(due)
		case due := <-o.opened:
			grab(due)
		case <-ctx.Done():
		}
	}
	settled := make(chan struct{})
	go func() {
		o.watching.Wait()
		close(settled)
	}()
	for {
		select {
		case due := <-o.opened:
			grab(due)
		case <-settled:
			return nil
		}
	}
}

// work is the job.
func (o *oddjob) work(ctx context.Context) error {
	watch := o.account.Hold(client.PermitOf(ctx), stage.Granted, stage.Record{Due: o.due})
	defer watch.Stop()
	select {
	case <-time.After(o.Takes):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lose has the end of the claim awaited that another Oddjob has won. It is the article's onLoosing.
func (o *oddjob) lose(ctx context.Context, d *client.DeniedError) {
	due := o.due
	o.account.Write(stage.Record{Event: lost, Due: due, Text: string(d.Reason)})
	if o.watched[due] {
		return
	}
	o.watched[due] = true
	o.watching.Go(func() {
		for claim, err := range o.sem.WatchFiring(ctx, o.Semaphore, due, 0) {
			switch {
			case err != nil:
				o.account.Write(stage.Record{Event: heard, Due: due, Text: err.Error()})
			case claim.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN:
				o.account.Write(stage.Record{Event: open, Due: due, Token: claim.GetToken()})
				o.opened <- due
			case claim.GetState() != gatekeeperv1.FiringState_FIRING_STATE_CLAIMED:
				o.account.Write(stage.Record{Event: heard, Due: due, Text: claim.GetState().String(), Token: claim.GetToken()})
			}
		}
	})
}
