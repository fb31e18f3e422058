package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/robfig/cron/v3"
)

func TestSampleJobs_FiftyJobs_HaveShortPeriodsAndRuns(t *testing.T) {
	jobs, originals, err := sampleJobs(50)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	kinds := map[bool]int{}
	for i, j := range jobs {
		names[j.Name] = true
		kinds[j.Cron != ""]++
		if j.Name != originals[i].Name || originals[i].Cluster != group {
			t.Errorf("job %s was derived from the wrong job: %+v", j.Name, originals[i])
		}
		if j.Period < 5*time.Second || j.Period > 10*time.Second || j.Steps < 2 || time.Duration(j.Steps)*stepTime > j.Period/3+stepTime {
			t.Errorf("job %s is due every %v and makes %d writes, want a period of 5 s to 10 s, and at least 2 writes that take at most about a third of it", j.Name, j.Period, j.Steps)
		}
	}
	if len(names) != 50 || kinds[true] < 10 || kinds[false] < 10 {
		t.Errorf("got %d names, %d cron expressions and %d intervals; want 50 names and at least 10 of each kind", len(names), kinds[true], kinds[false])
	}
}

func TestSampleJobs_InvalidCount_Fails(t *testing.T) {
	for _, n := range []int{0, 100000} {
		if _, _, err := sampleJobs(n); err == nil || !strings.Contains(err.Error(), group) {
			t.Errorf("sampleJobs(%d) = %v, want an error that names the group", n, err)
		}
	}
}

// The due times that the report expects match the cron schedule.
func TestDue_CronJob_MatchesSchedule(t *testing.T) {
	jobs, _, err := sampleJobs(50)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 6, 1, 12, 0, 3, 7, time.UTC)
	until := from.Add(3 * time.Minute)
	for _, j := range jobs {
		if j.Cron == "" {
			continue
		}
		schedule, err := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(j.Cron)
		if err != nil {
			t.Fatal(err)
		}
		next := from
		for _, at := range j.due(from, until) {
			if next = schedule.Next(next); !next.Equal(at) {
				t.Fatalf("%s (%s): got due time %v, want %v", j.Name, j.Cron, at, next)
			}
		}
		if next.Before(until.Add(-2 * j.Period)) {
			t.Errorf("%s: got last due time %v, want one near the end of the window", j.Name, next)
		}
	}
}

func TestSkewedClock_TimersRunNormally(t *testing.T) {
	c := skewedClock{clockwork.NewRealClock(), -time.Hour}
	now := time.Now()
	if skew := c.Now().Sub(now); skew > -59*time.Minute || skew < -61*time.Minute {
		t.Errorf("Now() is off by %v, want -1h", skew)
	}
	if left := c.Until(now); left < 59*time.Minute {
		t.Errorf("Until() = %v, want an hour", left)
	}
	<-c.After(time.Millisecond)
}
