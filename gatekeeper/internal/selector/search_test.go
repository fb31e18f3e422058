package selector

import (
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestSearch_Matches(t *testing.T) {
	d := &semaphore.Definition{
		Name: "nightly-Export", Description: "Sends the Ledger to Zürich.", Labels: semaphore.LabelsOf(map[string]string{"team": "Data", "cron": "30 2 * * *"}),
	}
	for text, want := range map[string]bool{
		"": true, "  ": true, "export": true, "EXPORT night": true, "ledger": true, "ZÜRICH": true, "team=data": true, "data export": true,
		"cron=30": true, "export weekly": false, "team=ops": false, "exportt": false, ".*": false,
	} {
		s, err := ParseSearch("search", text)
		if err != nil || s.Match(d) != want {
			t.Errorf("search %q: got %v, %v, want %v", text, s.Match(d), err, want)
		}
	}
	for _, invalid := range []string{strings.Repeat("x", maxSearch+1), "\xff"} {
		if _, err := ParseSearch("search", invalid); err == nil {
			t.Errorf("ParseSearch(%q) succeeded, want an error", invalid)
		}
	}
}
