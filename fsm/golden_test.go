package fsm_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
)

// Golden files must never change once a version that writes them has been released. New formats are added as new files.
var golden = flag.Bool("golden", false, "write missing golden files")

func goldenFile(t *testing.T, name string, build func() []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) && *golden {
		b = build()
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return b
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGolden_Entry_IsUnchanged(t *testing.T) {
	for name, tc := range map[string]struct {
		level    uint32
		commands []fsm.Command
	}{
		"every-command.entry":   {1, level1Commands()},
		"every-command-2.entry": {2, level2Commands()},
		"cut-short.entry":       {2, cutShortCommands()},
		"undo.entry":            {2, undoCommands()},
		"requests.entry":        {3, requestCommands()},
		"journal.entry":         {3, journalCommands()},
		"firings.entry":         {3, futureFiringCommands()},
		"forgetting.entry":      {3, forgetFiringsCommands()},
		"supersede.entry":       {3, supersedeCommands()},
		"keptpauses.entry":      {3, keptPauseCommands()},
		"expectedpauses.entry":  {3, expectedPauseCommands()},
		"runs.entry":            {4, runCommands()},
		"work.entry":            {4, workCommands()},
		"access.entry":          {4, accessCommands()},
	} {
		file := goldenFile(t, name, func() []byte {
			b, err := fsm.Encode(tc.level, tc.commands)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		got, err := fsm.Decode(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		equal(t, name, got, tc.commands)
		reencoded, err := fsm.Encode(tc.level, got)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(file, reencoded) {
			t.Fatalf("%s: re-encoded entry differs from the golden file", name)
		}
	}
}

func TestGolden_Snapshot_IsUnchanged(t *testing.T) {
	for name, scenario := range map[string]func() *fsm.State{
		"empty.snapshot":           func() *fsm.State { return newLog(t).state() },
		"every-command.snapshot":   func() *fsm.State { return level1Scenario(t).state() },
		"every-command-2.snapshot": func() *fsm.State { return everyCommandScenario(t).state() },
		"cut-short.snapshot":       func() *fsm.State { return cutShortScenario(t).state() },
		"undo.snapshot":            func() *fsm.State { return undoScenario(t).state() },
		"firings.snapshot":         func() *fsm.State { return futureFiringScenario(t).state() },
		"requests.snapshot":        func() *fsm.State { return requestScenario(t).state() },
		"journal.snapshot":         func() *fsm.State { return journalScenario(t).state() },
		"forgetting.snapshot":      func() *fsm.State { return forgetFiringsScenario(t).state() },
		"supersede.snapshot":       func() *fsm.State { return supersedeScenario(t).state() },
		"runs.snapshot":            func() *fsm.State { return runScenario(t).state() },
		"work.snapshot":            func() *fsm.State { return workScenario(t).state() },
		"access.snapshot":          func() *fsm.State { return accessScenario(t).state() },
		"recovered.snapshot":       func() *fsm.State { return recovered(t, everyCommandScenario(t).state(), recovery()) },
	} {
		file := goldenFile(t, name, func() []byte { return snapshot(t, scenario()) })
		m := fsm.New("")
		if err := m.Restore(bytes.NewReader(file)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(file, snapshot(t, m.State())) {
			t.Fatalf("%s: snapshot of the restored state differs from the golden file", name)
		}
		if hash(t, m.State()) != hash(t, scenario()) {
			t.Fatalf("%s: state after the scenario differs from the golden file", name)
		}
	}
}

// Together, the golden snapshots must contain every kind of record.
func TestGolden_Snapshots_HaveEveryRecordKind(t *testing.T) {
	kinds := (&logv1.Record{}).ProtoReflect().Descriptor().Oneofs().ByName("kind")
	found := map[protoreflect.Name]bool{}
	for _, scenario := range []*log{everyCommandScenario(t), workScenario(t), accessScenario(t)} {
		for _, r := range readRecords(t, snapshot(t, scenario.state())) {
			found[r.ProtoReflect().WhichOneof(kinds).Name()] = true
		}
	}
	for i := range kinds.Fields().Len() {
		if name := kinds.Fields().Get(i).Name(); !found[name] {
			t.Errorf("no golden snapshot has a record of kind %s", name)
		}
	}
}
