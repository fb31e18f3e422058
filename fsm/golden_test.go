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

// Golden files were written by released servers and never change. A new format gets additional files.
var golden = flag.Bool("golden", false, "write missing golden files")

func goldenFile(t *testing.T, name string, make func() []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) && *golden {
		b = make()
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
	for name, of := range map[string]struct {
		level    uint32
		commands []fsm.Command
	}{
		"every-command.entry":   {1, commandsOfLevel1()},
		"every-command-2.entry": {2, commandsOfLevel2()},
		"cut-short.entry":       {2, commandsOfCutShort()},
		"undo.entry":            {2, commandsOfUndo()},
		"requests.entry":        {3, commandsOfRequests()},
		"journal.entry":         {3, commandsOfJournal()},
		"firings.entry":         {3, commandsOfFirings()},
		"forgetting.entry":      {3, commandsOfForgetting()},
		"supersede.entry":       {3, commandsOfSupersede()},
		"keptpauses.entry":      {3, commandsOfKeptPauses()},
		"expectedpauses.entry":  {3, commandsOfExpectedPauses()},
		"runs.entry":            {4, commandsOfRuns()},
		"work.entry":            {4, commandsOfWork()},
		"access.entry":          {4, commandsOfAccess()},
	} {
		file := goldenFile(t, name, func() []byte {
			b, err := fsm.Encode(of.level, of.commands)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		got, err := fsm.Decode(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		equal(t, name, got, of.commands)
		again, err := fsm.Encode(of.level, got)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(file, again) {
			t.Fatalf("%s: encoding the same commands produces bytes that differ from the golden file", name)
		}
	}
}

func TestGolden_Snapshot_IsUnchanged(t *testing.T) {
	for name, story := range map[string]func() *fsm.State{
		"empty.snapshot":           func() *fsm.State { return newLog(t).state() },
		"every-command.snapshot":   func() *fsm.State { return storyOfLevel1(t).state() },
		"every-command-2.snapshot": func() *fsm.State { return storyOfEveryCommand(t).state() },
		"cut-short.snapshot":       func() *fsm.State { return storyOfCutShort(t).state() },
		"undo.snapshot":            func() *fsm.State { return storyOfUndo(t).state() },
		"firings.snapshot":         func() *fsm.State { return storyOfFirings(t).state() },
		"requests.snapshot":        func() *fsm.State { return storyOfRequests(t).state() },
		"journal.snapshot":         func() *fsm.State { return storyOfJournal(t).state() },
		"forgetting.snapshot":      func() *fsm.State { return storyOfForgetting(t).state() },
		"supersede.snapshot":       func() *fsm.State { return storyOfSupersede(t).state() },
		"runs.snapshot":            func() *fsm.State { return storyOfRuns(t).state() },
		"work.snapshot":            func() *fsm.State { return storyOfWork(t).state() },
		"access.snapshot":          func() *fsm.State { return storyOfAccess(t).state() },
		"recovered.snapshot":       func() *fsm.State { return recovered(t, storyOfEveryCommand(t).state(), recovery()) },
	} {
		file := goldenFile(t, name, func() []byte { return snapshot(t, story()) })
		m := fsm.New("")
		if err := m.Restore(bytes.NewReader(file)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(file, snapshot(t, m.State())) {
			t.Fatalf("%s: a snapshot of the same state differs from the golden file", name)
		}
		if hash(t, m.State()) != hash(t, story()) {
			t.Fatalf("%s: the same commands produce a state that differs from the golden file", name)
		}
	}
}

// The golden snapshots must contain every kind of record to be useful.
func TestGolden_Snapshot_HasEveryKindOfRecord(t *testing.T) {
	kinds := (&logv1.Record{}).ProtoReflect().Descriptor().Oneofs().ByName("kind")
	found := map[protoreflect.Name]bool{}
	for _, story := range []*log{storyOfEveryCommand(t), storyOfWork(t), storyOfAccess(t)} {
		for _, r := range readRecords(t, snapshot(t, story.state())) {
			found[r.ProtoReflect().WhichOneof(kinds).Name()] = true
		}
	}
	for i := range kinds.Fields().Len() {
		if name := kinds.Fields().Get(i).Name(); !found[name] {
			t.Errorf("no golden snapshot has a record of kind %s", name)
		}
	}
}
