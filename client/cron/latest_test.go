package cron

import (
	"testing"
	"time"
	_ "time/tzdata" // the machine may have no time zone data

	"github.com/robfig/cron/v3"
)

func TestLatest_ReturnsTheActivationBeforeNow(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ spec, now, want string }{
		{"30 2 * * *", "2026-03-01T02:30:00+01:00", "2026-03-01T01:30:00Z"},
		{"30 2 * * *", "2026-03-01T02:29:59+01:00", "2026-02-28T01:30:00Z"},
		{"*/5 * * * *", "2026-03-01T12:04:59+01:00", "2026-03-01T11:00:00Z"},
		{"0 0 29 2 *", "2026-03-01T12:00:00+01:00", "2024-02-28T23:00:00Z"},
		{"0 0 30 2 *", "2026-03-01T12:00:00+01:00", "0001-01-01T00:00:00Z"}, // never
		{"30 2 * * *", "2026-03-29T12:00:00+02:00", "2026-03-28T01:30:00Z"}, // 02:30 does not exist on the 29th
		{"30 4 * * *", "2026-03-29T12:00:00+02:00", "2026-03-29T02:30:00Z"},
		{"@every 5m", "2026-03-01T12:07:31+01:00", "2026-03-01T11:05:00Z"},
	} {
		s, err := cron.ParseStandard(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := Latest(s, now.In(berlin)).Format(time.RFC3339); got != c.want {
			t.Errorf("Latest(%s) at %s = %s, want %s", c.spec, c.now, got, c.want)
		}
	}
}

func TestDue_Every_RoundsDownToTheIntervalInUTC(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 7, 31, 0, time.FixedZone("", 3600))
	if got := due(cron.Every(5*time.Minute), at).Format(time.RFC3339); got != "2026-03-01T11:05:00Z" {
		t.Errorf("due(%s) = %s, want 2026-03-01T11:05:00Z", at, got)
	}
	if got := due(cron.Every(5*time.Minute), time.Time{}); !got.IsZero() {
		t.Errorf("due(zero time) = %s, want the zero time", got)
	}
}
