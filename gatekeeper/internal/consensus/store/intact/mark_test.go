package intact

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
)

// newAcknowledged returns an in-memory log whose mark is in dir.
func newAcknowledged(t *testing.T, dir string, backing Log) *Acknowledged {
	t.Helper()
	if err := CreateMark(dir); err != nil {
		t.Fatal(err)
	}
	mark, err := OpenMark(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	a := NewAcknowledged(backing, mark, func() error { return nil })
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func entries(first, last, term uint64) (logs []*raft.Log) {
	for index := first; index <= last; index++ {
		logs = append(logs, &raft.Log{Index: index, Term: term})
	}
	return logs
}

func readMark(t *testing.T, dir string) Position {
	t.Helper()
	mark, err := OpenMark(dir, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := mark.Close(); err != nil {
		t.Fatal(err)
	}
	return mark.pos
}

// markRecorder records the mark whenever entries are deleted.
type markRecorder struct {
	*raft.InmemStore
	t       *testing.T
	dir     string
	deleted []Position
}

func (s *markRecorder) DeleteRange(min, max uint64) error {
	s.deleted = append(s.deleted, readMark(s.t, s.dir))
	return s.InmemStore.DeleteRange(min, max)
}

func TestAcknowledged_Mark_NeverRequiresDeletedEntries(t *testing.T) {
	dir := t.TempDir()
	backing := &markRecorder{InmemStore: raft.NewInmemStore(), t: t, dir: dir}
	a := newAcknowledged(t, dir, backing)
	for _, step := range []struct {
		do   func() error
		want Position
	}{
		{func() error { return a.StoreLogs(entries(1, 20, 3)) }, Position{20, 3}},
		{func() error { return a.DeleteRange(1, 5) }, Position{20, 3}},
		{func() error { return a.DeleteRange(18, 99) }, Position{17, 3}},
		{func() error { return a.StoreLogs(entries(18, 18, 5)) }, Position{18, 5}},
		{func() error { return a.DeleteRange(30, 40) }, Position{18, 5}},
		{func() error { return a.DeleteRange(1, 18) }, Position{}},
		{func() error { return a.StoreLogs(entries(40, 41, 6)) }, Position{41, 6}},
	} {
		n := len(backing.deleted)
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		got := readMark(t, dir)
		if got != step.want {
			t.Errorf("the mark is %v, want %v", got, step.want)
		}
		if len(backing.deleted) > n && backing.deleted[n] != got {
			t.Errorf("the mark was %v when entries were deleted, want %v", backing.deleted[n], got)
		}
	}
}

func TestAcknowledged_GapOrHole_IsRefused(t *testing.T) {
	a := newAcknowledged(t, t.TempDir(), raft.NewInmemStore())
	if err := a.StoreLogs(entries(1, 20, 3)); err != nil {
		t.Fatal(err)
	}
	for _, logs := range [][]*raft.Log{entries(22, 23, 3), entries(20, 21, 3), {{Index: 21}, {Index: 23}}} {
		if err := a.StoreLogs(logs); err == nil {
			t.Errorf("entry %d was stored after entry 20", logs[len(logs)-1].Index)
		}
	}
	if err := a.DeleteRange(5, 19); err == nil {
		t.Error("a deletion that leaves a hole was accepted")
	}
	if last, err := a.LastIndex(); err != nil || last != 20 {
		t.Errorf("LastIndex() = %d, %v, want 20", last, err)
	}
}

func TestMark_Check_DetectsMissingEntries(t *testing.T) {
	dir := t.TempDir()
	backing := raft.NewInmemStore()
	a := newAcknowledged(t, dir, backing)
	if err := a.StoreLogs(entries(1, 20, 3)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		what    string
		change  func() error
		damaged bool
	}{
		{"unchanged log", func() error { return nil }, false},
		{"longer log", func() error { return backing.StoreLogs(entries(21, 22, 3)) }, false},
		{"log without its front", func() error { return backing.DeleteRange(1, 10) }, false},
		{"log with a different term at the mark", func() error { return backing.StoreLogs(entries(20, 22, 4)) }, true},
		{"log without its end", func() error { return backing.DeleteRange(19, 22) }, true},
		{"empty log", func() error { return backing.DeleteRange(11, 18) }, true},
		{"log that begins after the mark", func() error { return backing.StoreLogs(entries(40, 41, 9)) }, false},
	} {
		if err := tc.change(); err != nil {
			t.Fatal(err)
		}
		mark, err := OpenMark(dir, "", true)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mark.Check(backing, "the log")
		if errors.Is(err, ErrDamaged) != tc.damaged || (err != nil) != tc.damaged {
			t.Errorf("%s: Check() = %v, want damaged = %v", tc.what, err, tc.damaged)
		}
		if err := mark.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenMark_ChangedOrMissing_IsDamaged(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenMark(dir, "", true); !errors.Is(err, ErrDamaged) {
		t.Errorf("OpenMark without a mark = %v, want ErrDamaged", err)
	}
	if err := CreateMark(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, MarkFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1
		for _, data := range [][]byte{flipped, whole[:at]} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenMark(dir, "", false); !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d of %d changed: OpenMark() = %v, want ErrDamaged", at, len(data), err)
			}
		}
	}
}
