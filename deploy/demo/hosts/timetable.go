package hosts

import (
	"sort"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// timetable is the real one, sped up. All hosts have the same, and agree on what is due when without asking each other.
type timetable struct {
	// Epoch is the shared clock's reading at which the story begins.
	Epoch time.Duration
	// Start is the moment of the timetable at which it begins.
	Start time.Time
	// Hour is how long an hour of the timetable takes.
	Hour time.Duration
}

// firing is one due run of a job.
type firing struct {
	job    samples.Job
	due    time.Time // in the timetable, UTC
	weight uint32    // in the job's pool
}

// String names the firing: no other has this name.
func (f firing) String() string { return f.job.Name + " at " + f.due.Format(time.RFC3339) }

// at is the shared clock's reading at which a moment of the timetable comes.
func (t timetable) at(due time.Time) time.Duration {
	return t.Epoch + t.speedUp(due.Sub(t.Start))
}

// speedUp is how long a stretch of the timetable takes.
func (t timetable) speedUp(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(t.Hour) / float64(time.Hour))
}

// slowDown is how much of the timetable passes in d.
func (t timetable) slowDown(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(time.Hour) / float64(t.Hour))
}

// firings are those of the jobs that fall due within length of the beginning, in the order of their due times.
func (t timetable) firings(jobs []samples.Job, length time.Duration) ([]firing, error) {
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

// running is how long a firing runs: a different part of the job's interval each time, the same on every host.
func (t timetable) running(f firing) time.Duration {
	h := samples.Hash(f.String())
	return 50*time.Millisecond + time.Duration(h%uint64(t.speedUp(10*time.Minute)))
}
