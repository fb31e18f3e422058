package ui

import (
	"testing"
	"time"
)

func TestParseFiring_NameAndTime_AreParsed(t *testing.T) {
	t.Parallel()
	name, due, err := ParseFiring("mail@home@2026-01-31T03:00:00+01:00")
	if err != nil || name != "mail@home" || !due.Equal(time.Date(2026, 1, 31, 2, 0, 0, 0, time.UTC)) {
		t.Errorf("ParseFiring() = %q, %s, %v, want mail@home and 02:00 UTC", name, due, err)
	}
	for _, bad := range []string{"", "@2026-01-31T02:00:00Z", "x@soon"} {
		if _, _, err := ParseFiring(bad); !Is[*UsageError](err) {
			t.Errorf("ParseFiring(%q): got %v, want a usage error", bad, err)
		}
	}
}

func TestParseTime_TimeOfDay_IsNextOrLastOccurrence(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 3, 28, 12, 0, 0, 0, berlin) // the next day has 23 hours
	for _, c := range []struct {
		text string
		to   direction
		want string
	}{
		{"13:30", Future, "2026-03-28T13:30:00+01:00"},
		{"12:00", Future, "2026-03-29T12:00:00+02:00"},
		{"03:12", Future, "2026-03-29T03:12:00+02:00"},
		{"03:12", Past, "2026-03-28T03:12:00+01:00"},
		{"12:00", Past, "2026-03-28T12:00:00+01:00"},
		{"23:59:59", Past, "2026-03-27T23:59:59+01:00"},
		{"10m", Past, "2026-03-28T11:50:00+01:00"},
		{"2026-01-31T02:00:00Z", Future, "2026-01-31T02:00:00Z"},
		{"2026-07-01 02:00", Future, "2026-07-01T02:00:00+02:00"},
		{"2026-07-01", Past, "2026-07-01T00:00:00+02:00"},
	} {
		got, err := ParseTime("--x", c.text, noon, c.to)
		if err != nil || got.Format(time.RFC3339) != c.want {
			t.Errorf("ParseTime(%q) = %s, %v, want %s", c.text, got.Format(time.RFC3339), err, c.want)
		}
	}
	for text, to := range map[string]direction{"": Future, "soon": Past, "25:00": Future, "2h": Future, "-2h": Past} {
		if got, err := ParseTime("--x", text, noon, to); !Is[*UsageError](err) {
			t.Errorf("ParseTime(%q) = %s, %v, want a usage error", text, got, err)
		}
	}
}
