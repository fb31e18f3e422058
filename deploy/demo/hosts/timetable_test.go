package hosts

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// monday is when the schedules start. Jobs that run only on weekdays are due on that day.
var monday = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

func TestFirings_RealSchedule_AreSortedAndDistinct(t *testing.T) {
	jobs, err := samples.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	schedule := fastSchedule{Start: monday, Hour: 2 * time.Second}
	all, err := schedule.firings(jobs, 48*time.Second) // one day of the schedule
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		job string
		due time.Time
	}
	seen := map[key]bool{}
	groups := map[string]int{}
	for i, f := range all {
		if i > 0 && f.due.Before(all[i-1].due) {
			t.Fatalf("firing %s at %v is listed after %v", f.job.Name, f.due, all[i-1].due)
		}
		if !f.due.After(monday) || !f.due.Before(monday.AddDate(0, 0, 1)) {
			t.Errorf("firing %s at %v is not on the first day", f.job.Name, f.due)
		}
		if seen[key{f.job.Name, f.due}] {
			t.Errorf("%s is due twice at %v", f.job.Name, f.due)
		}
		seen[key{f.job.Name, f.due}] = true
		groups[f.job.Cluster]++
		if d := schedule.runTime(f); d < 50*time.Millisecond || d > 2*time.Second {
			t.Errorf("runTime(%s) = %v, want from 50 ms to 2 s", f.job.Name, d)
		}
	}
	if len(groups) != 7 {
		t.Errorf("got firings in groups %v, want all seven", groups)
	}
}

func TestFirings_Interval_IsDueOncePerInterval(t *testing.T) {
	schedule := fastSchedule{Start: monday, Hour: time.Second}
	all, err := schedule.firings([]samples.Job{{Name: "a", Cluster: "c", Interval: "30m"}}, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 19 || len(all) > 20 {
		t.Fatalf("got %d firings in 10h with an interval of 30m, want 19 or 20", len(all))
	}
	for i := 1; i < len(all); i++ {
		if got := all[i].due.Sub(all[i-1].due); got != 30*time.Minute {
			t.Errorf("got %v between two firings, want 30m", got)
		}
		if got := (schedule.at(all[i].due) - schedule.at(all[i-1].due)).Round(time.Microsecond); got != 500*time.Millisecond {
			t.Errorf("got %v of real time between two firings, want 500ms", got)
		}
	}
}

func TestFirings_InvalidSchedule_Fails(t *testing.T) {
	for _, job := range []samples.Job{{Name: "a", Cron: "every day"}, {Name: "a", Interval: "0s"}, {Name: "a"}} {
		if _, err := (fastSchedule{Start: monday, Hour: time.Second}).firings([]samples.Job{job}, time.Second); err == nil {
			t.Errorf("firings() of %+v succeeded, want an error", job)
		}
	}
}
