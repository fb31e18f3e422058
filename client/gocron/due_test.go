package gocron

import (
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
)

func TestDueOf_PicksTheLatestThatIsDue(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(offsets ...time.Duration) (all []time.Time) {
		for _, o := range offsets {
			all = append(all, now.Add(o))
		}
		return all
	}
	for name, c := range map[string]struct {
		runs []time.Time
		want time.Time
	}{
		"on time":                        {at(0, time.Minute), now},
		"a little late":                  {at(-time.Second, time.Minute), now.Add(-time.Second)},
		"behind":                         {at(-2*time.Minute, -time.Minute, time.Minute), now.Add(-time.Minute)},
		"unsorted":                       {at(-time.Minute, -2*time.Minute), now.Add(-time.Minute)},
		"the clock was set back":         {at(time.Second, 2*time.Second), now.Add(time.Second)},
		"run by hand":                    {at(time.Minute), time.Time{}},
		"never":                          {nil, time.Time{}},
		"the last run of a one-time job": {[]time.Time{now, {}}, now},
	} {
		if got := dueOf(c.runs, now); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestSlot_OfDurations_IsAMultipleInUTC(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 7, 31, 5, time.FixedZone("", 3600))
	for want, s := range map[string]gocron.JobSchedule{
		"11:05:00": gocron.DurationJobSchedule{Duration: 5 * time.Minute},
		"11:00:00": gocron.DurationRandomJobSchedule{Min: time.Minute, Max: time.Hour},
		"11:07:31": gocron.CronJobSchedule{Crontab: "7 * * * *"},
	} {
		if got := slot(s, at).UTC().Format(time.TimeOnly); got != want {
			t.Errorf("%T: %s, want %s", s, got, want)
		}
	}
}
