package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// oldDataDir extracts a data directory written by the last build before raft-boltdb, with entries 8 to 98, a term and a
// vote.
func oldDataDir(t *testing.T, kind Kind) (dir string) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "old-"+string(kind)+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for in := tar.NewReader(unzipped); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, head.Name)
		if head.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			data, errRead := io.ReadAll(in)
			err = errors.Join(errRead, os.WriteFile(path, data, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkConverted checks that a directory in the new format contains everything from oldDataDir.
func checkConverted(t *testing.T, dir string, kind Kind) {
	t.Helper()
	for _, asRecover := range []bool{true, false} {
		o, err := openReader(dir, asRecover)
		if err != nil {
			t.Error(err)
			return
		}
		first, errFirst := o.log.FirstIndex()
		last, errLast := o.log.LastIndex()
		if err := errors.Join(errFirst, errLast); err != nil || first != 8 || last != 98 {
			t.Errorf("the log contains entries %d to %d, %v, want 8 to 98", first, last, err)
		}
		for i := first; i <= last; i++ {
			want := &raft.Log{Index: i, Term: 1 + i/50, Type: raft.LogType(i % 3), Data: bytes.Repeat([]byte{byte(i)}, int(i%97))}
			if i%5 > 0 {
				want.AppendedAt = time.Unix(int64(i), 7)
			}
			var got raft.Log
			if err := o.log.GetLog(i, &got); err != nil || !sameEntry(&got, want) || got.Extensions != nil {
				t.Errorf("entry %d is %+v, %v, want %+v", i, got, err, want)
			}
		}
		term, errTerm := o.values.GetUint64([]byte("CurrentTerm"))
		vote, errVote := o.values.Get([]byte(keyVote))
		if err := errors.Join(errTerm, errVote); err != nil || term != 91 || string(vote) != "12345678gk1" {
			t.Errorf("term %d, vote %q, %v, want term 91 and a vote for gk1", term, vote, err)
		}
		if got, err := kindOf(o.values); got != kind || err != nil {
			t.Errorf("kindOf() = %s, %v, want %s", got, err, kind)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpen_OldFormat_ErrorNamesTheCommand(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		dir := oldDataDir(t, kind)
		before := readImage(t, dir)
		g, _ := newGuard(t)
		_, errServer := Open(dir, "", g, hclog.NewNullLogger())
		_, errRecover := OpenOffline(dir)
		for _, err := range []error{errServer, errRecover} {
			if !errors.Is(err, ErrOldFormat) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "gatekeeperd convert --data-dir") {
				t.Error(err)
			}
		}
		if !reflect.DeepEqual(before, readImage(t, dir)) {
			t.Error("the directory was modified")
		}
	})
}

func TestConvert_KeepsAllDataAndOldFiles(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		dir := oldDataDir(t, kind)
		before := readImage(t, dir)
		kept, err := Convert(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{RaftFile + oldSuffix}
		if kind == KindWAL {
			want = []string{wal.Dir + oldSuffix, RaftFile + oldSuffix}
		}
		if !slices.Equal(kept, want) {
			t.Errorf("Convert() = %q, want %q", kept, want)
		}
		after := readImage(t, dir)
		for name, data := range before {
			part, rest, nested := strings.Cut(name, "/")
			part += oldSuffix
			if nested {
				part = filepath.Join(part, rest)
			}
			if !bytes.Equal(after[part], data) {
				t.Errorf("%s differs from the original %s", part, name)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, convertDir)); err == nil {
			t.Errorf("%s was not removed", convertDir)
		}
		checkConverted(t, dir, kind)
		if _, err := Convert(dir); !errors.Is(err, ErrConverted) {
			t.Errorf("second Convert() = %v, want ErrConverted", err)
		}
		checkConverted(t, dir, kind)
	})
}

// After a crash between two steps, the directory is either refused because of its old format or fully converted.
// Another call finishes the conversion.
func TestConvert_CrashBetweenSteps_NextCallFinishes(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind Kind) {
		steps := len((&conversion{}).steps())
		for n := range steps + 1 {
			dir := oldDataDir(t, kind)
			c := &conversion{dir: dir, tmp: filepath.Join(dir, convertDir), cfg: testConfig()}
			if err := c.run(c.steps()[:n]); err != nil {
				t.Fatalf("first %d steps: %v", n, err)
			}
			o, err := openReader(dir, true)
			converted := err == nil
			if converted {
				err = o.Close()
			}
			if !converted && !errors.Is(err, ErrOldFormat) || converted != (n >= steps-1) {
				t.Errorf("openReader after %d steps: %v", n, err)
			}
			if _, err := Convert(dir); err != nil && (!converted || !errors.Is(err, ErrConverted)) {
				t.Errorf("Convert after %d steps: %v", n, err)
			}
			checkConverted(t, dir, kind)
			if _, err := os.Stat(filepath.Join(dir, convertDir)); err == nil {
				t.Errorf("%s was not removed", convertDir)
			}
		}
	})
}

// After an interrupted conversion, an operator copies the segments back to run the earlier build again, which writes to
// them.
func TestConvert_SegmentsRestoredByHand_AreNotOverwritten(t *testing.T) {
	dir := oldDataDir(t, KindWAL)
	c := &conversion{dir: dir, tmp: filepath.Join(dir, convertDir), cfg: testConfig()}
	if err := c.run(c.steps()[:5]); err != nil {
		t.Fatal(err)
	}
	segments := filepath.Join(dir, wal.Dir)
	if err := os.CopyFS(segments, os.DirFS(segments+oldSuffix)); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(segments, "written-since")
	if err := os.WriteFile(newer, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(dir); err == nil || !strings.Contains(err.Error(), "move the older of the two out of the way") {
		t.Errorf("Convert() = %v, want an error that says which segments to move away", err)
	}
	if _, err := os.Stat(newer); err != nil {
		t.Errorf("the newer file was removed: %v", err)
	}
}

// A crash during a step may leave a partially written file.
func TestConvert_HalfWritten_StartsOver(t *testing.T) {
	eachKind(t, func(t *testing.T, kind Kind) {
		dir := oldDataDir(t, kind)
		c := &conversion{dir: dir, tmp: filepath.Join(dir, convertDir), cfg: testConfig()}
		if err := c.run(c.steps()[:3]); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(c.tmp, RaftFile), 100); err != nil {
			t.Fatal(err)
		}
		if _, err := Convert(dir); err != nil {
			t.Fatal(err)
		}
		checkConverted(t, dir, kind)
	})
}

func TestConvert_Damaged_IsRefused(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind Kind) {
		original := readImage(t, oldDataDir(t, kind))
		refused := 0
		for name, data := range original {
			for pos := 0; pos < dataEnd(data); pos += 1499 {
				dir := oldDataDir(t, kind)
				corrupt := bytes.Clone(data)
				corrupt[pos] ^= 1 << (pos % 8)
				if err := os.WriteFile(filepath.Join(dir, name), corrupt, 0o600); err != nil {
					t.Fatal(err)
				}
				before := readImage(t, dir)
				_, err := Convert(dir)
				switch {
				case err == nil: // the byte was on an unused page
					checkConverted(t, dir, kind)
				case !errors.Is(err, ErrDamaged):
					t.Errorf("%s, byte %d flipped: got error %v, want ErrDamaged", name, pos, err)
				case !reflect.DeepEqual(before, readImage(t, dir)):
					t.Errorf("%s, byte %d flipped: the directory was modified", name, pos)
				default:
					refused++
				}
			}
		}
		if refused == 0 {
			t.Error("no damage was detected")
		}
	})
}

// Existing files are not overwritten.
func TestConvert_OldNamesTaken_IsRefused(t *testing.T) {
	for kind, name := range map[Kind]string{KindBolt: RaftFile + oldSuffix, KindWAL: wal.Dir + oldSuffix} {
		dir := oldDataDir(t, kind)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Convert(dir); err == nil || !strings.Contains(err.Error(), "move it out of the way") || string(mustRead(t, filepath.Join(dir, name))) != "mine" {
			t.Errorf("%s: Convert() = %v, want an error and an unchanged file", name, err)
		}
	}
}
