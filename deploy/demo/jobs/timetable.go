package jobs

import (
	"fmt"
	"sort"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// group is where the applications run: the build cluster with the most jobs, of which the timetable takes some.
const group = "k8s-infra-prow-build"

// job is a job of the sped-up timetable. Its name is the semaphore's.
type job struct {
	Name string
	// Period is how often it is due.
	Period time.Duration
	// Cron is its line with seconds; empty for a job with an interval, which counts from the start of its scheduler.
	Cron string
	// Offset is where in the period a cron line comes up, counted from the Unix epoch.
	Offset time.Duration
	// Steps is how many writes a run makes.
	Steps int
	// free: a firing whose permit is lost may be run again. Otherwise it is spent.
	free bool
}

// stepTime is how long a run works for each of its writes.
const stepTime = 150 * time.Millisecond

// timetableOf takes n real jobs of the group, the same in every process. A job with an interval keeps one and a job
// with a cron line keeps one, sped up so that each is due every 5 to 10 seconds and runs for a third of that, or less.
func timetableOf(n int) ([]job, []samples.Job, error) {
	ours, err := samples.Of(group)
	if err != nil {
		return nil, nil, err
	}
	if n < 1 || n > len(ours) {
		return nil, nil, fmt.Errorf("the timetable of %s has 1 to %d jobs, not %d", group, len(ours), n)
	}
	var jobs []job
	var real []samples.Job
	for i := range n {
		sample := ours[i*len(ours)/n]
		j, err := spedUp(sample)
		if err != nil {
			return nil, nil, err
		}
		jobs, real = append(jobs, j), append(real, sample)
	}
	return jobs, real, nil
}

// spedUp is the job with its interval, or that between the runs of its cron line, made short. Periods divide a minute,
// so that a cron line can say them.
func spedUp(sample samples.Job) (job, error) {
	schedule, err := sample.Schedule()
	if err != nil {
		return job{}, err
	}
	first := schedule.Next(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	interval := schedule.Next(first).Sub(first)
	limits := []time.Duration{3 * time.Hour, 12 * time.Hour}
	periods := []time.Duration{5 * time.Second, 6 * time.Second, 10 * time.Second}
	period := periods[sort.Search(len(limits), func(i int) bool { return interval <= limits[i] })]

	number := samples.Hash(sample.Name)
	most := uint64(period / 3 / stepTime)
	j := job{Name: sample.Name, Period: period, Steps: int(2 + number%(most-1))}
	if sample.Cron != "" {
		j.Offset = time.Duration(number%uint64(period/time.Second)) * time.Second
		j.Cron = fmt.Sprintf("%d-59/%d * * * * *", j.Offset/time.Second, period/time.Second)
	}
	return j, nil
}

// definition is the job as gocron takes it.
func (j job) definition() gocron.JobDefinition {
	if j.Cron != "" {
		return gocron.CronJob(j.Cron, true)
	}
	return gocron.DurationJob(j.Period)
}

// due are the job's firings that come up after from and whose period is over by until, by their due times as Gatekeeper
// knows them: a job with an interval is due once in each multiple of it.
func (j job) due(from, until time.Time) []time.Time {
	var times []time.Time
	for at := from.Truncate(j.Period).Add(j.Offset - j.Period); !at.Add(j.Period).After(until); at = at.Add(j.Period) {
		if at.After(from) {
			times = append(times, at.UTC())
		}
	}
	return times
}
