package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

var update = flag.Bool("update", false, "write the golden file of the current format")

// secret is the hash of the token in the test state.
const secret = "0123456789abcdef0123456789abcdef"

// state returns a state with a binding, a token and a definition.
func state(t *testing.T) *fsm.State {
	t.Helper()
	m := fsm.New("5eed.1")
	at := time.Date(2026, 11, 26, 2, 0, 0, 0, time.UTC)
	for i, cmds := range [][]fsm.Command{
		{fsm.RaiseFeatureLevel{Level: 2}},
		{fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel}},
		{
			fsm.SetBinding{Name: "admin", Binding: &access.Binding{Subjects: []string{"cert:admin"}, Grants: []access.Grant{{Role: access.Admin}}}, At: at},
			fsm.IssueToken{Binding: "admin", Token: access.Token{ID: "t1", Hash: [32]byte([]byte(secret)), CreatedAt: at}},
			fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "job", Definition: &semaphore.Definition{
				Name: "job", GroupPattern: semaphore.DefaultPattern, AcquirerPattern: semaphore.DefaultPattern, Permits: semaphore.DefaultPermits,
				Duration: semaphore.DefaultDuration, OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
				FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
			}}}, At: at},
		},
	} {
		entry, err := fsm.Encode(fsm.SupportedLevel, cmds)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Apply(uint64(i)+1, 1, entry); err != nil {
			t.Fatal(err)
		}
	}
	return m.State()
}

func header() Header {
	return Header{
		ClusterName: "gatekeeper", Member: "gk2", Members: []string{"gk1", "gk2", "gk3"},
		TakenAt: time.Date(2026, 11, 26, 2, 3, 4, 0, time.UTC), Version: "1.0.0",
	}
}

func write(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, header(), state(t)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readBytes(t *testing.T, data []byte) (*Backup, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

func TestRead_AfterWrite_ReturnsState(t *testing.T) {
	data := write(t)
	b, err := readBytes(t, data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := state(t).Hash()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.State.Hash(); got != want || err != nil {
		t.Errorf("got hash %x, %v, want %x", got, err, want)
	}
	s := b.Summary()
	if s.Member != "gk2" || !slices.Equal(s.Members, header().Members) || !s.TakenAt.Equal(header().TakenAt) || s.ClusterName != "gatekeeper" || s.ClusterID != "5eed.1" ||
		s.Definitions != 1 || s.Bindings != 1 || s.Tokens != 1 || s.Bytes != int64(len(data)) || s.Revision == 0 || s.Entries == 0 || s.Checksum != fmt.Sprintf("%x", sha256.Sum256(data)) {
		t.Errorf("got summary %+v, want the header and one object of each kind", s)
	}
}

// The golden file was written by a release, so it must not be rewritten when the format changes.
func TestRead_Format1File_IsReadable(t *testing.T) {
	path := filepath.Join("testdata", "format1.backup")
	if *update {
		if err := os.WriteFile(path, write(t), 0o644); err != nil { //nolint:gosec // test data
			t.Fatal(err)
		}
	}
	b, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := b.Summary(); s.Definitions != 1 || s.Tokens != 1 {
		t.Errorf("got summary %+v, want 1 definition and 1 token", s)
	}
}

func TestRead_AnyByteChangedOrMissing_IsRejected(t *testing.T) {
	data := write(t)
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1
		if _, err := readBytes(t, damaged); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotBackup) && !errors.Is(err, fsm.ErrNewer) {
			t.Fatalf("Read() with byte %d of %d changed = %v, want ErrDamaged", i, len(data), err)
		}
		if _, err := readBytes(t, data[:i]); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotBackup) {
			t.Fatalf("Read() of a file cut to %d of %d bytes = %v, want an error", i, len(data), err)
		}
	}
	if _, err := readBytes(t, append(bytes.Clone(data), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("Read() with an extra byte = %v, want an error", err)
	}
}

func TestRead_InvalidFile_ReturnsError(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want error
	}{
		"an empty file":  {"", ErrNotBackup},
		"text":           {"definitions:\n  - name: a\n" + strings.Repeat("#", 100), ErrNotBackup},
		"a newer format": {magic + "2\n{}\n" + strings.Repeat("x", 100), fsm.ErrNewer},
	} {
		if _, err := readBytes(t, []byte(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: Read() = %v, want %v", name, err, c.want)
		}
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, ErrNotBackup) {
		t.Errorf("Read() of a directory = %v, want an error", err)
	}
}

// Every file is either rejected or contains a complete state that can be written again.
func FuzzRead(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "format1.backup"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden[:len(golden)-sha256.Size], true)
	f.Add(golden, false)
	f.Add([]byte("gatekeeper backup 1\n{}\n"), true)
	f.Add([]byte("gatekeeper backup 99999999999999999999\n"), true)
	f.Add([]byte("gatekeeper backup 1\n[]\n\x00"), true)
	path := filepath.Join(f.TempDir(), "backup")
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed { // so that the fuzzer gets past the checksum
			sum := sha256.Sum256(data)
			data = append(slices.Clip(data), sum[:]...)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Read(path)
		if err != nil {
			return
		}
		var rewritten bytes.Buffer
		if err := Write(&rewritten, b.Header, b.State); err != nil {
			t.Fatal(err)
		}
		_ = b.Summary()
	})
}
