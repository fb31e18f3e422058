package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/hashicorp/raft-wal/types"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// hookedVFS is a file system that calls a hook before each change to a file, and returns the hook's error.
type hookedVFS struct {
	types.VFS
	before func(change, name string) error
}

func (h hookedVFS) Create(dir, name string, size uint64) (types.WritableFile, error) {
	if err := h.before("create", name); err != nil {
		return nil, err
	}
	f, err := h.VFS.Create(dir, name, size)
	return hookedFile{f, name, h.before}, err
}

func (h hookedVFS) OpenWriter(dir, name string) (types.WritableFile, error) {
	f, err := h.VFS.OpenWriter(dir, name)
	return hookedFile{f, name, h.before}, err
}

func (h hookedVFS) Delete(dir, name string) error {
	if err := h.before("delete", name); err != nil {
		return err
	}
	return h.VFS.Delete(dir, name)
}

type hookedFile struct {
	types.WritableFile
	name   string
	before func(change, name string) error
}

func (f hookedFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.before("write", f.name); err != nil {
		return 0, err
	}
	return f.WritableFile.WriteAt(p, at)
}

func (f hookedFile) Sync() error {
	if err := f.before("sync", f.name); err != nil {
		return err
	}
	return f.WritableFile.Sync()
}

// killPoints records the contents of the directory before each change to a file, as a process that was killed at that
// point would leave them behind.
type killPoints struct {
	t   *testing.T
	dir string

	mu     sync.Mutex // guards images
	images []image
}

func (k *killPoints) record(string, string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.images = append(k.images, readImage(k.t, k.dir))
	return nil
}

func (k *killPoints) take() []image {
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := k.images
	k.images = nil
	return taken
}

// If a process is killed at any point during a write, the log can be opened and has its content from before or after
// the write. Later writes are stored.
func TestOpenWAL_KilledDuringWrite_HasContentFromBeforeOrAfter(t *testing.T) {
	t.Parallel()
	rng, writes := crashSeed(t)
	writes /= 3 // each write has several kill points
	k := &killPoints{t: t, dir: t.TempDir()}
	cfg := testConfig()
	cfg.Files = hookedVFS{cfg.Files, k.record}
	o, err := openLog(k.dir, KindWAL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	k.take()
	current, rotated := model{values: make(map[string]string)}, 0
	for i := range writes {
		before := current.clone()
		what, err := current.step(rng, o)
		if err != nil {
			t.Fatalf("write %d, %s: %v", i, what, err)
		}
		images := append(k.take(), readImage(t, k.dir))
		for j, left := range images {
			what := fmt.Sprintf("write %d, %s, kill point %d of %d", i, what, j, len(images))
			dir := left.write(t)
			diffBefore, diffAfter := before.diff(dir, false), current.diff(dir, false)
			if diffBefore != nil && diffAfter != nil || diffAfter != nil && j == len(images)-1 {
				t.Fatalf("%s: unexpected log; difference from the log before the write: %v; from the log after it: %v", what, diffBefore, diffAfter)
			}
			if rng.IntN(20) == 0 {
				expected := current
				if diffAfter != nil {
					expected = before
				}
				checkContinues(t, rng, what, dir, expected.clone())
			}
		}
		rotated = max(rotated, len(images[len(images)-1].segments()))
	}
	if rotated < 3 {
		t.Errorf("got at most %d segments, want at least 3", rotated)
	}
}

// checkContinues performs more writes in a directory, and checks that they are stored.
func checkContinues(t *testing.T, rng *rand.Rand, what, dir string, current model) {
	t.Helper()
	for range 2 {
		o, err := openLog(dir, "", testConfig())
		if err != nil {
			t.Fatalf("%s, then opening: %v", what, err)
		}
		for range 3 {
			op, err := current.step(rng, o)
			if err != nil {
				t.Fatalf("%s, then %s: %v", what, op, err)
			}
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if err := current.diff(dir, false); err != nil {
			t.Fatalf("%s, after more writes: %v", what, err)
		}
	}
}

// If a process is killed between a write and its sync, the entries are readable but may not be on disk. A server
// acknowledges all entries that it reads from its log, so they must be synced when the log is opened.
func TestOpenWAL_KilledBeforeSync_IsSyncedByOpen(t *testing.T) {
	f := newFixture(t, 30)
	name := filepath.Base(f.original.segments()[0])
	cfg, done := testConfig(), make(map[string]bool)
	cfg.Files = hookedVFS{cfg.Files, func(change, name string) error {
		done[name] = done[name] || change == "sync"
		return nil
	}}
	o, err := openLog(f.dir, "", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if !done[name] {
		t.Errorf("%s was not synced", name)
	}
}

// torn returns a file's content after only some sectors of a write have reached the disk.
func torn(rng *rand.Rand, before, after []byte) []byte {
	data := append(bytes.Clone(before), make([]byte, max(0, len(after)-len(before)))...)
	for at := 0; at < len(after); at += sector {
		if rng.IntN(2) == 0 {
			copy(data[at:min(at+sector, len(after))], after[at:])
		}
	}
	return data
}

// After a power loss during a write, any subset of its sectors may be on disk. The mark may be from an earlier write.
func TestOpenWAL_TornWrite_HasContentFromBeforeOrAfter(t *testing.T) {
	t.Parallel()
	rng, writes := crashSeed(t)
	writes /= 2 // each directory is opened several times
	dir := t.TempDir()
	open := func() opened {
		o, err := openLog(dir, KindWAL, testConfig())
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := open()
	defer func() { _ = o.Close() }()
	current, tornBefore, mark := model{values: make(map[string]string)}, 0, filepath.Join(wal.Dir, intact.MarkFile)
	older := readImage(t, dir)[mark]
	for i := range writes {
		before, files := current.clone(), readImage(t, dir)
		what, err := current.step(rng, o)
		if err != nil {
			t.Fatalf("write %d, %s: %v", i, what, err)
		}
		after := readImage(t, dir)
		names := after.segments()
		name := names[len(names)-1]
		if len(current.entries) <= len(before.entries) || len(names) != len(files.segments()) || files[name] == nil || bytes.Equal(files[name], after[name]) {
			older = after[mark] // the log became shorter, or a new segment began
			continue
		}
		if rng.IntN(4) == 0 {
			older = files[mark]
		}
		what = fmt.Sprintf("write %d, %s", i, what)
		left := make(image)
		for file, data := range files {
			left[file] = data
		}
		left[mark] = older
		left[name] = torn(rng, files[name], after[name])
		imageDir := left.write(t)
		diffBefore, diffAfter := before.diff(imageDir, false), current.diff(imageDir, false)
		whole := bytes.Equal(left[name], after[name])
		if whole && diffAfter != nil || !whole && diffBefore != nil {
			t.Fatalf("%s: unexpected log; difference from the log before the write: %v; from the log after it: %v", what, diffBefore, diffAfter)
		}
		if whole {
			continue
		}
		tornBefore++
		if rng.IntN(3) == 0 {
			checkContinues(t, rng, what, imageDir, before.clone())
		}
		// With the mark from after the write, the same directory cannot be the result of a torn write.
		left[mark] = after[mark]
		if err := before.diff(left.write(t), false); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s: got error %v, want ErrDamaged because acknowledged entries are missing", what, err)
		}
	}
	if tornBefore < writes/10 {
		t.Errorf("%d of %d writes were torn, want at least a tenth", tornBefore, writes)
	}
}

// A failed call returns the cause, even if the cause is a failure to create the next segment, which happens in the
// background.
func TestWAL_DiskFails_CallsReturnCause(t *testing.T) {
	full := errors.New("no space left")
	var diskErr error
	cfg := testConfig()
	cfg.Files = hookedVFS{cfg.Files, func(change, _ string) error {
		if change == "create" || change == "sync" { // as on a full disk
			return diskErr
		}
		return nil
	}}
	dir := t.TempDir()
	o, err := openLog(dir, KindWAL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := storeOne(o.log, &raft.Log{Index: 1, Term: 1, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	diskErr = full
	if err := storeOne(o.log, &raft.Log{Index: 2, Term: 1, Data: []byte("x")}); !errors.Is(err, full) {
		t.Errorf("StoreLog() = %v, want the disk's error", err)
	}
	if err := o.log.DeleteRange(1, 1); !errors.Is(err, full) {
		t.Errorf("DeleteRange() = %v, want the disk's error", err)
	}
}

func TestWAL_NextSegmentFails_NextCallReturnsCause(t *testing.T) {
	full := errors.New("no space left")
	cfg := testConfig()
	created := 0
	cfg.Files = hookedVFS{cfg.Files, func(change, _ string) error {
		if change == "create" {
			if created++; created > 1 {
				return full
			}
		}
		return nil
	}}
	dir := t.TempDir()
	o, err := openLog(dir, KindWAL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := storeOne(o.log, &raft.Log{Index: 1, Term: 1, Data: make([]byte, 2*cfg.SegmentSize)}); err != nil {
		t.Fatal(err)
	}
	if err := storeOne(o.log, &raft.Log{Index: 2, Term: 1, Data: []byte("x")}); !errors.Is(err, full) {
		t.Errorf("StoreLog() = %v, want the disk's error", err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := readWAL(dir, false)
	if err != nil || len(entries) != 1 {
		t.Errorf("got %d entries, error %v, want 1", len(entries), err)
	}
}
