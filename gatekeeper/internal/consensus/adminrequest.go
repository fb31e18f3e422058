package consensus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// AdminFileName is the name of the file in which the data directory's owner leaves a request for the server's next
// start. See AdminRequest.
const AdminFileName = "bind-admin.json"

// AdminRequest asks the cluster to make a subject an administrator, on the authority of the owner of a member's data
// directory.
type AdminRequest struct {
	Subject string `json:"subject"`
	Binding string `json:"binding"`
	// Author is the name that the data directory's owner entered.
	Author string    `json:"author"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// LeaveAdminRequest leaves a request in the data directory dir, whose server must not be running, and returns the
// member and cluster to which the directory belongs. It replaces any earlier request. If root leaves the request, the
// file belongs to the directory's owner. It returns ErrDataDirInUse, ErrForeignDataDir, ErrDataDirDamaged,
// ErrSuperseded, or a system error.
func LeaveAdminRequest(dir string, request AdminRequest) (member string, cluster ClusterID, err error) {
	defer func() {
		if err != nil {
			err = wrapDataDirError(dir, err)
		}
	}()
	// Like ConvertDataDir, this does not create the LOCK file.
	r := &OfflineDir{Dir: dir}
	err = r.open()
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	if err == nil && r.SuccessorReason != "" {
		err = successorError(r.SuccessorReason)
	}
	if err != nil {
		return "", ClusterID{}, err
	}
	f := &DataDir{dir: dir}
	if f.lock, err = lockDataDir(filepath.Join(dir, lockFileName)); err != nil {
		return "", ClusterID{}, err
	}
	to, top, err := targetOwner(dir)
	if err == nil {
		err = errors.Join(f.write(AdminFileName, request), chownTree(top, to))
	}
	err = errors.Join(err, f.Close())
	return r.MemberID, r.ClusterID, err
}

// AdminRequest returns the request in the data directory, or nil if there is none.
func (f *DataDir) AdminRequest() (*AdminRequest, error) {
	request := new(AdminRequest)
	switch err := f.read(AdminFileName, request); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // documented
	case err != nil:
		return nil, f.withOwner(err)
	}
	return request, nil
}

// DropAdminRequest removes the request after it has been carried out.
func (f *DataDir) DropAdminRequest() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.memory != nil {
		return nil // requests exist only on disk
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
