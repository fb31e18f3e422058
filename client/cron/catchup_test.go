package cron_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// No host is up for the first three hours after the definition is created. Then two hosts start, and one of them
// restarts.
func TestCatchUp_AllHostsDown_RunsMissedFirings(t *testing.T) {
	for name, c := range map[string]struct {
		misfire gatekeeperv1.Misfire
		spec    string
		want    []string
	}{
		"skip":  {gatekeeperv1.Misfire_MISFIRE_SKIP, "0 * * * *", nil},
		"once":  {gatekeeperv1.Misfire_MISFIRE_ONCE, "0 * * * *", []string{"03:00"}},
		"each":  {gatekeeperv1.Misfire_MISFIRE_EACH, "0 * * * *", []string{"01:00", "02:00", "03:00"}},
		"every": {gatekeeperv1.Misfire_MISFIRE_EACH, "@every 1h", []string{"01:00", "02:00", "03:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t)
				def := &gatekeeperv1.Definition{Name: "hourly", Misfire: c.misfire}
				if c.misfire != gatekeeperv1.Misfire_MISFIRE_SKIP {
					def.MisfireWindow = durationpb.New(12 * time.Hour)
				}
				srv.Define(t, def)
				srv.Advance(t, time.Until(time.Now().Truncate(24*time.Hour).Add(3*time.Hour+30*time.Minute))) // bubbles start at midnight
				var ran []string
				for _, host := range []string{"app1", "app2", "app1"} {
					runner := client.NewRunner(srv.Dial(t, host).Semaphore("hourly"), func(ctx context.Context) error {
						_, due := client.PermitOf(ctx).Firing()
						ran = append(ran, due.Format("15:04"))
						return errors.New("a failure must not affect other firings")
					})
					scheduler := cron.New(cron.WithLocation(time.UTC))
					id, err := gkcron.Add(t.Context(), scheduler, c.spec, runner)
					if err != nil {
						t.Fatal(err)
					}
					before := len(ran)
					if err := gkcron.CatchUp(t.Context(), scheduler, id, runner); (err != nil) != (len(ran) > before) {
						t.Errorf("CatchUp on %s = %v, want an error only if something ran; ran %v", host, err, ran)
					}
				}
				if !slices.Equal(ran, c.want) {
					t.Errorf("the job ran for due times %v, want %v", ran, c.want)
				}
			})
		})
	}
}

// Firings that were due under an earlier policy do not count as missed.
func TestCatchUp_PolicyChanged_DoesNotRunEarlierFirings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t, "hourly")
		var ran []string
		runner := client.NewRunner(srv.Dial(t, "app1").Semaphore("hourly"), func(ctx context.Context) error {
			_, due := client.PermitOf(ctx).Firing()
			ran = append(ran, due.Format("15:04"))
			return nil
		})
		schedule, err := cron.ParseStandard("CRON_TZ=UTC 0 * * * *")
		if err != nil {
			t.Fatal(err)
		}
		advanceTo := func(hour int) {
			srv.Advance(t, time.Until(time.Now().Truncate(24*time.Hour).Add(time.Duration(hour)*time.Hour+30*time.Minute)))
		}
		setPolicy := func(m gatekeeperv1.Misfire, description string) {
			srv.Edit(t, "hourly", func(d *gatekeeperv1.Definition) {
				d.Misfire, d.MisfireWindow, d.Description = m, durationpb.New(12*time.Hour), description
			})
		}
		wantRuns := func(want ...string) {
			t.Helper()
			if ran = nil; runner.CatchUp(t.Context(), schedule.Next) != nil || !slices.Equal(ran, want) {
				t.Errorf("the job ran for due times %v, want %v", ran, want)
			}
		}
		advanceTo(2) // bubbles start at midnight
		setPolicy(gatekeeperv1.Misfire_MISFIRE_EACH, "")
		wantRuns()
		advanceTo(4)
		setPolicy(gatekeeperv1.Misfire_MISFIRE_EACH, "an unrelated edit")
		wantRuns("03:00", "04:00")
		advanceTo(6)
		setPolicy(gatekeeperv1.Misfire_MISFIRE_ONCE, "")
		wantRuns()
		advanceTo(8)
		wantRuns("08:00")
		wantRuns()
	})
}

// suspender is a logger that simulates a suspended process. It blocks the scheduler once, when the first activation
// starts.
type suspender struct {
	once sync.Once
	time time.Duration
}

func (s *suspender) Info(message string, _ ...any) {
	if message == "run" {
		s.once.Do(func() { time.Sleep(s.time) }) //nolint:forbidigo // virtual time
	}
}

func (s *suspender) Error(error, string, ...any) {}

// The process is suspended from 01:00 to 03:30. cron sets its next one-hour timer after that, so it wakes up at 04:30,
// runs the 02:00 activation late and skips the others.
func TestAdd_ProcessSuspended_CatchesUpPerPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		misfire gatekeeperv1.Misfire
		want    []string
	}{
		"skip": {gatekeeperv1.Misfire_MISFIRE_SKIP, []string{"01:00", "02:00", "05:00"}},
		"once": {gatekeeperv1.Misfire_MISFIRE_ONCE, []string{"01:00", "02:00", "04:00", "05:00"}},
		"each": {gatekeeperv1.Misfire_MISFIRE_EACH, []string{"01:00", "02:00", "03:00", "04:00", "05:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t)
				def := &gatekeeperv1.Definition{Name: "hourly", Misfire: c.misfire}
				if c.misfire != gatekeeperv1.Misfire_MISFIRE_SKIP {
					def.MisfireWindow = durationpb.New(12 * time.Hour)
				}
				srv.Define(t, def)
				var ran []string
				runner := client.NewRunner(srv.Dial(t, "app1").Semaphore("hourly"), func(ctx context.Context) error {
					_, due := client.PermitOf(ctx).Firing()
					ran = append(ran, due.Format("15:04"))
					return nil
				})
				scheduler := cron.New(cron.WithLocation(time.UTC), cron.WithLogger(&suspender{time: 2*time.Hour + 30*time.Minute}))
				if _, err := gkcron.Add(t.Context(), scheduler, "0 * * * *", runner); err != nil {
					t.Fatal(err)
				}
				start(t, scheduler)
				srv.Advance(t, time.Until(time.Now().Truncate(24*time.Hour).Add(5*time.Hour+time.Minute))) // bubbles start at midnight
				if !slices.Equal(ran, c.want) {
					t.Errorf("the job ran for due times %v, want %v", ran, c.want)
				}
			})
		})
	}
}

func TestCatchUp_UnknownEntry_DoesNothing(t *testing.T) {
	if err := gkcron.CatchUp(t.Context(), cron.New(), 7, nil); err != nil {
		t.Errorf("CatchUp = %v, want nil", err)
	}
}
