package run

import "golang.org/x/sys/unix"

// size is large enough for a run's log, and small enough to fill quickly.
const size = "size=48m"

func mount(path string) error { return unix.Mount("tmpfs", path, "tmpfs", 0, size) }

// unmount detaches the file system even while an exiting process is still using it.
func unmount(path string) { _ = unix.Unmount(path, unix.MNT_DETACH) }
