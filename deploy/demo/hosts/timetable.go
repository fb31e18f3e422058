package hosts

import (
	"sort"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// fastSchedule is the real schedule at high speed. All hosts have the same schedule, so they agree on due runs without
// communicating.
type fastSchedule struct {
	// Epoch is the time on the shared clock at which the scenario begins.
	Epoch time.Duration
	// Start is the time in the schedule at which the scenario begins.
	Start time.Time
	// Hour is the real time that an hour of the schedule takes.
	Hour time.Duration
}

// firing is one due run of a job.
type firing struct {
	job    samples.Job
	due    time.Time // UTC, in schedule time
	weight uint32    // weight in the job's pool
}

// String returns the firing's unique name.
func (f firing) String() string { return f.job.Name + " at " + f.due.Format(time.RFC3339) }

// at converts a time in the schedule to the shared clock.
func (t fastSchedule) at(due time.Time) time.Duration {
	return t.Epoch + t.speedUp(due.Sub(t.Start))
}

// speedUp converts a duration in the schedule to real time.
func (t fastSchedule) speedUp(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(t.Hour) / float64(time.Hour))
}

// slowDown converts a duration in real time to schedule time.
func (t fastSchedule) slowDown(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(time.Hour) / float64(t.Hour))
}

// firings returns the firings due within length of the start, sorted by due time.
func (t fastSchedule) firings(jobs []samples.Job, length time.Duration) ([]firing, error) {
	end := t.Start.Add(t.slowDown(length))
	var all []firing
	for _, job := range jobs {
		weight, err := job.PoolWeight()
		if err != nil {
			return nil, err
		}
		schedule, err := job.Schedule()
		if err != nil {
			return nil, err
		}
		for due := schedule.Next(t.Start); !due.IsZero() && due.Before(end); due = schedule.Next(due) {
			all = append(all, firing{job, due, weight})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].due.Before(all[j].due) })
	return all, nil
}

// runTime returns how long a firing runs: 50 ms plus up to ten minutes of schedule time. The time differs between
// firings, but is the same on every host.
func (t fastSchedule) runTime(f firing) time.Duration {
	h := samples.Hash(f.String())
	return 50*time.Millisecond + time.Duration(h%uint64(t.speedUp(10*time.Minute)))
}
