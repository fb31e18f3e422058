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

// Golden files are what released servers wrote. They are never changed: a new format gets new files beside the old ones.
var golden = flag.Bool("golden", false, "write the golden files that are missing")

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

func TestGolden_Entry_IsReadAndWrittenAsEver(t *testing.T) {
	want := everyCommand()
	file := goldenFile(t, "every-command.entry", func() []byte {
		b, err := fsm.Encode(1, want)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	got, err := fsm.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "commands", got, want[:len(got)])
	again, err := fsm.Encode(1, got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, again) {
		t.Fatal("the same commands have other bytes than ever")
	}
}

func TestGolden_Snapshot_IsReadAndWrittenAsEver(t *testing.T) {
	for name, story := range map[string]func() *log{
		"empty.snapshot":         func() *log { return newLog(t) },
		"every-command.snapshot": func() *log { return storyOfEveryCommand(t) },
	} {
		file := goldenFile(t, name, func() []byte { return snapshot(t, story().state()) })
		m := fsm.New(clusterID)
		if err := m.Restore(bytes.NewReader(file)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(file, snapshot(t, m.State())) {
			t.Fatalf("%s: the same state has other bytes than ever", name)
		}
		if hash(t, m.State()) != hash(t, story().state()) {
			t.Fatalf("%s: the same commands lead to another state than ever", name)
		}
	}
}

// The golden snapshot is worth something only if every kind of record is in it.
func TestGolden_Snapshot_HasEveryKindOfRecord(t *testing.T) {
	kinds := (&logv1.Record{}).ProtoReflect().Descriptor().Oneofs().ByName("kind")
	found := map[protoreflect.Name]bool{}
	for _, r := range readRecords(t, snapshot(t, storyOfEveryCommand(t).state())) {
		found[r.ProtoReflect().WhichOneof(kinds).Name()] = true
	}
	for i := range kinds.Fields().Len() {
		if name := kinds.Fields().Get(i).Name(); !found[name] {
			t.Errorf("there is no %s in it", name)
		}
	}
}
