package run

import "golang.org/x/sys/unix"

// size is enough for the log of a run, and soon full.
const size = "size=48m"

func mount(path string) error { return unix.Mount("tmpfs", path, "tmpfs", 0, size) }

// unmount detaches it also while a process that is about to end has it open.
func unmount(path string) { _ = unix.Unmount(path, unix.MNT_DETACH) }
