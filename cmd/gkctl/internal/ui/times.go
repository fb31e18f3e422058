package ui

import "time"

// direction is where a time of day lies.
type direction int

const (
	Ahead direction = iota
	Back
)

// ParseTime reads an instant: RFC 3339; a local date and time; a local time of day, the next one or the last one; and, looking
// back, a duration: so long ago.
func ParseTime(flag, s string, now time.Time, to direction) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		// Days are counted by the calendar: some have 23 hours, some 25.
		on := func(day int) time.Time {
			return time.Date(now.Year(), now.Month(), day, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		}
		today := on(now.Day())
		switch {
		case to == Ahead && !today.After(now):
			return on(now.Day() + 1), nil
		case to == Back && today.After(now):
			return on(now.Day() - 1), nil
		}
		return today, nil
	}
	if d, err := time.ParseDuration(s); err == nil && to == Back {
		if d < 0 {
			return time.Time{}, Usagef("%s %s must not be below 0: it is how long ago", flag, s)
		}
		return now.Add(-d), nil
	}
	if to == Back {
		return time.Time{}, Usagef("%s %q is no time: give 2026-01-31T02:00:00Z, 02:00 for the last such time here, or 10m for so long ago", flag, s)
	}
	return time.Time{}, Usagef("%s %q is no time: give 2026-01-31T02:00:00Z, or 02:00 for the next such time here", flag, s)
}
