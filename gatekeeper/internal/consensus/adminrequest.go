package consensus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// AdminFileName holds what the owner of the folder has left for the server's next start; see AdminRequest.
const AdminFileName = "bind-admin.json"

// AdminRequest asks the cluster to make a subject an administrator, in the name of the owner of a member's data folder.
type AdminRequest struct {
	Subject string `json:"subject"`
	Binding string `json:"binding"`
	// Author is the owner of the folder, as it calls itself.
	Author string    `json:"author"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// LeaveAdminRequest leaves a request in the data folder dir, whose server does not run, and returns whose folder it is.
// It replaces one that was left before. The file belongs to the owner of the folder if root leaves it. Errors:
// ErrFolderInUse, ErrForeignFolder, ErrFolderDamaged, ErrSucceeded, and those of the system.
func LeaveAdminRequest(dir string, request AdminRequest) (member string, cluster ClusterID, err error) {
	defer func() {
		if err != nil {
			err = ofFolder(dir, err)
		}
	}()
	// Like ConvertFolder, this does not create the LOCK file.
	r := &Remains{Dir: dir}
	err = r.open()
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	if err == nil && r.Succeeded != "" {
		err = succeededBy(r.Succeeded)
	}
	if err != nil {
		return "", ClusterID{}, err
	}
	f := &Folder{dir: dir}
	if f.lock, err = lockFolder(filepath.Join(dir, lockFileName)); err != nil {
		return "", ClusterID{}, err
	}
	to, top, err := heir(dir)
	if err == nil {
		err = errors.Join(f.write(AdminFileName, request), handOver(top, to))
	}
	err = errors.Join(err, f.Close())
	return r.MemberID, r.ClusterID, err
}

// AdminRequest is the request in the folder; nil: there is none.
func (f *Folder) AdminRequest() (*AdminRequest, error) {
	request := new(AdminRequest)
	switch err := f.read(AdminFileName, request); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // documented
	case err != nil:
		return nil, f.withOwner(err)
	}
	return request, nil
}

// DropAdminRequest removes the request, which was carried out.
func (f *Folder) DropAdminRequest() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.memory != nil {
		return nil // nobody leaves one there
	}
	if err := os.Remove(filepath.Join(f.dir, AdminFileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
