package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// contents holds the entries, the values and the mark in a data directory.
type contents struct {
	Entries []raft.Log
	Values  map[string]string
	Mark    string
}

// openAt opens the data directory as a server does.
func openAt(dir string) (opened, error) { return openLog(dir, KindBolt, testConfig()) }

// storeOne stores one entry.
func storeOne(log intact.Log, entry *raft.Log) error { return log.StoreLogs([]*raft.Log{entry}) }

// newFilledDir creates a data directory with several pages of entries, a term and a vote.
func newFilledDir(tb testing.TB, entries int) (dir string) {
	return newFilledDirWithKind(tb, KindBolt, entries, 50)
}

func newFilledDirWithKind(tb testing.TB, kind Kind, entries, batch int) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	o, err := openLog(dir, kind, testConfig())
	if err != nil {
		tb.Fatal(err)
	}
	for i := 1; i <= entries; i += batch {
		var logs []*raft.Log
		for index := i; index < i+batch; index++ {
			logs = append(logs, &raft.Log{
				Index: uint64(index), Term: uint64(1 + index/50), Data: bytes.Repeat([]byte{byte(index)}, 1+index%97),
				AppendedAt: time.Unix(int64(index), 7).UTC(),
			})
		}
		err = errors.Join(err, o.log.StoreLogs(logs), o.values.SetUint64([]byte("CurrentTerm"), uint64(i)))
	}
	err = errors.Join(err, o.values.Set([]byte(keyVote), []byte("12345678gk1")), o.log.DeleteRange(1, 7), o.Close())
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// dirReader reads the content of a data directory.
type dirReader struct {
	log    intact.Reader
	values *intact.Values
	io.Closer
}

// openReader opens a data directory as a server does or, if asRecover is set, as recover does, which is read-only and
// faster.
func openReader(dir string, asRecover bool) (dirReader, error) {
	if asRecover {
		o, err := OpenOffline(dir)
		if err != nil {
			return dirReader{}, err
		}
		return dirReader{o.log, o.values, o}, nil
	}
	o, err := openLog(dir, "", testConfig())
	return dirReader{o.log, o.values, o}, err
}

func readEntries(log intact.Reader) (entries []raft.Log, err error) {
	first, errFirst := log.FirstIndex()
	last, errLast := log.LastIndex()
	if err := errors.Join(errFirst, errLast); err != nil {
		return nil, err
	}
	for index := first; index > 0 && index <= last; index++ {
		var entry raft.Log
		if err := log.GetLog(index, &entry); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// readAll opens the data directory with openReader and reads everything.
func readAll(dir string, asRecover bool) (c contents, err error) {
	o, err := openReader(dir, asRecover)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if c.Entries, err = readEntries(o.log); err != nil {
		return c, err
	}
	c.Values = make(map[string]string)
	for _, key := range []string{"CurrentTerm", keyVote} {
		val, err := o.values.Get([]byte(key))
		if err != nil {
			return c, err
		}
		c.Values[key] = string(val)
	}
	mark, err := os.ReadFile(filepath.Join(dir, intact.MarkFile))
	c.Mark = string(mark)
	return c, err
}

// filledFile returns RaftFile from a filled directory, and the directory's contents.
func filledFile(t *testing.T, entries int) (original []byte, want contents) {
	t.Helper()
	dir := newFilledDir(t, entries)
	original = mustRead(t, filepath.Join(dir, RaftFile)) // before it is opened again
	want, err := readAll(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return original, want
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// writeFiles writes RaftFile and the mark to a data directory.
func writeFiles(t *testing.T, dir string, data, mark []byte) {
	t.Helper()
	err := errors.Join(os.WriteFile(filepath.Join(dir, RaftFile), data, 0o600), os.WriteFile(filepath.Join(dir, intact.MarkFile), mark, 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

// damagedOrSame writes data as RaftFile in a new directory, and opens the directory as recover does or, one time in
// sixteen, as a server does. It reports whether damage was detected. Any result other than ErrDamaged or the same
// contents fails the test.
func damagedOrSame(t *testing.T, what string, data []byte, want contents) (detected bool) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, data, []byte(want.Mark))
	got, err := readAll(dir, rand.IntN(16) > 0)
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the file was accepted with different contents", what)
	}
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: got error %v, want %v", what, err, ErrDamaged)
	}
	return err != nil
}

func TestOpen_FlippedBit_IsDetectedOrHarmless(t *testing.T) {
	t.Parallel()
	original, want := filledFile(t, 300)
	detected, tried := 0, 0
	for at := 0; at < len(original); at += 127 { // a prime, to reach all positions in pages and page headers
		data := bytes.Clone(original)
		data[at] ^= 1 << (tried % 8)
		if damagedOrSame(t, fmt.Sprintf("byte %d flipped", at), data, want) {
			detected++
		}
		tried++
	}
	if detected == 0 || detected == tried {
		t.Errorf("%d of %d flipped bits were detected, want some but not all", detected, tried)
	}
}

// A single flipped bit is most easily missed in a page header.
func TestOpen_FlippedBitInPageHeader_IsDetectedOrHarmless(t *testing.T) {
	t.Parallel()
	original, want := filledFile(t, 100)
	size := os.Getpagesize()
	for page := 0; page < len(original); page += size {
		for at := page; at < page+80; at++ {
			data := bytes.Clone(original)
			data[at] ^= 1 << (at % 8)
			damagedOrSame(t, fmt.Sprintf("byte %d flipped", at), data, want)
		}
	}
}

func TestOpen_TornOrZeroed_IsDamaged(t *testing.T) {
	original, want := filledFile(t, 300)
	size := os.Getpagesize()
	for _, n := range []int{0, 1, size / 2, size, 2 * size, 3*size + 100, 5 * size} {
		if !damagedOrSame(t, fmt.Sprintf("cut to %d bytes", n), original[:n], want) {
			t.Errorf("cut to %d bytes: the damage was not detected", n)
		}
	}
	if !damagedOrSame(t, "zeroed", make([]byte, len(original)), want) {
		t.Error("zeroed: the damage was not detected")
	}
	detected := 0
	for at := 0; at < len(original); at += size {
		data := bytes.Clone(original)
		clear(data[at:min(at+size, len(data))])
		if damagedOrSame(t, fmt.Sprintf("page %d zeroed", at/size), data, want) {
			detected++
		}
	}
	if detected < 4 {
		t.Errorf("%d zeroed pages were detected, want at least 4", detected)
	}
}

func TestOpen_FileMissing_IsDamaged(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, snapshotsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("openAt() without %s = %v, want ErrDamaged", RaftFile, err)
	}
}

func TestOpen_AnotherFormat_IsDamaged(t *testing.T) {
	dir := t.TempDir()
	other, err := raftboltdb.NewBoltStore(filepath.Join(dir, RaftFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.StoreLog(&raft.Log{Index: 1, Term: 1, Data: []byte("x")}), other.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("openAt() = %v, want ErrDamaged", err)
	}
}

// A file written by bbolt's own tools is intact, but it contains a freelist that this program would have to trust.
func TestOpen_WrittenByAnotherProgram_IsDamaged(t *testing.T) {
	dir := newFilledDir(t, 100)
	other, err := bbolt.Open(filepath.Join(dir, RaftFile), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "has a freelist") {
		t.Errorf("openAt() = %v, want ErrDamaged for the freelist", err)
	}
}

func TestOpen_InUse_IsNotDamaged(t *testing.T) {
	dir := newFilledDir(t, 50)
	b, err := openAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for name, open := range map[string]func() error{
		"a server": func() error { _, err := openAt(dir); return err },
		"recover":  func() error { _, err := OpenOffline(dir); return err },
	} {
		if err := open(); !errors.Is(err, ErrInUse) || errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got error %v, want ErrInUse", name, err)
		}
	}
}

// reader records the size of the largest read.
type reader struct {
	*bytes.Reader
	largest int
}

func (r *reader) ReadAt(p []byte, at int64) (int, error) {
	r.largest = max(r.largest, len(p))
	return r.Reader.ReadAt(p, at)
}

// A page that claims to span half of a huge file must be refused before it is read into memory.
func TestWalk_PageWithHugeOverflow_IsNotRead(t *testing.T) {
	original := mustRead(t, filepath.Join(newFilledDir(t, 300), RaftFile))
	size, refused := os.Getpagesize(), 0
	for at := 2 * size; at < len(original); at += size {
		data := bytes.Clone(original)
		data[at+12] = 9 // number of overflow pages
		r := &reader{Reader: bytes.NewReader(data)}
		if err := walk(r, func(_, _, _ []byte) error { return nil }); err != nil {
			refused++
		}
		if r.largest > size {
			t.Errorf("page %d: read %d bytes in one call, want at most %d", at/size, r.largest, size)
		}
	}
	if refused == 0 {
		t.Error("no page was refused")
	}
}

// A file can be damaged while it is open.
func TestBolt_DamagedWhileOpen_ErrorNamesEntry(t *testing.T) {
	dir := t.TempDir()
	o, err := openAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := storeOne(o.log, &raft.Log{Index: 7, Term: 1, Data: []byte("the name of a definition")}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, RaftFile)
	data := mustRead(t, path)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte("T"), int64(bytes.LastIndex(data, []byte("the name")))); err != nil {
		t.Fatal(err)
	}
	err = o.log.GetLog(7, &raft.Log{})
	if !errors.Is(err, ErrDamaged) || !bytes.Contains([]byte(err.Error()), []byte("entry 7")) {
		t.Errorf("GetLog() = %v, want ErrDamaged for entry 7", err)
	}
	if err := file.Truncate(0); err != nil { // reads now cause a memory fault
		t.Fatal(err)
	}
	if _, err := o.log.LastIndex(); !errors.Is(err, ErrDamaged) {
		t.Errorf("LastIndex of a truncated file = %v, want ErrDamaged", err)
	}
}

// When a write panics, bbolt reads the whole file on another goroutine, where a memory fault kills the process.
func TestBolt_TruncatedWhileOpen_WriteFails(t *testing.T) {
	for name, write := range map[string]func(opened) error{
		"StoreLog":          func(o opened) error { return storeOne(o.log, &raft.Log{Index: 301, Term: 99}) },
		"StoreLogs of bolt": func(o opened) error { return storeOne(o.bolt, &raft.Log{Index: 301, Term: 99}) },
		"DeleteRange":       func(o opened) error { return o.bolt.DeleteRange(100, 110) },
		"Set":               func(o opened) error { return o.values.Set([]byte(keyVote), []byte("12345678gk2")) },
	} {
		dir := newFilledDir(t, 300)
		o, err := openAt(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, RaftFile), int64(2*os.Getpagesize())); err != nil { // keeps the headers
			t.Fatal(err)
		}
		for range 2 {
			if err := write(o); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: got error %v, want ErrDamaged", name, err)
			}
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// withoutLastBatch returns a directory with the file from before the last batch and the mark from after it. older is
// the mark from before the batch.
func withoutLastBatch(t *testing.T) (dir string, older []byte) {
	t.Helper()
	dir = newFilledDir(t, 100)
	file, older := mustRead(t, filepath.Join(dir, RaftFile)), mustRead(t, filepath.Join(dir, intact.MarkFile))
	o, err := openAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = o.log.StoreLogs([]*raft.Log{{Index: 101, Term: 9}, {Index: 102, Term: 9}})
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, file, mustRead(t, filepath.Join(dir, intact.MarkFile)))
	return dir, older
}

// The mark is up to date no matter how a process exits.
func TestOpen_LastBatchLost_IsDamaged(t *testing.T) {
	dir, _ := withoutLastBatch(t)
	for _, asRecover := range []bool{true, false} {
		if _, err := openReader(dir, asRecover); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "entry 102 in term 9 was acknowledged") {
			t.Errorf("openReader() = %v, want ErrDamaged for the acknowledged entry", err)
		}
	}
}

// The mark is not synced with each batch, so it may be half a minute old after a power loss. If the disk also loses the
// last batch, even though it had acknowledged the sync, the loss cannot be detected.
func TestOpen_LastBatchLostInPowerLoss_IsNotDetected(t *testing.T) {
	dir, older := withoutLastBatch(t)
	if err := os.WriteFile(filepath.Join(dir, intact.MarkFile), older, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(dir, false)
	if err != nil || len(got.Entries) == 0 || got.Entries[len(got.Entries)-1].Index != 100 {
		t.Errorf("got %d entries, %v: if the loss is detected now, update doc.go and docs/reliability.md", len(got.Entries), err)
	}
}

func TestOpen_MarkMissing_IsDamaged(t *testing.T) {
	dir := newFilledDir(t, 50)
	if err := os.Remove(filepath.Join(dir, intact.MarkFile)); err != nil {
		t.Fatal(err)
	}
	for _, asRecover := range []bool{true, false} {
		if _, err := openReader(dir, asRecover); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), intact.MarkFile) {
			t.Error(err)
		}
	}
}

// BenchmarkStoreLogs measures batches of 1 and 64 entries. Run it on a disk that actually syncs.
func BenchmarkStoreLogs(b *testing.B) {
	plain, err := raftboltdb.NewBoltStore(filepath.Join(b.TempDir(), RaftFile))
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	stores := map[string]intact.Log{"plain": plain}
	for _, kind := range []Kind{KindBolt, KindWAL} {
		o, err := openLog(b.TempDir(), kind, wal.NewConfig(hclog.NewNullLogger()))
		if err != nil {
			b.Fatal(err)
		}
		defer o.Close()
		stores[string(kind)] = o.log
	}
	for _, size := range []int{1, 64} {
		for _, name := range slices.Sorted(maps.Keys(stores)) {
			s := stores[name]
			b.Run(fmt.Sprintf("%s/entries=%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				logs := make([]*raft.Log, size)
				last, err := s.LastIndex()
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					for i := range logs {
						last++
						logs[i] = &raft.Log{Index: last, Term: 1, Data: make([]byte, 300)}
					}
					if err := s.StoreLogs(logs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
