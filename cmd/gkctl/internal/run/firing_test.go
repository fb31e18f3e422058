package run

import (
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

func TestRunFiring_Auto_TruncatesStartTimeInUTC(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("", 2*60*60)
	at := func(text string) time.Time {
		t.Helper()
		started, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return started.In(east)
	}
	for _, c := range []struct{ flag, started, want string }{
		{"auto", "2026-06-01T02:00:00.01Z", "job@2026-06-01T02:00:00Z"},
		{"auto", "2026-06-01T02:00:59.99Z", "job@2026-06-01T02:00:00Z"}, // truncated, not rounded
		{"auto", "2026-06-01T02:01:00Z", "job@2026-06-01T02:01:00Z"},
		{"auto:5m", "2026-06-01T02:04:59Z", "job@2026-06-01T02:00:00Z"},
		{"auto:12h", "2026-06-01T23:00:00Z", "job@2026-06-01T12:00:00Z"},
		{"auto:48h", "2026-06-02T23:00:00Z", "job@2026-06-02T00:00:00Z"},
		{"other@auto:1h", "2026-06-01T02:59:00Z", "other@2026-06-01T02:00:00Z"},
		{"nightly@2026-06-01T04:00:00+02:00", "2026-06-01T02:59:00Z", "nightly@2026-06-01T02:00:00Z"},
		{"once", "2026-06-01T02:59:00Z", "once"},
	} {
		got, err := runFiring(c.flag, "", "job", at(c.started))
		if err != nil || got.String() != c.want {
			t.Errorf("--firing %s, started at %s: got %s, %v; want %s", c.flag, c.started, got, err, c.want)
		}
	}
	for _, flag := range []string{"@auto", "auto:", "auto:x", "auto:500ms", "auto:-1h", "auto:1500ms", "auto:7m", "auto:25h", "name@tomorrow"} {
		if got, err := runFiring(flag, "", "job", at("2026-06-01T02:00:00Z")); !ui.Is[*ui.UsageError](err) {
			t.Errorf("--firing %s: got %s, %v; want a usage error", flag, got, err)
		}
	}
}

// The due time depends only on the schedule, not on when a host starts within the interval.
func TestRunFiring_Cron_UsesLatestDueTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, zone, started, want string }{
		{"cron:30 2 * * *", "Europe/Berlin", "2026-06-01T02:30:00+02:00", "job@2026-06-01T00:30:00Z"},
		{"cron:30 2 * * *", "Europe/Berlin", "2026-06-01T02:29:59.9+02:00", "job@2026-05-31T00:30:00Z"}, // not yet due
		{"cron:30 2 * * *", "Europe/Berlin", "2026-06-01T14:12:00+02:00", "job@2026-06-01T00:30:00Z"},   // RandomizedDelaySec=12h
		{"cron:CRON_TZ=Europe/Berlin 30 2 * * *", "", "2026-06-01T02:30:00+02:00", "job@2026-06-01T00:30:00Z"},
		{"cron:30 2 * * *", "", "2026-06-01T02:30:00+02:00", "job@2026-06-01T00:30:00Z"}, // the host's zone
		{"cron:@daily", "UTC", "2026-06-01T23:59:59Z", "job@2026-06-01T00:00:00Z"},
		{"early@cron:@daily", "UTC", "2026-06-01T23:59:59Z", "early@2026-06-01T00:00:00Z"},
		{"cron:*/7 * * * *", "UTC", "2026-06-01T12:59:00Z", "job@2026-06-01T12:56:00Z"},
		{"cron:*/7 * * * *", "UTC", "2026-06-01T13:00:00Z", "job@2026-06-01T13:00:00Z"},
		{"cron:2/17 * * * *", "UTC", "2026-06-01T12:36:30Z", "job@2026-06-01T12:36:00Z"},
		{"cron:20,50 * * * *", "UTC", "2026-06-01T13:10:00Z", "job@2026-06-01T12:50:00Z"},
		{"cron:0 3 * * 1", "UTC", "2026-06-07T12:00:00Z", "job@2026-06-01T03:00:00Z"},
		{"cron:0 3 1 * *", "UTC", "2026-06-30T12:00:00Z", "job@2026-06-01T03:00:00Z"},
		{"cron:0 0 29 2 *", "UTC", "2026-06-01T00:00:00Z", "job@2024-02-29T00:00:00Z"},

		// On 29 March 2026 the time from 02:00 to 03:00 does not exist in Berlin. cron starts the jobs due in that
		// hour at 03:00.
		{"cron:30 2 * * *", "Europe/Berlin", "2026-03-29T03:00:01+02:00", "job@2026-03-29T01:00:00Z"},
		{"cron:30 2 * * *", "Europe/Berlin", "2026-03-29T20:00:00+02:00", "job@2026-03-29T01:00:00Z"},
		{"cron:30 2 * * *", "Europe/Berlin", "2026-03-30T02:30:00+02:00", "job@2026-03-30T00:30:00Z"},
		{"cron:0 2 * * *", "Europe/Berlin", "2026-03-29T03:00:01+02:00", "job@2026-03-29T01:00:00Z"},
		{"cron:0 3 * * *", "Europe/Berlin", "2026-03-29T03:00:01+02:00", "job@2026-03-29T01:00:00Z"},
		{"cron:0 1 * * *", "Europe/Berlin", "2026-03-29T03:00:01+02:00", "job@2026-03-29T00:00:00Z"},
		{"cron:0 1 * * *", "Europe/Berlin", "2026-03-30T01:00:00+02:00", "job@2026-03-29T23:00:00Z"}, // second due time on the same UTC day
		// On 25 October 02:30 occurs twice. These are two due times, as for jobs scheduled by the Go client.
		{"cron:30 2 * * *", "Europe/Berlin", "2026-10-25T02:30:00+02:00", "job@2026-10-25T00:30:00Z"},
		{"cron:30 2 * * *", "Europe/Berlin", "2026-10-25T02:30:00+01:00", "job@2026-10-25T01:30:00Z"},
	} {
		started, err := time.Parse(time.RFC3339Nano, c.started)
		if err != nil {
			t.Fatal(err)
		}
		got, err := runFiring(c.flag, c.zone, "job", started)
		if err != nil || got.String() != c.want {
			t.Errorf("--firing %q --tz %q, started at %s: got %s, %v; want %s", c.flag, c.zone, c.started, got, err, c.want)
		}
	}
}

func TestRunFiring_InvalidFlags_AreRejected(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	started := time.Date(2026, 6, 1, 2, 30, 0, 0, berlin)
	for _, c := range []struct{ flag, zone, want string }{
		{"cron:30 2 * *", "", "expected exactly 5 fields"},
		{"cron:", "", "cron:: "},
		{"@cron:@daily", "", "has no name"},
		{"cron:@every 1h", "", "counts from the start of a program"},
		{"cron:0 0 30 2 *", "", "was not due in the last five years"},
		{"cron:TZ=Europe/Berlin", "", "has no schedule after the time zone"},
		{"cron:TZ=Europe/Berlin 30 2 * * *", "UTC", "omit --tz"},
		{"cron:30 2 * * *", "Berlin", `--tz "Berlin" is not an IANA time zone`},
		{"auto:5m", "Europe/Berlin", "--tz needs"},
		{"auto:24h", "", "use a schedule instead"},
		{"auto:48h", "", "use a schedule instead"},
	} {
		if got, err := runFiring(c.flag, c.zone, "job", started); !ui.Is[*ui.UsageError](err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--firing %q --tz %q: got %s, %v; want a usage error containing %q", c.flag, c.zone, got, err, c.want)
		}
	}
}
