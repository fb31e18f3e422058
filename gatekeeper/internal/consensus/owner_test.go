package consensus

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// another is a non-root user.
var another = owner{uid: 65534, gid: 65534}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("requires root to change the owner of files")
	}
}

// owned checks that all files in dir belong to want.
func owned(t *testing.T, dir string, want owner) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if got, _ := ownerOf(info); got != want {
			t.Errorf("%s belongs to %v, want %v", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func give(t *testing.T, dir string, to owner) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, to.uid, to.gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFound_ByRoot_FilesBelongToTheOwnerOfTheDataDir(t *testing.T) {
	requireRoot(t)
	for name, inside := range map[string]string{"existing": ".", "new": "a/b"} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []LogStore{LogStoreBolt, LogStoreWAL} {
				outer := t.TempDir()
				give(t, outer, another)
				foundAt(t, filepath.Join(outer, inside), kind)
				owned(t, outer, another)
			}
		})
	}
}

func TestLeaveAdminRequest_ByRoot_BelongsToTheOwnerOfTheDataDir(t *testing.T) {
	requireRoot(t)
	dir := found(t)
	if err := os.Remove(filepath.Join(dir, lockFileName)); err != nil {
		t.Fatal(err)
	}
	give(t, dir, another)
	if _, _, err := LeaveAdminRequest(dir, AdminRequest{Subject: "cert:ann", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	owned(t, dir, another)
}

// The old files come from an archive and are kept in the directory under other names.
func TestConvertDataDir_ByRoot_FilesBelongToTheOwnerOfTheDataDir(t *testing.T) {
	requireRoot(t)
	archive := filepath.Join("..", "..", "..", "cmd", "gatekeeperd", "testdata", "old-folder.tar.gz")
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	give(t, dir, another)
	if kept, err := ConvertDataDir(dir, newMachine); err != nil || len(kept) == 0 {
		t.Fatalf("ConvertDataDir() = %q, %v, want the old files", kept, err)
	}
	owned(t, dir, another)
}

func TestHandOver_FilesOfOthersAndOutside_KeepTheirOwners(t *testing.T) {
	requireRoot(t)
	dir, third, roots := t.TempDir(), owner{uid: 65533, gid: 65533}, owner{}
	outside, theirs := filepath.Join(t.TempDir(), "outside"), filepath.Join(dir, "theirs")
	for _, path := range []string{outside, theirs} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	give(t, theirs, third)
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := handOver(dir, another); err != nil {
		t.Fatal(err)
	}
	owned(t, theirs, third)
	owned(t, outside, roots)
}

func TestWithOwner_FileOfAnotherUser_NamesTheOwnerAndTheFix(t *testing.T) {
	path, self := filepath.Join(t.TempDir(), AdminFileName), owner{uid: os.Geteuid()}
	if self.uid == 0 {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		give(t, path, another)
	} else {
		path = "/" // belongs to root
	}
	f := &DataDir{dir: "/data"}
	err := f.withOwner(&fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission})
	for _, want := range []string{path + " belongs to ", "the server runs as " + self.name(), "chown -R " + self.name() + " /data"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error %q, want it to contain %q", err, want)
		}
	}
}
