package intact

import (
	"errors"
	"fmt"
	"io"
)

// ErrDamaged means that a data directory does not contain what was written to it. No part of it may be used: the
// damaged part may be a vote, or an entry that now differs from the other members' copies.
var ErrDamaged = errors.New("damaged")

// Damaged returns an ErrDamaged that names the damaged part of a data directory, the cause, and the next steps.
func Damaged(part, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w; do not start a server on it: remove this member and let a new one join under a new id with an empty "+
		"directory, or recover from the other members' directories or from a backup", ErrDamaged, part, fmt.Errorf(format, args...))
}

// ReadAt fills b from a file. If the file is too short, it returns a descriptive error instead of io.EOF.
func ReadAt(file io.ReaderAt, b []byte, at int64) error {
	_, err := file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is truncated")
	}
	return err
}
