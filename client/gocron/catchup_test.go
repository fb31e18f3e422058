package gocron_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gkgocron "github.com/gatekeeperd/gatekeeper/client/gocron"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestCatchUp_AllSchedulersDown_RunsEachMissedFiringOnce(t *testing.T) {
	for name, c := range map[string]struct {
		d    gocron.JobDefinition
		want []string // nil if the job's past due times are unknown
	}{
		"cron":     {gocron.CronJob("0 * * * *", false), []string{"01:00", "02:00", "03:00"}},
		"every":    {gocron.CronJob("@every 1h", false), []string{"01:00", "02:00", "03:00"}},
		"duration": {gocron.DurationJob(time.Hour), []string{"01:00", "02:00", "03:00"}},
		"daily":    {gocron.DailyJob(1, gocron.NewAtTimes(gocron.NewAtTime(2, 30, 0))), nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t)
				srv.Define(t, &gatekeeperv1.Definition{
					Name: "hourly", Misfire: gatekeeperv1.Misfire_MISFIRE_EACH, MisfireWindow: durationpb.New(12 * time.Hour),
				})
				srv.Advance(t, time.Until(time.Now().Truncate(24*time.Hour).Add(3*time.Hour+30*time.Minute))) // bubbles start at midnight
				var ran []string
				for _, host := range []string{"app1", "app2"} {
					locker := gkgocron.NewLocker(srv.Dial(t, host))
					s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker), gocron.WithLocation(time.UTC))
					if err != nil {
						t.Fatal(err)
					}
					locker.Follow(s)
					task := func(ctx context.Context) error {
						_, due := client.PermitOf(ctx).Firing()
						ran = append(ran, due.Format("15:04"))
						return nil
					}
					job, err := s.NewJob(c.d, locker.Task(task), gocron.WithName("hourly"))
					if err != nil {
						t.Fatal(err)
					}
					s.Start()
					if err := locker.CatchUp(t.Context(), job, task); (err == nil) != (c.want != nil) {
						t.Errorf("CatchUp = %v, want an error only if the past due times are unknown", err)
					}
					if err := s.Shutdown(); err != nil {
						t.Error(err)
					}
				}
				if !slices.Equal(ran, c.want) {
					t.Errorf("the job ran for due times %v, want %v", ran, c.want)
				}
			})
		})
	}
}
