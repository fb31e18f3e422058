package gktest_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
)

func TestExport_ProductionDefinitionsAndFastClock_KeepsPermit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "definitions.yaml") // usually a file in the repository
	if err := os.WriteFile(file, []byte("definitions:\n  - name: nightly-export\n    duration: 30s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.DefineFile(t, file)
		app1 := srv.Dial(t, "app1", gktest.ClockRate(1.01)) // the maximum rate allowed
		start(t, client.Wrap(app1.Semaphore("nightly-export"), export))
		srv.Advance(t, 6*time.Hour)
		if holders := srv.Holders(t, "nightly-export"); len(holders) != 1 || holders[0].GetDuration().AsDuration() != 30*time.Second {
			t.Errorf("holders = %v, want one with a duration of 30 s", holders)
		}
	})
}
