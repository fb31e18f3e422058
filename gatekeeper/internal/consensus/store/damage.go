package store

import (
	"runtime/debug"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// ErrDamaged is intact.ErrDamaged.
var ErrDamaged = intact.ErrDamaged

// Damaged is intact.Damaged.
func Damaged(part, format string, args ...any) error { return intact.Damaged(part, format, args...) }

// damaged calls Damaged for RaftFile.
func damaged(format string, args ...any) error { return Damaged(RaftFile, format, args...) }

// catchPanics runs f, which uses bbolt. bbolt maps its file into memory and trusts it, so a missing page causes a
// memory fault, and a corrupt page causes a panic. catchPanics turns both into ErrDamaged. Afterwards, bbolt may hold
// its locks forever.
func catchPanics(f func() error) (panicked bool, err error) {
	before := debug.SetPanicOnFault(true) // for this goroutine
	defer func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil {
			panicked, err = true, damaged("it cannot be read: %v", p)
		}
	}()
	return false, f()
}
