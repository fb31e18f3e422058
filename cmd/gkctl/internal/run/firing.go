package run

import (
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

const (
	autoFiring = "auto"
	// autoEvery is what auto truncates to: cron's own step.
	autoEvery = time.Minute
	// cronFiringMark stands between a name and a schedule. Schedules may have an @ too, as in @daily.
	cronFiringMark = "@cron:"
)

// firingClaim is the firing of a run; without a name there is none.
type firingClaim struct {
	name string
	due  time.Time // zero: the name says it all
}

// runFiring reads --firing and --tz.
//
// auto is the start of gkctl, truncated in UTC and never rounded: a scheduler starts nothing before its time by its own clock,
// and by that clock the job is due at the same time on every host, however wrong it is. Truncation does not cover a start that is late by a
// whole step; cron: does.
func runFiring(s, zone, semaphore string, started time.Time) (firingClaim, error) {
	name, spec, isCron := strings.Cut(s, cronFiringMark)
	if !isCron {
		name, isCron = semaphore, strings.HasPrefix(s, cronFiringMark[1:])
		spec = strings.TrimPrefix(s, cronFiringMark[1:])
	}
	switch {
	case isCron && name == "":
		return firingClaim{}, ui.Usagef("firing %q has no name", s)
	case isCron:
		due, err := cronFiring(spec, zone, started)
		return firingClaim{name, due}, err
	case zone != "":
		return firingClaim{}, ui.Usagef("--tz goes with --firing cron:SCHEDULE only")
	case s == "":
		return firingClaim{}, nil
	}
	return plainFiring(s, semaphore, started)
}

// plainFiring reads a firing that is not a schedule.
func plainFiring(s, semaphore string, started time.Time) (firingClaim, error) {
	name, at := "", s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name, at = s[:i], s[i+1:]
	}
	word, step, stepped := strings.Cut(at, ":")
	if word != autoFiring {
		name, due, err := ui.ParseFiring(s)
		return firingClaim{name, due}, err
	}
	if name == "" {
		if strings.HasPrefix(s, "@") {
			return firingClaim{}, ui.Usagef("firing %q has no name", s)
		}
		name = semaphore
	}
	every := autoEvery
	if stepped {
		var err error
		if every, err = autoStep(s, step, started); err != nil {
			return firingClaim{}, err
		}
	}
	return firingClaim{name, started.UTC().Truncate(every)}, nil
}

// autoStep reads the step of auto:STEP and refuses one under which two runs could have one name.
func autoStep(s, step string, started time.Time) (time.Duration, error) {
	every, err := time.ParseDuration(step)
	if err != nil || every < time.Second || every%time.Second != 0 {
		return 0, ui.Usagef("firing %q: give a duration in whole seconds after auto:, as in auto:5m", s)
	}
	// Crontabs start over with each hour or day. Under a step that does not, two runs of one step could have one name.
	const day = 24 * time.Hour
	if day%every != 0 && every%day != 0 {
		return 0, ui.Usagef("firing %q: the step must divide the day, as 5m and 12h do, or be whole days: %s would begin at another time each day", s, step)
	}
	// Steps are counted in UTC. At 01:00 in Berlin, two nights of a spring fall into one day of UTC.
	if _, change := started.ZoneBounds(); every >= day && !change.IsZero() {
		return 0, ui.Usagef("firing %q: the clock of this host changes for daylight saving, and two runs could fall into one step of %s: "+
			"give the schedule instead, as in --firing cron:'30 2 * * *'", s, step)
	}
	return every, nil
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
