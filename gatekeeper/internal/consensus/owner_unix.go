//go:build unix

package consensus

import (
	"io/fs"
	"syscall"
)

// ownerOf returns the owner of a file, if the system reports it.
func ownerOf(info fs.FileInfo) (_ owner, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	return owner{int(stat.Uid), int(stat.Gid)}, true
}
