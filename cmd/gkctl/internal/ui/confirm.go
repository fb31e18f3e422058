package ui

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// Confirm asks a person whether to go on; where there is none it refuses. about is what it is about, not is what is said when the
// answer is no.
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
