package main

import (
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

const (
	autoFiring = "auto"
	// autoEvery is what auto truncates to: cron's own step.
	autoEvery = time.Minute
)

// firingClaim is the firing of a run; without a name there is none.
type firingClaim struct {
	name string
	due  time.Time // zero: the name says it all
}

// runFiring reads --firing. The time of auto is that at which gkctl was started, truncated in UTC and never rounded: a scheduler starts
// nothing before its time by its own clock, and on every host that clock says the same time when the job is due, however
// wrong it is. What truncation does not cover is a start that is late by a whole step.
func runFiring(s, semaphore string, started time.Time) (firingClaim, error) {
	if s == "" {
		return firingClaim{}, nil
	}
	name, at := "", s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name, at = s[:i], s[i+1:]
	}
	word, step, stepped := strings.Cut(at, ":")
	if word != autoFiring {
		name, due, err := parseFiring(s)
		return firingClaim{name, due}, err
	}
	if name == "" {
		if strings.HasPrefix(s, "@") {
			return firingClaim{}, usagef("firing %q has no name", s)
		}
		name = semaphore
	}
	every := autoEvery
	if stepped {
		var err error
		if every, err = time.ParseDuration(step); err != nil || every < time.Second || every%time.Second != 0 {
			return firingClaim{}, usagef("firing %q: after auto: stands a duration in whole seconds, as in auto:5m", s)
		}
		// Crontabs begin anew with each hour or day: by steps that do not, two runs of one step would have one name.
		if day := 24 * time.Hour; day%every != 0 && every%day != 0 {
			return firingClaim{}, usagef("firing %q: the step must divide the day, as 5m, 12h and 24h do, or be whole days: %s would begin at another time each day", s, step)
		}
	}
	return firingClaim{name, started.UTC().Truncate(every)}, nil
}

func (f firingClaim) String() string {
	if f.due.IsZero() {
		return f.name
	}
	return f.name + "@" + f.due.Format(time.RFC3339)
}

// options has the firing claimed with the permit.
func (f firingClaim) options() []client.AcquireOption {
	if f.name == "" {
		return nil
	}
	return []client.AcquireOption{client.WithFiring(f.name, f.due)}
}
