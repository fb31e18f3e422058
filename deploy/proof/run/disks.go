package run

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// disks is a set of small in-memory file systems, one per server.
type disks struct {
	dir     string
	mounted []string
}

// add mounts a disk for the server with the given id.
func (d *disks) add(id string) error {
	path := filepath.Join(d.dir, id)
	if err := mount(path); err != nil {
		return fmt.Errorf("%w: full disks require Linux and root: %w", ErrUnsupported, err)
	}
	d.mounted = append(d.mounted, path)
	return nil
}

// fill fills a server's disk and returns a function that frees the space again.
func (d *disks) fill(s *servers.Server) (func(), error) {
	path := filepath.Join(d.dir, s.ID, "ballast")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/16]
		}
	}
	return func() { _ = os.Remove(path) }, nil
}

func (d *disks) remove() {
	for _, path := range d.mounted {
		unmount(path)
	}
}

// diskFile is the name of the file that controls a server's simulated disk faults. It is in the server's working
// directory; see the build tag `faulty`.
const diskFile = "disk"

func enableFaults(s *servers.Server) { s.Env = append(s.Env, "FAULTY_DISK="+diskFile) }

// setDisk sets the state of a server's simulated disk. It replaces the file atomically, because the server reads it
// before every write.
func setDisk(s *servers.Server, state string) error {
	file := filepath.Join(filepath.Dir(s.Data()), diskFile)
	if err := os.WriteFile(file+".new", []byte(state), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
