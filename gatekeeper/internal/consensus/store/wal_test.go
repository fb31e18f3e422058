package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	vfs "github.com/hashicorp/raft-wal/fs"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// testConfig returns a Config with small segments, so that tests create many of them.
func testConfig() wal.Config {
	return wal.Config{Files: vfs.New(), SegmentSize: 8 << 10, Logger: hclog.NewNullLogger()}
}

// image is the content of all files in a directory.
type image map[string][]byte

func readImage(tb testing.TB, dir string) image {
	tb.Helper()
	files := make(image)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name] = mustRead(tb, path)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// write writes the image to a new directory.
func (i image) write(tb testing.TB) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	if err := os.Mkdir(filepath.Join(dir, wal.Dir), 0o700); err != nil {
		tb.Fatal(err)
	}
	for name, content := range i {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// newFilledWALDir is like newFilledDir, but the log is a WAL with several segments.
func newFilledWALDir(tb testing.TB, entries int) (dir string) {
	tb.Helper()
	return newFilledDirWithKind(tb, KindWAL, entries, 10)
}

// readWAL opens the directory with openReader and reads all entries.
func readWAL(dir string, offline bool) (entries []raft.Log, err error) {
	o, err := openReader(dir, offline)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	return readEntries(o.log)
}

// segments returns the names of an image's segments, oldest first.
func (i image) segments() (names []string) {
	for name := range i {
		if strings.HasSuffix(name, ".wal") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fixture is a data directory with its original content. Tests change one file at a time.
type fixture struct {
	dir      string
	original image
	want     []raft.Log
}

// newFixture returns a filled directory with its content.
func newFixture(t *testing.T, entries int) fixture {
	t.Helper()
	dir := newFilledWALDir(t, entries)
	want, err := readWAL(dir, false)
	if err != nil || len(want) != entries-7 {
		t.Fatalf("got %d entries, error %v, want %d", len(want), err, entries-7)
	}
	return fixture{dir, readImage(t, dir), want}
}

// detects replaces the content of a file with data and opens the directory, once as recover does and once as a server
// does. It reports whether damage was detected, and restores the file. Any result other than ErrDamaged or the same
// entries fails the test.
func (f fixture) detects(t *testing.T, what, file string, data []byte) (detected bool) {
	t.Helper()
	path := filepath.Join(f.dir, file)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, offline := range []bool{true, false} {
		got, err := readWAL(f.dir, offline)
		if err == nil && !reflect.DeepEqual(got, f.want) {
			t.Errorf("%s, %s: the file was accepted with different contents: %d entries", file, what, len(got))
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s, %s: got error %v, want %v", file, what, err, ErrDamaged)
		}
		if !offline && detected != (err != nil) {
			t.Errorf("%s, %s: a server and recover returned different results: %v", file, what, err)
		}
		detected = err != nil
	}
	if err := os.WriteFile(path, f.original[file], 0o600); err != nil {
		t.Fatal(err)
	}
	return detected
}

// dataEnd returns the offset at which a file's trailing zeros begin.
func dataEnd(data []byte) int { return len(bytes.TrimRight(data, "\x00")) }

// raft-wal treats any invalid data at the end of the log as a torn write and drops it.
func TestOpenWAL_FlippedBit_IsDetected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 300)
	names := f.original.segments()
	if len(names) < 3 {
		t.Fatalf("got %d segments, want at least 3", len(names))
	}
	for _, name := range append(names, filepath.Join(wal.Dir, intact.MarkFile)) {
		step := 61 // a prime, to cover all positions in frames
		if name == filepath.Join(wal.Dir, intact.MarkFile) {
			step = 1
		}
		for at := 0; at < dataEnd(f.original[name]); at += step {
			data := bytes.Clone(f.original[name])
			data[at] ^= 1 << (at % 8)
			if !f.detects(t, fmt.Sprintf("byte %d flipped", at), name, data) {
				t.Errorf("%s, byte %d flipped: the damage was not detected", name, at)
			}
		}
	}
}

// In the last batch, a flipped bit looks like a torn write.
func TestOpenWAL_FlippedBitInLastBatch_IsDetected(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 30)
	name := f.original.segments()[0]
	used := dataEnd(f.original[name])
	for at := used - 500; at < used; at++ {
		data := bytes.Clone(f.original[name])
		data[at] ^= 1 << (at % 8)
		if !f.detects(t, fmt.Sprintf("byte %d flipped", at), name, data) {
			t.Errorf("byte %d flipped: the damage was not detected", at)
		}
	}
}

func TestOpenWAL_TornZeroedOrMissing_IsDamaged(t *testing.T) {
	f := newFixture(t, 300)
	for _, name := range append(f.original.segments(), filepath.Join(wal.Dir, intact.MarkFile)) {
		used := dataEnd(f.original[name])
		for _, n := range []int{0, 1, 7, 31, 32, 40, used / 2, used - 9, used - 8, used - 1} {
			if n < 0 || n >= used {
				continue
			}
			if !f.detects(t, fmt.Sprintf("cut to %d bytes", n), name, f.original[name][:n]) {
				t.Errorf("%s cut to %d bytes: the damage was not detected", name, n)
			}
			data := bytes.Clone(f.original[name])
			clear(data[n:min(n+sector, len(data))])
			if !f.detects(t, fmt.Sprintf("zeros at %d", n), name, data) {
				t.Errorf("%s: zeros at %d: the damage was not detected", name, n)
			}
		}
	}
	for _, name := range append(f.original.segments(), filepath.Join(wal.Dir, intact.MarkFile), RaftFile) {
		path := filepath.Join(f.dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for _, offline := range []bool{true, false} {
			if _, err := readWAL(f.dir, offline); !errors.Is(err, ErrDamaged) {
				t.Errorf("without %s: got error %v, want ErrDamaged", name, err)
			}
		}
		if err := os.WriteFile(path, f.original[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readWAL(f.dir, false); err != nil || len(got) != len(f.want) {
		t.Errorf("after restoring the files: %d entries, %v", len(got), err)
	}
}

// The mark is not synced, so it may be outdated after a power loss. Only later batches then prove that entries were
// acknowledged.
func TestOpenWAL_OldMark_FlippedBitBeforeLastBatch_IsDetected(t *testing.T) {
	f := newFixture(t, 30)
	mark := filepath.Join(f.dir, wal.Dir, intact.MarkFile)
	if err := os.WriteFile(mark, intact.Seal([]byte(intact.MarkFile), make([]byte, 16)), 0o600); err != nil {
		t.Fatal(err)
	}
	name := f.original.segments()[0]
	original := f.original[name]
	last := bytes.Index(original, bytes.Repeat([]byte{20}, 20)) // the last entry of the second of three batches
	for at := 0; at < last; at += 5 {                           // to cover all positions in frames
		data := bytes.Clone(original)
		data[at] ^= 1 << (at % 8)
		if !f.detects(t, fmt.Sprintf("byte %d flipped", at), name, data) {
			t.Errorf("byte %d flipped: the damage was not detected", at)
		}
	}
	for at := 0; at < last; at += 8 {
		data := bytes.Clone(original)
		clear(data[at : at+8])
		if !bytes.Equal(data, original) && !f.detects(t, fmt.Sprintf("zeros at %d", at), name, data) {
			t.Errorf("zeros at %d: the damage was not detected", at)
		}
	}
}

func TestWAL_Close_LeaksNoGoroutine(t *testing.T) {
	o, err := openLog(t.TempDir(), KindWAL, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// A snapshot that arrives late must not delete entries that the member has acknowledged since. Therefore, the store
// does not report itself as monotonic, and Snapshots deletes obsolete entries instead.
func TestWAL_IsNotMonotonic(t *testing.T) {
	f := openFiles(t, KindWAL, t.TempDir())
	defer closeFiles(t, f)
	if m, ok := f.Log.(raft.MonotonicLogStore); !ok || m.IsMonotonic() {
		t.Error("the store is monotonic, so Raft would delete the log after every snapshot that a leader sends")
	}
}

func TestOpen_DifferentKind_IsRefused(t *testing.T) {
	eachKind(t, func(t *testing.T, own Kind) {
		dir := t.TempDir()
		closeFiles(t, openFiles(t, own, dir))
		other := KindBolt
		if own == KindBolt {
			other = KindWAL
		}
		g, _ := newGuard(t)
		_, err := Open(dir, other, g, hclog.NewNullLogger())
		if !errors.Is(err, ErrKind) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), fmt.Sprintf("in %s, not in %s", own, other)) {
			t.Errorf("Open(%s) = %v, want ErrKind, naming both kinds", other, err)
		}
		for _, kind := range []Kind{own, ""} {
			f := openFiles(t, kind, dir)
			if f.Kind != own {
				t.Errorf("Open(%q): kind %s, want %s", kind, f.Kind, own)
			}
			closeFiles(t, f)
		}
	})
}

func TestOpen_NewDataDirWithoutKind_IsBolt(t *testing.T) {
	f := openFiles(t, "", t.TempDir())
	defer closeFiles(t, f)
	if f.Kind != KindBolt {
		t.Errorf("Kind = %s, want %s", f.Kind, KindBolt)
	}
}

// A file can be damaged while it is open.
func TestWAL_DamagedWhileOpen_ErrorNamesEntry(t *testing.T) {
	dir := t.TempDir()
	o, err := openLog(dir, KindWAL, testConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := storeOne(o.log, &raft.Log{Index: 7, Term: 1, Data: []byte("the name of a definition")}); err != nil {
		t.Fatal(err)
	}
	name := readImage(t, dir).segments()[0]
	path := filepath.Join(dir, name)
	original := mustRead(t, path)
	for at := range dataEnd(original) {
		data := bytes.Clone(original)
		data[at] ^= 0x81
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var entry raft.Log
		err := o.log.GetLog(7, &entry)
		if err == nil && string(entry.Data) == "the name of a definition" {
			continue
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "entry 7") {
			t.Errorf("byte %d: GetLog() = %v, %v, want ErrDamaged for entry 7", at, entry, err)
		}
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := o.log.GetLog(7, &raft.Log{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("GetLog of a truncated file = %v, want ErrDamaged", err)
	}
}
