package work

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
)

var bin string

// TestMain is also the main function of workers and submitters, which are instances of the test binary.
func TestMain(m *testing.M) { os.Exit(demotest.Main(m, &bin, Part, Process)) }

// play runs a scenario with the given flags, and checks that its report has the given rows.
func play(t *testing.T, scenario interface {
	Flags(*flag.FlagSet)
	Play(context.Context) error
}, s *stage.Stage, rows []string, args ...string) {
	t.Helper()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	scenario.Flags(flags)
	if err := flags.Parse(append(args, "-bin", bin, "-profile", "fast", "-dir", t.TempDir())); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s.Out = &out
	if err := scenario.Play(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range append(rows, "overlaps", "violations") {
		if !strings.Contains(out.String(), "\n"+row+" ") {
			t.Errorf("the report has no row %q:\n%s", row, &out)
		}
	}
	t.Log(&out)
}

func TestJGroups_WorkerKilledDuringLongTask_TaskIsTakenOver(t *testing.T) {
	var s JGroups
	play(t, &s, &s.Stage, []string{"taken over", "spread", "results", "executions"}, "-duration", "2s", "-long", "3s")
}

func TestOddjob_ThreeWorkers_OneIdlePerRound(t *testing.T) {
	var s Oddjob
	play(t, &s, &s.Stage, []string{"rounds", "always idle"}, "-duration", "2s", "-every", "3s", "-rounds", "3")
}

func TestWords_WorkersLeaderAndSubmitterKilled_CountIsCorrect(t *testing.T) {
	var s Words
	play(t, &s, &s.Stage, []string{"job", "taken over", "results", "executions"}, "-duration", "3s", "-tasks", "600", "-workers", "3")
}
