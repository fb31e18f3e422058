package run

import (
	"strings"
	"time"
	_ "time/tzdata" // so that --tz works on hosts without a time zone database

	"github.com/robfig/cron/v3"

	"github.com/gatekeeperd/gatekeeper/client"
	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

const (
	autoFiring = "auto"
	// autoEvery is the default step for auto: cron's resolution.
	autoEvery = time.Minute
	// cronFiringSeparator separates a name from a schedule. The schedule may also contain an @, as in @daily.
	cronFiringSeparator = "@cron:"
)

// firingClaim is the firing that a run claims. An empty name means no firing.
type firingClaim struct {
	name string
	due  time.Time // if zero, the firing consists of the name alone
	// fromClock reports whether due was derived from the clock. Hosts with the same schedule then claim the same
	// firing, and only one gets it.
	fromClock bool
}

// runFiring parses --firing and --tz.
//
// auto is gkctl's start time in UTC, always rounded down. A scheduler never starts a job early by its own clock, and by
// that clock the job is due at the same time on every host, even if the clock is wrong. Rounding down does not help if
// a start is late by a whole step; use cron: for such jobs.
func runFiring(s, zone, semaphore string, started time.Time) (firingClaim, error) {
	name, spec, isCron := strings.Cut(s, cronFiringSeparator)
	if !isCron {
		name, isCron = semaphore, strings.HasPrefix(s, cronFiringSeparator[1:])
		spec = strings.TrimPrefix(s, cronFiringSeparator[1:])
	}
	switch {
	case isCron && name == "":
		return firingClaim{}, ui.Usagef("firing %q has no name", s)
	case isCron:
		due, err := cronFiring(spec, zone, started)
		return firingClaim{name: name, due: due, fromClock: true}, err
	case zone != "":
		return firingClaim{}, ui.Usagef("--tz needs --firing cron:SCHEDULE")
	case s == "":
		return firingClaim{}, nil
	}
	return plainFiring(s, semaphore, started)
}

// plainFiring parses a firing without a schedule.
func plainFiring(s, semaphore string, started time.Time) (firingClaim, error) {
	name, at := "", s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name, at = s[:i], s[i+1:]
	}
	word, step, hasStep := strings.Cut(at, ":")
	if word != autoFiring {
		name, due, err := ui.ParseFiring(s)
		return firingClaim{name: name, due: due}, err
	}
	if name == "" {
		if strings.HasPrefix(s, "@") {
			return firingClaim{}, ui.Usagef("firing %q has no name", s)
		}
		name = semaphore
	}
	every := autoEvery
	if hasStep {
		var err error
		if every, err = autoStep(s, step, started); err != nil {
			return firingClaim{}, err
		}
	}
	return firingClaim{name: name, due: started.UTC().Truncate(every), fromClock: true}, nil
}

// autoStep parses the step of auto:STEP. It rejects a step that could give two runs the same name.
func autoStep(s, step string, started time.Time) (time.Duration, error) {
	every, err := time.ParseDuration(step)
	if err != nil || every < time.Second || every%time.Second != 0 {
		return 0, ui.Usagef("firing %q: auto: takes a duration in whole seconds, as in auto:5m", s)
	}
	// Crontabs start over each hour or day. With a step that does not, two runs could fall within the same step.
	const day = 24 * time.Hour
	if day%every != 0 && every%day != 0 {
		return 0, ui.Usagef("firing %q: the step must divide a day evenly, as 5m and 12h do, or be a whole number of days: %s would start at a different time each day", s, step)
	}
	// Steps are counted in UTC. In Berlin, 01:00 on two consecutive nights in spring falls on the same UTC day.
	if _, change := started.ZoneBounds(); every >= day && !change.IsZero() {
		return 0, ui.Usagef("firing %q: this host's clock changes for daylight saving time, so two runs could fall within the same step of %s: "+
			"use a schedule instead, as in --firing cron:'30 2 * * *'", s, step)
	}
	return every, nil
}

func (f firingClaim) String() string {
	if f.due.IsZero() {
		return f.name
	}
	return f.name + "@" + f.due.Format(time.RFC3339)
}

// options returns the client options that claim the firing together with the permit.
func (f firingClaim) options() []client.AcquireOption {
	if f.name == "" {
		return nil
	}
	return []client.AcquireOption{client.WithFiring(f.name, f.due)}
}

// cronFiring returns the due time of a crontab schedule for a run that started at the given time: the latest activation
// that is not after the start. A run that starts late, even by hours, has the same due time as a punctual one, until
// the next activation.
//
// zone is an IANA time zone. If it is empty, the zone of started is used.
func cronFiring(spec, zone string, started time.Time) (time.Time, error) {
	const what = "firing cron:%s: "
	named := strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=")
	switch {
	case named && zone != "":
		return time.Time{}, ui.Usagef(what+"already contains a time zone; omit --tz", spec)
	case named && !strings.Contains(spec, " "): // the parser would panic
		return time.Time{}, ui.Usagef(what+"has no schedule after the time zone", spec)
	}
	parsed, err := cron.ParseStandard(spec)
	if err != nil {
		return time.Time{}, ui.Usagef(what+"%w", spec, err)
	}
	schedule, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return time.Time{}, ui.Usagef(what+"counts from the start of a program, which differs from host to host; use auto: with a step, as in auto:1h", spec)
	}
	if schedule.Location == time.Local {
		schedule.Location = started.Location()
	}
	if zone != "" {
		if schedule.Location, err = time.LoadLocation(zone); err != nil {
			return time.Time{}, ui.Usagef("--tz %q is not an IANA time zone, such as Europe/Berlin", zone)
		}
	}
	due := gkcron.Latest(schedule, started)
	if due.IsZero() {
		return time.Time{}, ui.Usagef(what+"was not due in the last five years", spec)
	}
	if at := skippedByClock(schedule, due, started); !at.IsZero() {
		due = at
	}
	return due.UTC(), nil
}

// skippedByClock returns the time at which the clock skipped an activation between after and now, for example 02:30 on
// the day when daylight saving time begins. It returns the zero time if none was skipped. Schedules omit that
// activation, but cron starts the job right after the jump. Without a separate due time, that run would count as a
// repeat of the previous day's run.
func skippedByClock(s *cron.SpecSchedule, after, now time.Time) time.Time {
	for t := now.In(s.Location); ; {
		jump, _ := t.ZoneBounds()
		if jump.IsZero() || !jump.After(after) {
			return time.Time{}
		}
		t = jump.Add(-time.Second)
		_, before := t.Zone()
		_, since := jump.Zone()
		if gap := time.Duration(since-before) * time.Second; gap > 0 {
			unchanged := *s
			unchanged.Location = time.FixedZone("", before)
			if at := unchanged.Next(t); !at.IsZero() && at.Before(jump.Add(gap)) {
				return jump
			}
		}
	}
}
