package consensus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// owner is an operating-system user and group.
type owner struct{ uid, gid int }

// name returns the user's name, or its number if the name is unknown.
func (o owner) name() string {
	id := strconv.Itoa(o.uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// targetOwner returns the owner of the directory dir, and dir itself as top. Files that root writes there must belong
// to that owner. If dir does not exist yet, top is the outermost directory that must be created, and o is the owner of
// top's parent.
func targetOwner(dir string) (o owner, top string, err error) {
	top = filepath.Clean(dir)
	for path := top; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err == nil {
			o, _ = ownerOf(info)
			return o, top, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return o, top, err
		}
		top = path
	}
}

// chownTree makes o the owner of the files that root has created in top, so that a server running as another user can
// use its data directory. Other users' files keep their owners. If the caller is not root, chownTree does nothing,
// because other users already own the files they write and cannot change the owner.
func chownTree(top string, o owner) error {
	if os.Geteuid() != 0 || o.uid == 0 {
		return nil
	}
	root, err := os.OpenRoot(top) // so that no symbolic link leads outside
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if current, known := ownerOf(info); !known || current.uid != 0 {
			return nil
		}
		return root.Lchown(path, o.uid, o.gid)
	})
	return errors.Join(err, root.Close())
}

// withOwner extends a permission error with the file's owner and a command that changes the owner.
func (f *DataDir) withOwner(err error) error {
	denied, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(denied, fs.ErrPermission) {
		return err
	}
	info, statErr := os.Stat(denied.Path)
	if statErr != nil {
		return err
	}
	fileOwner, known := ownerOf(info)
	self := owner{uid: os.Geteuid()}
	if !known || fileOwner.uid == self.uid {
		return err
	}
	alternative := ""
	if fileOwner.uid != 0 {
		alternative = "run it as " + fileOwner.name() + ", or "
	}
	return fmt.Errorf("%w: %s is owned by %s, but the server is running as %s: %schange the owner with chown -R %s %s",
		err, denied.Path, fileOwner.name(), self.name(), alternative, self.name(), f.dir)
}
