package main

import (
	"fmt"
	"hash/fnv"
	"sort"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	"github.com/robfig/cron/v3"
)

// timetable is the real one, sped up: an hour of it passes in the time that hour says. All hosts have the same, and agree on what is
// due when without asking each other.
type timetable struct {
	// epoch is the shared clock's reading at which the demo begins.
	epoch time.Duration
	// start is the moment of the timetable at which it begins.
	start time.Time
	// hour is how long an hour of the timetable takes.
	hour time.Duration
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
	return t.epoch + t.speedUp(due.Sub(t.start))
}

// speedUp is how long a stretch of the timetable takes.
func (t timetable) speedUp(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(t.hour) / float64(time.Hour))
}

// slowDown is how much of the timetable passes in d.
func (t timetable) slowDown(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(time.Hour) / float64(t.hour))
}

// firings are those of the jobs that fall due within length of the beginning, in the order of their due times.
func (t timetable) firings(jobs []samples.Job, length time.Duration) ([]firing, error) {
	end := t.start.Add(t.slowDown(length))
	var all []firing
	for _, job := range jobs {
		weight, err := job.PoolWeight()
		if err != nil {
			return nil, err
		}
		schedule, err := scheduleOf(job)
		if err != nil {
			return nil, err
		}
		for due := schedule.Next(t.start); !due.IsZero() && due.Before(end); due = schedule.Next(due) {
			all = append(all, firing{job, due, weight})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].due.Before(all[j].due) })
	return all, nil
}

// running is how long a firing runs: a different part of the job's interval each time, the same on every host.
func (t timetable) running(f firing) time.Duration {
	h := hash(f.String())
	return 50*time.Millisecond + time.Duration(h%uint64(t.speedUp(10*time.Minute)))
}

// every is the schedule of a job with an interval. Where in the interval it begins comes from its name: were all to begin at midnight,
// everything would be due at once.
type every struct {
	interval, offset time.Duration
}

// Next returns the first due time after t.
func (e every) Next(t time.Time) time.Time {
	return t.Add(-e.offset).Truncate(e.interval).Add(e.interval + e.offset)
}

func scheduleOf(job samples.Job) (cron.Schedule, error) {
	if job.Cron != "" {
		schedule, err := cron.ParseStandard(job.Cron)
		if err != nil {
			return nil, fmt.Errorf("job %s: cron line %q: %w", job.Name, job.Cron, err)
		}
		return schedule, nil
	}
	interval, err := time.ParseDuration(job.Interval)
	if err != nil || interval <= 0 {
		return nil, fmt.Errorf("job %s: interval %q is no duration above zero", job.Name, job.Interval)
	}
	return every{interval, time.Duration(hash(job.Name) % uint64(interval)).Truncate(time.Minute)}, nil
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}
