package gocron

import (
	"testing"
	"time"
	_ "time/tzdata" // the test needs zones, whatever the machine has

	"github.com/go-co-op/gocron/v2"
)

func TestFiring_IsOfAllSchedulers(t *testing.T) {
	crontab := func(tab string) gocron.JobSchedule { return gocron.CronJobSchedule{Crontab: tab} }
	berlin, newYork, lordHowe := "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
	never := "never"
	for name, c := range map[string]struct {
		s              gocron.JobSchedule
		zone, at, want string
	}{
		"a duration is an interval in UTC":      {gocron.DurationJobSchedule{Duration: 5 * time.Minute}, berlin, "2026-03-01T11:07:31.5Z", "2026-03-01T11:05:00Z"},
		"a random one by its longest":           {gocron.DurationRandomJobSchedule{Min: time.Minute, Max: time.Hour}, berlin, "2026-03-01T11:07:31.5Z", "2026-03-01T11:00:00Z"},
		"@every is an interval":                 {crontab("@every 5m"), berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:05:00Z"},
		"@every in a zone":                      {crontab("TZ=Asia/Tokyo @every 90s"), berlin, "2026-03-01T11:01:00Z", "2026-03-01T11:00:00Z"},
		"a crontab's":                           {crontab("7 * * * *"), berlin, "2026-03-01T11:07:00Z", "2026-03-01T11:07:00Z"},
		"with seconds":                          {crontab("31 7 * * * *"), berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:07:31Z"},
		"the user's own":                        {crontab("every full moon"), berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:07:31Z"},
		"one's own at once":                     {crontab("7 * * * *"), berlin, "2026-03-01T11:07:31.5Z", never},
		"a day's one's own at once":             {gocron.DailyJobSchedule{Interval: 1}, berlin, "2026-03-01T11:07:31.5Z", never},
		"a day's":                               {gocron.DailyJobSchedule{Interval: 1}, berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:07:31Z"},
		"one time's":                            {gocron.OneTimeJobSchedule{StartAt: at(0, 1)}, berlin, "2026-03-01T12:01:00Z", "2026-03-01T12:01:00Z"},
		"one time at once":                      {gocron.OneTimeJobSchedule{}, berlin, "2026-03-01T12:01:00Z", never},
		"put back, the first":                   {crontab("30 1 * * *"), newYork, "2026-11-01T05:30:00Z", "2026-11-01T05:30:00Z"},
		"put back, the second of daily":         {crontab("30 1 * * *"), newYork, "2026-11-01T06:30:00Z", "2026-11-01T05:30:00Z"},
		"put back, the second of hourly":        {crontab("30 * * * *"), newYork, "2026-11-01T06:30:00Z", "2026-11-01T05:30:00Z"},
		"put back, the second of quarters":      {crontab("*/15 * * * *"), newYork, "2026-11-01T06:30:00Z", "2026-11-01T06:30:00Z"},
		"put back, later":                       {crontab("30 * * * *"), newYork, "2026-11-01T07:30:00Z", "2026-11-01T07:30:00Z"},
		"put back in Berlin":                    {crontab("30 2 * * *"), berlin, "2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z"},
		"put back by half an hour":              {crontab("45 1 * * *"), lordHowe, "2026-04-04T15:15:00Z", "2026-04-04T14:45:00Z"},
		"put forward":                           {crontab("30 3 * * *"), newYork, "2026-03-08T07:30:00Z", "2026-03-08T07:30:00Z"},
		"zone without change":                   {crontab("30 1 * * *"), "UTC", "2026-11-01T01:30:00Z", "2026-11-01T01:30:00Z"},
		"crontab's zone is not the scheduler's": {crontab("TZ=America/New_York 30 1 * * *"), "UTC", "2026-11-01T06:30:00Z", "2026-11-01T06:30:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		due, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		got := never
		if f := firing(c.s, due.In(zone)); !f.IsZero() {
			got = f.UTC().Format(time.RFC3339Nano)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
