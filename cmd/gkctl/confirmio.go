package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// confirm asks a person whether to go on; where there is none it refuses. about is what it is about, not is what is said when the
// answer is no.
func (s *streams) confirm(ctx context.Context, about, question, not string) error {
	if !s.inTTY || !s.errTTY {
		return &unconfirmedError{usagef("%s; give --yes if that is meant", about)}
	}
	fmt.Fprintf(s.err, "%s\n%s [y/N] ", about, question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(s.in).ReadString('\n') // no answer is no
		answer <- line
	}()
	select {
	case line := <-answer:
		if word := strings.ToLower(strings.TrimSpace(line)); word == "y" || word == "yes" {
			return nil
		}
		return &unconfirmedError{&codeError{code: exitFailure, err: fmt.Errorf("%s", not)}}
	case <-ctx.Done(): // interrupted while the terminal waits
		fmt.Fprintln(s.err)
		return ctx.Err()
	}
}
