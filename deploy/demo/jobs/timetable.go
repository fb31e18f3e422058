package jobs

import (
	"fmt"
	"sort"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// group is the applications' group, named after the build cluster with the most jobs. The schedule uses some of those
// jobs.
const group = "k8s-infra-prow-build"

// job is a job in the schedule. Its name is also the name of its semaphore.
type job struct {
	Name string
	// Period is the interval between its due times.
	Period time.Duration
	// Cron is its cron expression, including seconds. It is empty for a job with an interval, which starts when the
	// scheduler starts.
	Cron string
	// Offset is how far into each period a cron job is due. Periods are counted from the Unix epoch.
	Offset time.Duration
	// Steps is the number of writes in a run.
	Steps int
	// free means that a firing may run again if its permit is lost. Otherwise, the firing is spent.
	free bool
}

// stepTime is how long a run works before each of its writes.
const stepTime = 150 * time.Millisecond

// sampleJobs returns n of the group's real jobs, the same in every process. Intervals and cron expressions are sped up
// so that each job is due every 5 to 10 seconds and runs for at most a third of that.
func sampleJobs(n int) ([]job, []samples.Job, error) {
	groupJobs, err := samples.InCluster(group)
	if err != nil {
		return nil, nil, err
	}
	if n < 1 || n > len(groupJobs) {
		return nil, nil, fmt.Errorf("the schedule for %s can have 1 to %d jobs, not %d", group, len(groupJobs), n)
	}
	var jobs []job
	var originals []samples.Job
	for i := range n {
		sample := groupJobs[i*len(groupJobs)/n]
		j, err := speedUp(sample)
		if err != nil {
			return nil, nil, err
		}
		jobs, originals = append(jobs, j), append(originals, sample)
	}
	return jobs, originals, nil
}

// speedUp returns the job with a short interval, or with a short period between the runs of its cron expression.
// Periods divide a minute evenly, so that cron can express them.
func speedUp(sample samples.Job) (job, error) {
	schedule, err := sample.Schedule()
	if err != nil {
		return job{}, err
	}
	first := schedule.Next(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	interval := schedule.Next(first).Sub(first)
	limits := []time.Duration{3 * time.Hour, 12 * time.Hour}
	periods := []time.Duration{5 * time.Second, 6 * time.Second, 10 * time.Second}
	period := periods[sort.Search(len(limits), func(i int) bool { return interval <= limits[i] })]

	hash := samples.Hash(sample.Name)
	maxSteps := uint64(period / 3 / stepTime)
	j := job{Name: sample.Name, Period: period, Steps: int(2 + hash%(maxSteps-1))}
	if sample.Cron != "" {
		j.Offset = time.Duration(hash%uint64(period/time.Second)) * time.Second
		j.Cron = fmt.Sprintf("%d-59/%d * * * * *", j.Offset/time.Second, period/time.Second)
	}
	return j, nil
}

// definition returns the job's definition for gocron.
func (j job) definition() gocron.JobDefinition {
	if j.Cron != "" {
		return gocron.CronJob(j.Cron, true)
	}
	return gocron.DurationJob(j.Period)
}

// due returns the due times, as Gatekeeper computes them, that are later than from and whose periods end by until. A
// job with an interval is due at each multiple of the interval.
func (j job) due(from, until time.Time) []time.Time {
	var times []time.Time
	for at := from.Truncate(j.Period).Add(j.Offset - j.Period); !at.Add(j.Period).After(until); at = at.Add(j.Period) {
		if at.After(from) {
			times = append(times, at.UTC())
		}
	}
	return times
}
