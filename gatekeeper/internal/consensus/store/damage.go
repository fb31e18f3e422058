package store

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrDamaged says that a data folder does not hold what was written to it. Nothing of it may be used: what is wrong in it may
// be an entry that other members have otherwise, or a vote.
var ErrDamaged = errors.New("damaged")

// Damaged says what was found wrong with what of a data folder, and what to do.
func Damaged(what, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w; do not start a server on it: remove this member and let a new one join under a new id with an empty "+
		"folder, or recover from the folders of the others or a backup", ErrDamaged, what, fmt.Errorf(format, args...))
}

// damaged is Damaged of the log's file.
func damaged(format string, args ...any) error { return Damaged(RaftFile, format, args...) }

// careful runs f, in which bbolt reads its file. The file is mapped into memory and bbolt trusts it: a page that is missing is a
// fault of the memory, one that holds nonsense a panic. Either is ErrDamaged here, and after it bbolt may hold its locks for ever.
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
