package store

import (
	"runtime/debug"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// ErrDamaged is that of package intact.
var ErrDamaged = intact.ErrDamaged

// Damaged is that of package intact.
func Damaged(part, format string, args ...any) error { return intact.Damaged(part, format, args...) }

// damaged is Damaged of RaftFile.
func damaged(format string, args ...any) error { return Damaged(RaftFile, format, args...) }

// careful runs f, in which bbolt reads its file. The file is mapped into memory and bbolt trusts it: a missing page is
// a memory fault, and a page of nonsense is a panic. Either is ErrDamaged here, and after it bbolt may hold its locks
// for ever.
func careful(f func() error) (panicked bool, err error) {
	before := debug.SetPanicOnFault(true) // for this goroutine
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			panicked, err = true, damaged("it cannot be read: %v", p)
		}
	}()
	return false, f()
}
