package run

import (
	"strings"
	"time"
	_ "time/tzdata" // --tz means the same on a host without a time zone database

	"github.com/robfig/cron/v3"

	gkcron "github.com/gatekeeperd/gatekeeper/client/cron"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// cronFiring returns when a crontab schedule was due for a run that started at that time: at its latest activation that is not after
// the start. A start that is late, even by hours, has the same due time as one in time, as long as the next activation has not come.
//
// zone is an IANA name, or empty for that of started.
func cronFiring(spec, zone string, started time.Time) (time.Time, error) {
	const what = "firing cron:%s: "
	named := strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=")
	switch {
	case named && zone != "":
		return time.Time{}, ui.Usagef(what+"names a time zone already; leave out --tz", spec)
	case named && !strings.Contains(spec, " "): // the parser would panic
		return time.Time{}, ui.Usagef(what+"has no schedule after the time zone", spec)
	}
	parsed, err := cron.ParseStandard(spec)
	if err != nil {
		return time.Time{}, ui.Usagef(what+"%w", spec, err)
	}
	schedule, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return time.Time{}, ui.Usagef(what+"counts from when a program was started, which differs from host to host; use auto: with a step, as in auto:1h", spec)
	}
	if schedule.Location == time.Local {
		schedule.Location = started.Location()
	}
	if zone != "" {
		if schedule.Location, err = time.LoadLocation(zone); err != nil {
			return time.Time{}, ui.Usagef("--tz %q is not a time zone of the IANA database, as Europe/Berlin is", zone)
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

// skippedByClock returns when the clock jumped over an activation between after and now, for example over 02:30 on the day on which
// daylight saving begins; zero if it did not. Schedules leave such an activation out, but cron starts the job as soon as the
// clock has jumped. Without a name for that run, it would count as a repeat of the day before.
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
