package held

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/child"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// StopReason returns why a command must stop, as a constant for programs and as text.
func StopReason(cause error) (word, text string) {
	for _, s := range []struct {
		err  error
		word string
	}{
		{client.ErrRevoked, "REVOKED"}, {client.ErrMoved, "MOVED"}, {client.ErrTakenOver, "TAKEN_OVER"}, {client.ErrHeldTooLong, "HELD_TOO_LONG"},
		{client.ErrTaskCancelled, "CANCELLED"}, {client.ErrPaused, "PAUSED"}, {client.ErrCordoned, "CORDONED"}, {client.ErrExpiring, "NO_ANSWER"}, {client.ErrSuperseded, "SUPERSEDED"}, {client.ErrLost, "LOST"},
	} {
		if errors.Is(cause, s.err) {
			word, text = s.word, s.err.Error()
			break
		}
	}
	if e, ok := errors.AsType[*client.StopError](cause); ok && text != "" {
		if e.Message != "" {
			text += ": " + e.Message
		}
		return word, text
	}
	return cmp.Or(word, "STOPPED"), cause.Error()
}

// TooShort returns the error for permits that are too short for KillAfter.
func TooShort(semaphore string, duration, killAfter time.Duration) error {
	maxKillAfter := duration/2 - killReserve
	hint := "Increase the duration."
	switch {
	case maxKillAfter == 0:
		hint = "Increase the duration, or pass --kill-after 0."
	case maxKillAfter > 0:
		hint = fmt.Sprintf("Increase the duration, or pass --kill-after %s or less.", maxKillAfter)
	}
	return &ui.CodeError{Code: ui.ExitUsage, Hint: hint, Err: fmt.Errorf(
		"permits for %s last %s, which is too short for --kill-after %s: the definition's duration must be at least %s to ensure that the command stops before another one can start",
		semaphore, duration, killAfter, 2*StopTime(killAfter))}
}

// SignalText returns the signal that killed a command, as in ", by SIGTERM", or an empty string if it exited.
func SignalText(s child.State) string {
	if s.Signal == 0 {
		return ""
	}
	return ", by " + child.SignalName(s.Signal)
}

// Terminates reports whether a signal terminates a process that does not handle it.
func Terminates(s os.Signal) bool {
	switch s {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM:
		return true
	}
	return false
}

// ExitCode returns the exit code for a process that a signal terminated.
func ExitCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return ui.ExitInterrupted
}
