//go:build faulty

package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// disk sets up a simulated disk, and returns a function that sets its state.
func disk(t *testing.T) (set func(words string)) {
	file := filepath.Join(t.TempDir(), "disk")
	t.Setenv(DiskVariable, file)
	return func(words string) {
		if err := os.WriteFile(file, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDisturbed_Delay_TakesLonger(t *testing.T) {
	set := disk(t)
	synctest.Test(t, func(t *testing.T) {
		for words, want := range map[string]time.Duration{"": 0, "delay 300ms\n": 300 * time.Millisecond} {
			set(words)
			start, done := time.Now(), false
			err := withFaults("set", func() error { done = true; return nil })
			if took := time.Since(start); err != nil || !done || took != want {
				t.Errorf("%q: done %t after %v, error %v, want done after %v", words, done, took, err, want)
			}
		}
	})
}

func TestDisturbed_Fail_ReturnsAnErrorBeforeOrAfterTheWrite(t *testing.T) {
	set := disk(t)
	for words, want := range map[string]bool{"fail write": false, "fail sync": true} {
		set(words)
		done := false
		if err := withFaults("store logs", func() error { done = true; return nil }); !errors.Is(err, syscall.EIO) || done != want {
			t.Errorf("%q: written %t, error %v, want written %t and EIO", words, done, err, want)
		}
		if err := withFaults("get log", func() error { return nil }); err != nil {
			t.Errorf("%q: a read failed: %v", words, err)
		}
	}
	set("on fire")
	if err := withFaults("set", func() error { return nil }); err == nil {
		t.Error("an unknown disk state was accepted")
	}
}

// Every write by Raft goes through withFaults, and a failed write is a fault that stops the server.
func TestDisturbed_FailedWrite_IsAFault(t *testing.T) { eachKind(t, testFailedWrite) }

func testFailedWrite(t *testing.T, kind Kind) {
	for name, write := range map[string]func(*Files){
		"log":    func(f *Files) { _ = f.Log.StoreLogs([]*raft.Log{{Index: 1, Term: 1}}) },
		"delete": func(f *Files) { _ = f.Log.DeleteRange(1, 1) },
		"term":   func(f *Files) { _ = f.Stable.SetUint64([]byte("CurrentTerm"), 2) },
		"vote": func(f *Files) {
			_ = f.Stable.SetUint64([]byte(keyVoteTerm), 2)
			_ = f.Stable.Set([]byte(keyVoteCand), []byte("a"))
		},
		"snapshot": func(f *Files) { _, _ = f.Snapshots.Create(raft.SnapshotVersionMax, 1, 1, raft.Configuration{}, 1, nil) },
	} {
		set := disk(t)
		g, faults := newGuard(t)
		files, err := Open(t.TempDir(), kind, g, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		if name == "delete" {
			_ = files.Log.StoreLogs([]*raft.Log{{Index: 1, Term: 1}})
		}
		set("fail write")
		go write(files)
		if err := <-faults; !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: got fault %v, want EIO", name, err)
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	}
}
