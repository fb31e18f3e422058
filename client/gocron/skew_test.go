package gocron_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the machine may have no time zone data

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
)

// skewedNode is a node with one job and a clock that is off by skew.
type skewedNode struct {
	*node
	job      gocron.Job
	skew     time.Duration
	dueTimes chan time.Time // due times of the runs that have ended
}

// next returns the job's next due time on the node's clock, or the zero time if there is none.
func (n *skewedNode) next() time.Time {
	n.t.Helper()
	runs, err := n.job.NextRuns(2)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, at := range runs {
		if at.After(n.clock.Now()) {
			return at
		}
	}
	return time.Time{}
}

// This is a harder case of gocron issue 841: all clocks differ by more than the job's run time. Every firing must run
// exactly once.
func TestLocker_ThreeSkewedSchedulers_EachFiringRunsExactlyOnce(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		parsed, err := time.ParseInLocation(time.DateTime, text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	halfPastTwo := gocron.NewAtTimes(gocron.NewAtTime(2, 30, 0))
	singleton := gocron.WithSingletonMode(gocron.LimitModeWait)
	cases := map[string]struct {
		from time.Time
		d    gocron.JobDefinition
		opts []gocron.JobOption
		want []string // in UTC
	}{
		"every-second": {at("2026-03-01 12:00:00"), gocron.CronJob("* * * * * *", true), nil, []string{
			"2026-03-01 11:00:01", "2026-03-01 11:00:02", "2026-03-01 11:00:03", "2026-03-01 11:00:04", "2026-03-01 11:00:05", "2026-03-01 11:00:06"}},
		"singleton": {at("2026-03-01 12:00:00"), gocron.CronJob("* * * * * *", true), []gocron.JobOption{singleton}, []string{
			"2026-03-01 11:00:01", "2026-03-01 11:00:02", "2026-03-01 11:00:03", "2026-03-01 11:00:04", "2026-03-01 11:00:05", "2026-03-01 11:00:06"}},
		"duration": {at("2026-03-01 12:00:00"), gocron.DurationJob(time.Minute), nil, []string{
			"2026-03-01 11:00:00", "2026-03-01 11:01:00", "2026-03-01 11:02:00", "2026-03-01 11:03:00"}},
		"at-every": {at("2026-03-01 12:00:00"), gocron.CronJob("@every 1m", false), nil, []string{
			"2026-03-01 11:00:00", "2026-03-01 11:01:00", "2026-03-01 11:02:00", "2026-03-01 11:03:00"}},
		"cron-clocks-set-forward": {at("2026-03-27 12:00:00"), gocron.CronJob("30 2 * * *", false), nil, []string{
			"2026-03-28 01:30:00", "2026-03-30 00:30:00", "2026-03-31 00:30:00"}},
		"cron-clocks-set-back": {at("2026-10-24 12:00:00"), gocron.CronJob("30 2 * * *", false), nil, []string{
			"2026-10-25 00:30:00", "2026-10-26 01:30:00", "2026-10-27 01:30:00"}},
		"daily-clocks-set-forward": {at("2026-03-27 12:00:00"), gocron.DailyJob(1, halfPastTwo), nil, []string{
			"2026-03-28 01:30:00", "2026-03-29 01:30:00", "2026-03-30 00:30:00"}}, // 03:30 on the day without 02:30
		"daily-clocks-set-back": {at("2026-10-24 12:00:00"), gocron.DailyJob(1, halfPastTwo), nil, []string{
			"2026-10-25 01:30:00", "2026-10-26 01:30:00", "2026-10-27 01:30:00"}},
		"weekly": {at("2026-10-24 12:00:00"), gocron.WeeklyJob(1, gocron.NewWeekdays(time.Sunday), halfPastTwo), nil, []string{
			"2026-10-25 01:30:00", "2026-11-01 01:30:00"}},
		"monthly": {at("2026-01-30 12:00:00"), gocron.MonthlyJob(1, gocron.NewDaysOfTheMonth(-1), halfPastTwo), nil, []string{
			"2026-01-31 01:30:00", "2026-02-28 01:30:00", "2026-03-31 00:30:00"}},
		"one-time": {at("2026-03-01 12:00:00"), gocron.OneTimeJob(gocron.OneTimeJobStartDateTimes(at("2026-03-01 12:00:10"), at("2026-03-01 12:00:11"))), nil, []string{
			"2026-03-01 11:00:10", "2026-03-01 11:00:11"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				<-time.After(time.Until(at("2027-01-01 00:00:00"))) // the server refuses firings far ahead of its clock
				srv := gktest.Start(t, name)
				var nodes []*skewedNode
				for _, skew := range []time.Duration{-2 * time.Second, 0, 2 * time.Second} {
					n := &skewedNode{skew: skew, dueTimes: make(chan time.Time, 10)}
					finished := client.WithHooks(client.Hooks{Finished: func(_ context.Context, r client.Report) { n.dueTimes <- r.Due }})
					n.node = newNode(t, srv.Dial(t, "app"+skew.String()), c.from.Add(skew), gkgocron.WithJobOptions(finished))
					n.job = n.node.job(name, c.d, c.opts...)
					n.start()
					nodes = append(nodes, n)
				}
				ran := make(map[string]int)
				for range len(nodes) * (len(c.want) + 3) {
					// Wait until gocron has rescheduled the last run and dropped its due time. In singleton mode the
					// order of these two steps is not defined.
					synctest.Wait()
					// Advance the node whose next run comes first in real time.
					var first *skewedNode
					for _, n := range nodes {
						if next := n.next(); !next.IsZero() && (first == nil || next.Add(-n.skew).Before(first.next().Add(-first.skew))) {
							first = n
						}
					}
					if first == nil {
						break
					}
					first.clock.Advance(first.next().Sub(first.clock.Now()) + startDelay)
					select {
					case due := <-first.dueTimes:
						ran[due.Format(time.DateTime)]++
					case err := <-first.skipped:
						wantDenied(t, err, client.ReasonFiringDone)
					case <-time.After(testTimeout):
						t.Fatal("timed out waiting for a run or a skip")
					}
				}
				for due, times := range ran {
					if times != 1 {
						t.Errorf("the firing due at %s ran %d times, want 1", due, times)
					}
				}
				for _, due := range c.want {
					if ran[due] != 1 {
						t.Errorf("the firing due at %s ran %d times, want 1; all runs: %v", due, ran[due], ran)
					}
				}
			})
		})
	}
}
