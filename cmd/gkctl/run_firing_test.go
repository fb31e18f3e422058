package main

import (
	"testing"
	"time"
)

func TestRunFiring_Auto_IsTheStartTruncatedInUTC(t *testing.T) {
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
		got, err := runFiring(c.flag, "job", at(c.started))
		if err != nil || got.String() != c.want {
			t.Errorf("--firing %s started at %s: %s, %v; want %s", c.flag, c.started, got, err, c.want)
		}
	}
	for _, flag := range []string{"@auto", "auto:", "auto:x", "auto:500ms", "auto:-1h", "auto:1500ms", "auto:7m", "auto:25h", "name@tomorrow"} {
		if got, err := runFiring(flag, "job", at("2026-06-01T02:00:00Z")); !is[*usageError](err) {
			t.Errorf("--firing %s: %s, %v; want a usage error", flag, got, err)
		}
	}
}
