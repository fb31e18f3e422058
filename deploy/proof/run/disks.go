package run

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gatekeeperd/gatekeeper/deploy/servers"
)

// disks are small file systems in memory, one a server.
type disks struct {
	dir     string
	mounted []string
}

// ErrNoDisks says that this machine or user cannot mount disks.
var ErrNoDisks = errors.New("full disks need Linux, and root")

// add mounts one for the server with this id.
func (d *disks) add(id string) error {
	path := filepath.Join(d.dir, id)
	if err := mount(path); err != nil {
		return errors.Join(ErrNoDisks, err)
	}
	d.mounted = append(d.mounted, path)
	return nil
}

// full fills a server's disk.
func (d *disks) full(s *servers.Server) (func(), error) {
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
