package app

import (
	"fmt"
	"hash/fnv"
	"sort"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// Group is where the applications run: the build cluster with the most jobs, of which the timetable takes some.
const Group = "k8s-infra-prow-build"

// Job is a job of the sped-up timetable. Its name is the semaphore's.
type Job struct {
	Name string
	// Period is how often it is due.
	Period time.Duration
	// Cron is its line with seconds; empty for a job with an interval, which counts from the start of its scheduler.
	Cron string
	// Offset is where in the period a cron line comes up, counted from the Unix epoch.
	Offset time.Duration
	// Steps is how many writes a run makes.
	Steps int
}

// StepTime is how long a run works for each of its writes.
const StepTime = 150 * time.Millisecond

// Timetable takes n real jobs of the group, the same in every process: those with an interval keep one and those with a cron line
// keep one, sped up so that each is due every 5 to 10 seconds and runs for a third of that, or less.
func Timetable(n int) ([]Job, []samples.Job, error) {
	all, err := samples.Kubernetes()
	if err != nil {
		return nil, nil, err
	}
	var ours []samples.Job
	for _, job := range all {
		if job.Cluster == Group {
			ours = append(ours, job)
		}
	}
	if n < 1 || n > len(ours) {
		return nil, nil, fmt.Errorf("the timetable of %s has 1 to %d jobs, not %d", Group, len(ours), n)
	}
	var jobs []Job
	var real []samples.Job
	for i := range n {
		sample := ours[i*len(ours)/n]
		job, err := spedUp(sample)
		if err != nil {
			return nil, nil, err
		}
		jobs, real = append(jobs, job), append(real, sample)
	}
	return jobs, real, nil
}

// spedUp is the job with its interval, or that between the runs of its cron line, made short. Periods divide a minute, so that a cron line
// can say them.
func spedUp(sample samples.Job) (Job, error) {
	interval, err := intervalOf(sample)
	if err != nil {
		return Job{}, err
	}
	limits := []time.Duration{3 * time.Hour, 12 * time.Hour}
	periods := []time.Duration{5 * time.Second, 6 * time.Second, 10 * time.Second}
	period := periods[sort.Search(len(limits), func(i int) bool { return interval <= limits[i] })]

	h := fnv.New64a()
	_, _ = h.Write([]byte(sample.Name))
	number := h.Sum64()
	most := uint64(period / 3 / StepTime)
	job := Job{Name: sample.Name, Period: period, Steps: int(2 + number%(most-1))} //nolint:gosec // a handful
	if sample.Cron != "" {
		job.Offset = time.Duration(number%uint64(period/time.Second)) * time.Second //nolint:gosec // below a period
		job.Cron = fmt.Sprintf("%d-59/%d * * * * *", job.Offset/time.Second, period/time.Second)
	}
	return job, nil
}

func intervalOf(sample samples.Job) (time.Duration, error) {
	if sample.Cron == "" {
		return time.ParseDuration(sample.Interval)
	}
	line, err := cron.ParseStandard(sample.Cron)
	if err != nil {
		return 0, fmt.Errorf("job %s: cron line %q: %w", sample.Name, sample.Cron, err)
	}
	first := line.Next(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
	return line.Next(first).Sub(first), nil
}

// definition is the job as gocron takes it.
func (j Job) definition() gocron.JobDefinition {
	if j.Cron != "" {
		return gocron.CronJob(j.Cron, true)
	}
	return gocron.DurationJob(j.Period)
}

// Due are the job's firings that come up after from and whose period is over by until, by their due times as Gatekeeper knows them: a
// job with an interval is due once in each multiple of it.
func (j Job) Due(from, until time.Time) []time.Time {
	var due []time.Time
	for at := from.Truncate(j.Period).Add(j.Offset - j.Period); !at.Add(j.Period).After(until); at = at.Add(j.Period) {
		if at.After(from) {
			due = append(due, at.UTC())
		}
	}
	return due
}
