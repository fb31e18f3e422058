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

// otherUser is a non-root user.
var otherUser = owner{uid: 65534, gid: 65534}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("requires root to change the owner of files")
	}
}

// wantOwner checks that want owns all files in dir.
func wantOwner(t *testing.T, dir string, want owner) {
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
			t.Errorf("owner of %s = %v, want %v", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func chownAll(t *testing.T, dir string, to owner) {
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

func TestFound_ByRoot_FilesBelongToDataDirOwner(t *testing.T) {
	requireRoot(t)
	for name, subdir := range map[string]string{"existing": ".", "new": "a/b"} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []LogStore{LogStoreBolt, LogStoreWAL} {
				outer := t.TempDir()
				chownAll(t, outer, otherUser)
				createDataDirAt(t, filepath.Join(outer, subdir), kind)
				wantOwner(t, outer, otherUser)
			}
		})
	}
}

func TestLeaveAdminRequest_ByRoot_BelongsToDataDirOwner(t *testing.T) {
	requireRoot(t)
	dir := createDataDir(t)
	if err := os.Remove(filepath.Join(dir, lockFileName)); err != nil {
		t.Fatal(err)
	}
	chownAll(t, dir, otherUser)
	if _, _, err := LeaveAdminRequest(dir, AdminRequest{Subject: "cert:ann", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, dir, otherUser)
}

// The archive contains a data directory in the old format. The conversion renames the old files and keeps them.
func TestConvertDataDir_ByRoot_FilesBelongToDataDirOwner(t *testing.T) {
	requireRoot(t)
	archive := filepath.Join("..", "..", "..", "cmd", "gatekeeperd", "testdata", "old-folder.tar.gz")
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	chownAll(t, dir, otherUser)
	if kept, err := ConvertDataDir(dir, newMachine); err != nil || len(kept) == 0 {
		t.Fatalf("ConvertDataDir() = %q, %v, want the old files", kept, err)
	}
	wantOwner(t, dir, otherUser)
}

func TestChownTree_OtherUsersFilesAndFilesOutside_KeepTheirOwners(t *testing.T) {
	requireRoot(t)
	dir, thirdUser, rootUser := t.TempDir(), owner{uid: 65533, gid: 65533}, owner{}
	outside, thirdUsersFile := filepath.Join(t.TempDir(), "outside"), filepath.Join(dir, "theirs")
	for _, path := range []string{outside, thirdUsersFile} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	chownAll(t, thirdUsersFile, thirdUser)
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := chownTree(dir, otherUser); err != nil {
		t.Fatal(err)
	}
	wantOwner(t, thirdUsersFile, thirdUser)
	wantOwner(t, outside, rootUser)
}

func TestWithOwner_OtherUsersFile_ErrorNamesOwnerAndFix(t *testing.T) {
	path, self := filepath.Join(t.TempDir(), AdminFileName), owner{uid: os.Geteuid()}
	if self.uid == 0 {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		chownAll(t, path, otherUser)
	} else {
		path = "/" // belongs to root
	}
	f := &DataDir{dir: "/data"}
	err := f.withOwner(&fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission})
	for _, want := range []string{path + " is owned by ", "the server is running as " + self.name(), "chown -R " + self.name() + " /data"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error %q, want it to contain %q", err, want)
		}
	}
}
