package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// inTTY and errTTY: a person types what is read, and sees what is written.
	inTTY, errTTY bool
}

func newStreams(in, out, err *os.File) *streams {
	return &streams{in: in, out: out, err: err, inTTY: isTerminal(in), errTTY: isTerminal(err)}
}

// isTerminal says whether f is a terminal. /dev/null passes for one, and nobody minds.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say writes a line for a person to standard error.
func (s *streams) say(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) }

// progress shows how far a long step is, to a person only. done wipes it.
func (s *streams) progress(format string, args ...any) (done func()) {
	if !s.errTTY {
		return func() {}
	}
	text := fmt.Sprintf(format, args...)
	fmt.Fprint(s.err, text)
	start := time.Now()
	return func() {
		fmt.Fprintf(s.err, "\r%s %s\n", text, time.Since(start).Round(time.Millisecond))
	}
}

func (s *streams) printNames(names []string) error {
	for _, n := range names {
		fmt.Fprintln(s.out, n)
	}
	return nil
}
