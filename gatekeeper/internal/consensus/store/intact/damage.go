package intact

import (
	"errors"
	"fmt"
	"io"
)

// ErrDamaged says that a data folder does not hold what was written to it. Nothing of it may be used: the damaged part
// may be an entry that other members have in another form, or a vote.
var ErrDamaged = errors.New("damaged")

// Damaged says what is wrong with a part of a data folder, and what to do.
func Damaged(part, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w; do not start a server on it: remove this member and let a new one join under a new id with an empty "+
		"folder, or recover from the folders of the others or a backup", ErrDamaged, part, fmt.Errorf(format, args...))
}

// ReadAt fills b from a file. A file that is too short is an error without the system's words, which would not name the
// cause.
func ReadAt(file io.ReaderAt, b []byte, at int64) error {
	_, err := file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return errors.New("the file ends before or in it")
	}
	return err
}
