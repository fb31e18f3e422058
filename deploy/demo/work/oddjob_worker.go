package work

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// scheduling means that the timer is running.
	scheduling stage.Event = "scheduling"
	// lost means that another Oddjob has claimed the firing Due, so this one is idle.
	lost stage.Event = "lost"
	// notified means that this Oddjob was notified that the firing Due, which it had lost, is now in the state Text.
	notified stage.Event = "notified"
)

// oddjob is one of the Oddjobs in the article. All of them have the same timer, and each does one job at a time. An
// Oddjob tries to claim each due firing and any firing whose holder was lost. SIGTERM stops its timer. The process
// exits when all claims that it lost to other Oddjobs have ended.
type oddjob struct {
	Name, Semaphore string
	Endpoints       []string
	Period, Takes   time.Duration

	account  stage.Account
	sem      *client.Semaphore
	due      time.Time // due time of the current run
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
	runner := client.NewRunner(o.sem, o.work, client.WithHooks(client.Hooks{Denied: o.recordIdle}))
	runCtx := context.WithoutCancel(ctx) // finish the current run
	grab := func(due time.Time) {
		o.due = due
		_ = runner.RunDue(runCtx, due) // the outcome is recorded elsewhere
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

// work simulates a run of the job.
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

// recordIdle records a firing that was lost to another Oddjob and watches it until that claim ends. It corresponds to
// the article's onLoosing.
func (o *oddjob) recordIdle(ctx context.Context, d *client.DeniedError) {
	due := o.due
	o.account.Write(stage.Record{Event: lost, Due: due, Text: string(d.Reason)})
	if d.Reason != client.ReasonFiringClaimed || o.watched[due] {
		return
	}
	o.watched[due] = true
	o.watching.Go(func() {
		for claim, err := range o.sem.WatchFiring(ctx, o.Semaphore, due, 0) {
			if err != nil {
				o.account.Write(stage.Record{Event: notified, Due: due, Text: err.Error()})
				return
			}
			state := claim.GetState()
			if state == gatekeeperv1.FiringState_FIRING_STATE_CLAIMED {
				continue
			}
			o.account.Write(stage.Record{Event: notified, Due: due, Text: stateName(state), Token: claim.GetToken()})
			if state == gatekeeperv1.FiringState_FIRING_STATE_OPEN {
				o.opened <- due
			}
		}
	})
}

func stateName(s gatekeeperv1.FiringState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "FIRING_STATE_"))
}
