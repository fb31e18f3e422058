package samples

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule returns the job's schedule. For a job without a cron expression, the offset within its interval depends on
// its name, so that not all jobs are due at midnight.
func (j Job) Schedule() (cron.Schedule, error) {
	if j.Cron != "" {
		schedule, err := cron.ParseStandard(j.Cron)
		if err != nil {
			return nil, fmt.Errorf("job %s: cron expression %q: %w", j.Name, j.Cron, err)
		}
		return schedule, nil
	}
	interval, err := duration(j.Name, "interval", j.Interval)
	if err == nil && interval == 0 {
		err = fmt.Errorf("job %s has neither an interval nor a cron expression", j.Name)
	}
	if err != nil {
		return nil, err
	}
	return every{interval, time.Duration(Hash(j.Name) % uint64(interval)).Truncate(time.Minute)}, nil
}

type every struct{ interval, offset time.Duration }

// Next returns the first due time after t.
func (e every) Next(t time.Time) time.Time {
	return t.Add(-e.offset).Truncate(e.interval).Add(e.interval + e.offset)
}

// Hash returns a number that depends only on the name and is the same in every process.
func Hash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}
