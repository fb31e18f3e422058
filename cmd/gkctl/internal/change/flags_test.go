package change

import (
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

func TestEnding_InvalidFlags_AreRejected(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for _, args := range [][]string{
		{"--for", "0"}, {"--for", "-1h"}, {"--for", "1h", "--until", "13:00"}, {"--until", "2026-03-28T12:00:00Z"}, {"--until", "never"},
	} {
		var f EndingFlags
		cmd := &cobra.Command{}
		f.Register(cmd, "x")
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		if e, err := f.Read(now); !ui.Is[*ui.UsageError](err) || e.Given() {
			t.Errorf("flags %v: got %v, want a usage error", args, err)
		}
	}
}
