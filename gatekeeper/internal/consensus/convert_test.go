package consensus

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestConvertFolder_NotADataFolderOrInUse_IsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := ConvertFolder(dir); !errors.Is(err, ErrForeignFolder) {
		t.Errorf("an empty folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	dir = found(t)
	lock, err := lockFolder(filepath.Join(dir, lockFileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ConvertFolder(dir); !errors.Is(err, ErrFolderInUse) {
		t.Errorf("a folder with a server: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := ConvertFolder(dir); err != nil || len(kept) > 0 {
		t.Errorf("a folder in the format of this build: %q, %v", kept, err)
	}
}
