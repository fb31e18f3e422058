package gocron

import (
	"testing"
	"time"
	_ "time/tzdata" // the machine may have no time zone data

	"github.com/go-co-op/gocron/v2"
)

func TestFiring_IsTheSameInAllSchedulers(t *testing.T) {
	crontab := func(tab string) gocron.JobSchedule { return gocron.CronJobSchedule{Crontab: tab} }
	berlin, newYork, lordHowe := "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
	never := "never"
	for name, c := range map[string]struct {
		s              gocron.JobSchedule
		zone, at, want string
	}{
		"duration: an interval in UTC":          {gocron.DurationJobSchedule{Duration: 5 * time.Minute}, berlin, "2026-03-01T11:07:31.5Z", "2026-03-01T11:05:00Z"},
		"random duration: its maximum":          {gocron.DurationRandomJobSchedule{Min: time.Minute, Max: time.Hour}, berlin, "2026-03-01T11:07:31.5Z", "2026-03-01T11:00:00Z"},
		"@every is an interval":                 {crontab("@every 5m"), berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:05:00Z"},
		"@every in a zone":                      {crontab("TZ=Asia/Tokyo @every 90s"), berlin, "2026-03-01T11:01:00Z", "2026-03-01T11:00:00Z"},
		"crontab":                               {crontab("7 * * * *"), berlin, "2026-03-01T11:07:00Z", "2026-03-01T11:07:00Z"},
		"crontab with seconds":                  {crontab("31 7 * * * *"), berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:07:31Z"},
		"custom crontab":                        {crontab("every full moon"), berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:07:31Z"},
		"crontab, started immediately":          {crontab("7 * * * *"), berlin, "2026-03-01T11:07:31.5Z", never},
		"daily, started immediately":            {gocron.DailyJobSchedule{Interval: 1}, berlin, "2026-03-01T11:07:31.5Z", never},
		"daily":                                 {gocron.DailyJobSchedule{Interval: 1}, berlin, "2026-03-01T11:07:31Z", "2026-03-01T11:07:31Z"},
		"one time":                              {gocron.OneTimeJobSchedule{StartAt: at(0, 1)}, berlin, "2026-03-01T12:01:00Z", "2026-03-01T12:01:00Z"},
		"one-time job, started immediately":     {gocron.OneTimeJobSchedule{}, berlin, "2026-03-01T12:01:00Z", never},
		"clocks set back, first of two":         {crontab("30 1 * * *"), newYork, "2026-11-01T05:30:00Z", "2026-11-01T05:30:00Z"},
		"clocks set back, second, daily":        {crontab("30 1 * * *"), newYork, "2026-11-01T06:30:00Z", "2026-11-01T05:30:00Z"},
		"clocks set back, second, hourly":       {crontab("30 * * * *"), newYork, "2026-11-01T06:30:00Z", "2026-11-01T05:30:00Z"},
		"clocks set back, second, every 15 min": {crontab("*/15 * * * *"), newYork, "2026-11-01T06:30:00Z", "2026-11-01T06:30:00Z"},
		"clocks set back, later":                {crontab("30 * * * *"), newYork, "2026-11-01T07:30:00Z", "2026-11-01T07:30:00Z"},
		"clocks set back in Berlin":             {crontab("30 2 * * *"), berlin, "2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z"},
		"clocks set back by half an hour":       {crontab("45 1 * * *"), lordHowe, "2026-04-04T15:15:00Z", "2026-04-04T14:45:00Z"},
		"clocks set forward":                    {crontab("30 3 * * *"), newYork, "2026-03-08T07:30:00Z", "2026-03-08T07:30:00Z"},
		"zone without clock changes":            {crontab("30 1 * * *"), "UTC", "2026-11-01T01:30:00Z", "2026-11-01T01:30:00Z"},
		"crontab with another zone":             {crontab("TZ=America/New_York 30 1 * * *"), "UTC", "2026-11-01T06:30:00Z", "2026-11-01T06:30:00Z"},
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
			t.Errorf("%s: firing() = %s, want %s", name, got, c.want)
		}
	}
}
