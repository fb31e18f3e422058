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

// tested returns a Config with small segments, so that a test has many of them.
func tested() wal.Config {
	return wal.Config{Files: vfs.New(), SegmentSize: 8 << 10, Logger: hclog.NewNullLogger()}
}

// image is the content of all files in a directory.
type image map[string][]byte

func imageOf(tb testing.TB, dir string) image {
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

// put writes an image to a new directory.
func (i image) put(tb testing.TB) (dir string) {
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

// filledWAL is like filled, with a log in several segments.
func filledWAL(tb testing.TB, entries int) (dir string) {
	tb.Helper()
	return filledOf(tb, KindWAL, entries, 10)
}

// readWAL opens the directory as look does, and reads all entries.
func readWAL(dir string, old bool) (entries []raft.Log, err error) {
	o, err := look(dir, old)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	return entriesOf(o.log)
}

// segments returns the names of the segments of an image, oldest first.
func (i image) segments() (names []string) {
	for name := range i {
		if strings.HasSuffix(name, ".wal") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// folder is a directory with the content of an image. Tests change one file at a time.
type folder struct {
	dir   string
	whole image
	want  []raft.Log
}

// wholeWAL returns a filled directory with its content.
func wholeWAL(t *testing.T, entries int) folder {
	t.Helper()
	dir := filledWAL(t, entries)
	want, err := readWAL(dir, false)
	if err != nil || len(want) != entries-7 {
		t.Fatalf("%d entries, %v", len(want), err)
	}
	return folder{dir, imageOf(t, dir), want}
}

// with changes the content of a file and opens the directory, once as recover does and once as a server does. It
// reports whether damage was detected. Any result other than ErrDamaged or the same entries fails the test.
func (f folder) with(t *testing.T, what, file string, data []byte) (noticed bool) {
	t.Helper()
	path := filepath.Join(f.dir, file)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, old := range []bool{true, false} {
		got, err := readWAL(f.dir, old)
		if err == nil && !reflect.DeepEqual(got, f.want) {
			t.Errorf("%s, %s: the file was accepted with different contents: %d entries", file, what, len(got))
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s, %s: got error %v, want %v", file, what, err, ErrDamaged)
		}
		if !old && noticed != (err != nil) {
			t.Errorf("%s, %s: a server and recover disagree: %v", file, what, err)
		}
		noticed = err != nil
	}
	if err := os.WriteFile(path, f.whole[file], 0o600); err != nil {
		t.Fatal(err)
	}
	return noticed
}

// end returns the offset at which the zeros of a segment begin.
func end(data []byte) int { return len(bytes.TrimRight(data, "\x00")) }

// raft-wal mistakes anything invalid at the end of the log for a write that a crash cut short, and drops it.
func TestOpenWAL_FlippedBit_IsDetected(t *testing.T) {
	t.Parallel()
	f := wholeWAL(t, 300)
	names := f.whole.segments()
	if len(names) < 3 {
		t.Fatalf("%d segments, want at least 3", len(names))
	}
	for _, name := range append(names, filepath.Join(wal.Dir, intact.MarkFile)) {
		step := 61 // a prime, to cover all positions in frames
		if name == filepath.Join(wal.Dir, intact.MarkFile) {
			step = 1
		}
		for at := 0; at < end(f.whole[name]); at += step {
			data := bytes.Clone(f.whole[name])
			data[at] ^= 1 << (at % 8)
			if !f.with(t, fmt.Sprintf("byte %d flipped", at), name, data) {
				t.Errorf("%s, byte %d flipped: the damage was not detected", name, at)
			}
		}
	}
}

// In the last batch, a flipped bit looks like a torn write.
func TestOpenWAL_FlippedBitInTheLastBatch_IsDetected(t *testing.T) {
	t.Parallel()
	f := wholeWAL(t, 30)
	name := f.whole.segments()[0]
	used := end(f.whole[name])
	for at := used - 500; at < used; at++ {
		data := bytes.Clone(f.whole[name])
		data[at] ^= 1 << (at % 8)
		if !f.with(t, fmt.Sprintf("byte %d flipped", at), name, data) {
			t.Errorf("byte %d flipped: the damage was not detected", at)
		}
	}
}

func TestOpenWAL_TornZeroedOrMissing_IsDamaged(t *testing.T) {
	f := wholeWAL(t, 300)
	for _, name := range append(f.whole.segments(), filepath.Join(wal.Dir, intact.MarkFile)) {
		used := end(f.whole[name])
		for _, n := range []int{0, 1, 7, 31, 32, 40, used / 2, used - 9, used - 8, used - 1} {
			if n < 0 || n >= used {
				continue
			}
			if !f.with(t, fmt.Sprintf("cut to %d bytes", n), name, f.whole[name][:n]) {
				t.Errorf("%s cut to %d bytes: the damage was not detected", name, n)
			}
			data := bytes.Clone(f.whole[name])
			clear(data[n:min(n+sector, len(data))])
			if !f.with(t, fmt.Sprintf("zeros at %d", n), name, data) {
				t.Errorf("%s: zeros at %d: the damage was not detected", name, n)
			}
		}
	}
	for _, name := range append(f.whole.segments(), filepath.Join(wal.Dir, intact.MarkFile), RaftFile) {
		path := filepath.Join(f.dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for _, old := range []bool{true, false} {
			if _, err := readWAL(f.dir, old); !errors.Is(err, ErrDamaged) {
				t.Errorf("without %s: got error %v, want ErrDamaged", name, err)
			}
		}
		if err := os.WriteFile(path, f.whole[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readWAL(f.dir, false); err != nil || len(got) != len(f.want) {
		t.Errorf("after restoring the files: %d entries, %v", len(got), err)
	}
}

// The mark is not synced. After a power loss it may be older, and then only later batches prove which entries were
// acknowledged.
func TestOpenWAL_OldMark_FlippedBitBeforeTheLastBatch_IsDetected(t *testing.T) {
	f := wholeWAL(t, 30)
	mark := filepath.Join(f.dir, wal.Dir, intact.MarkFile)
	if err := os.WriteFile(mark, intact.Seal([]byte(intact.MarkFile), make([]byte, 16)), 0o600); err != nil {
		t.Fatal(err)
	}
	name := f.whole.segments()[0]
	whole := f.whole[name]
	last := bytes.Index(whole, bytes.Repeat([]byte{20}, 20)) // the last entry of the second of three batches
	for at := 0; at < last; at += 5 {                        // to cover all positions in frames
		data := bytes.Clone(whole)
		data[at] ^= 1 << (at % 8)
		if !f.with(t, fmt.Sprintf("byte %d flipped", at), name, data) {
			t.Errorf("byte %d flipped: the damage was not detected", at)
		}
	}
	for at := 0; at < last; at += 8 {
		data := bytes.Clone(whole)
		clear(data[at : at+8])
		if !bytes.Equal(data, whole) && !f.with(t, fmt.Sprintf("zeros at %d", at), name, data) {
			t.Errorf("zeros at %d: the damage was not detected", at)
		}
	}
}

func TestWAL_Close_LeavesNoGoroutine(t *testing.T) {
	o, err := openLog(t.TempDir(), KindWAL, tested())
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// A member that receives an older snapshot late must not lose what it has acknowledged since. Therefore, the store does
// not declare itself monotonic, and Snapshots deletes what must be deleted.
func TestWAL_IsNotMonotonic(t *testing.T) {
	f := openFiles(t, KindWAL, t.TempDir())
	defer closeFiles(t, f)
	if m, ok := f.Log.(raft.MonotonicLogStore); !ok || m.IsMonotonic() {
		t.Error("the store is monotonic, so Raft would delete the log after every snapshot that a leader sends")
	}
}

func TestOpen_AnotherKind_IsRefused(t *testing.T) {
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
				t.Errorf("Open(%q): kind %s, want the kind of the directory", kind, f.Kind)
			}
			closeFiles(t, f)
		}
	})
}

func TestOpen_NewDataDirWithoutKind_IsBolt(t *testing.T) {
	f := openFiles(t, "", t.TempDir())
	defer closeFiles(t, f)
	if f.Kind != KindBolt {
		t.Error(f.Kind)
	}
}

// A file can be damaged after it was opened.
func TestWAL_DamageUnderARunningServer_ErrorNamesTheEntry(t *testing.T) {
	dir := t.TempDir()
	o, err := openLog(dir, KindWAL, tested())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := storeOne(o.log, &raft.Log{Index: 7, Term: 1, Data: []byte("the name of a definition")}); err != nil {
		t.Fatal(err)
	}
	name := imageOf(t, dir).segments()[0]
	path := filepath.Join(dir, name)
	whole := mustRead(t, path)
	for at := range end(whole) {
		data := bytes.Clone(whole)
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
