package ui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// IO are where a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	// InTTY and errTTY: a person types what is read, and sees what is written.
	InTTY, ErrTTY bool
}

// New is the IO of three files, each of which may be a terminal.
func New(in, out, err *os.File) *IO {
	return &IO{In: in, Out: out, Err: err, InTTY: isTerminal(in), ErrTTY: isTerminal(err)}
}

// isTerminal says whether f is a terminal. /dev/null passes for one, and nobody minds.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Say writes a line for a person to standard error.
func (s *IO) Say(format string, args ...any) { fmt.Fprintf(s.Err, format+"\n", args...) }

// Progress shows how far a long step is, to a person only. done wipes it.
func (s *IO) Progress(format string, args ...any) (done func()) {
	if !s.ErrTTY {
		return func() {}
	}
	text := fmt.Sprintf(format, args...)
	fmt.Fprint(s.Err, text)
	start := time.Now()
	return func() {
		fmt.Fprintf(s.Err, "\r%s %s\n", text, time.Since(start).Round(time.Millisecond))
	}
}

// PrintNames prints a name on each line.
func (s *IO) PrintNames(names []string) error {
	for _, n := range names {
		fmt.Fprintln(s.Out, n)
	}
	return nil
}

// Confirm asks a person whether to continue, and refuses where there is no person. about says what the question is about, and not what
// follows from a no.
func (s *IO) Confirm(ctx context.Context, about, question, not string) error {
	if !s.InTTY || !s.ErrTTY {
		return &UnconfirmedError{Usagef("%s; give --yes if that is meant", about)}
	}
	fmt.Fprintf(s.Err, "%s\n%s [y/N] ", about, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(s.In).ReadString('\n') // no answer is no
		answer <- line
	}()
	select {
	case line := <-answer:
		if word := strings.ToLower(strings.TrimSpace(line)); word == "y" || word == "yes" {
			return nil
		}
		return &UnconfirmedError{&CodeError{Code: ExitFailure, Err: fmt.Errorf("%s", not)}}
	case <-ctx.Done(): // interrupted while the terminal waits
		fmt.Fprintln(s.Err)
		return ctx.Err()
	}
}
