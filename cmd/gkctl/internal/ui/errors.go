package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
)

// Exit codes, named as in sysexits.h. Scripts rely on them.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 64  // EX_USAGE
	ExitBadInput    = 65  // EX_DATAERR
	ExitUnreachable = 69  // EX_UNAVAILABLE
	ExitLost        = 70  // EX_SOFTWARE
	ExitNotAcquired = 75  // EX_TEMPFAIL
	ExitNotAllowed  = 77  // EX_NOPERM
	ExitNoSuch      = 78  // EX_CONFIG
	ExitNotExec     = 126 // as in a shell: the command cannot be executed (run and work)
	ExitNotFound    = 127 // as in a shell: the command was not found (run and work)
	ExitInterrupted = 130
)

// UsageError reports a bad flag, argument or context.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Usagef returns a UsageError with the formatted text.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// CodeError is an error with an exit code. If Err is nil, gkctl prints no message.
type CodeError struct {
	Code int
	Err  error
	// Hint optionally suggests the next step to the user.
	Hint string
}

func (e *CodeError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *CodeError) Unwrap() error { return e.Err }

// WithHint adds a hint to an error. The exit code is 1.
func WithHint(err error, format string, args ...any) error {
	return &CodeError{Code: ExitFailure, Err: err, Hint: fmt.Sprintf(format, args...)}
}

// Report prints an error and its hint to standard error and returns the exit code.
func (s *IO) Report(cmd *cobra.Command, err error) int {
	if err == nil {
		return ExitOK
	}
	code, hint := Classify(cmd, err)
	if text := strings.TrimRight(ErrorText(err), "\n"); text != "" {
		s.Logf("gkctl: %s", text)
	}
	if hint != "" {
		s.Logf("%s", hint)
	}
	return code
}

// HintNoMatch is the hint for a change that matches no definitions.
const HintNoMatch = "Nothing was changed. `gkctl get` lists the definitions, and `gkctl get -o wide` also shows their labels."

// Classify returns the exit code and the hint for an error.
func Classify(cmd *cobra.Command, err error) (code int, hint string) {
	switch { // the code for these errors is the same for every command
	case Is[*client.UnauthenticatedError](err):
		return ExitNotAllowed, "Pass --tls-cert and --tls-key, or --bearer-token-file. You can also set the corresponding environment variables or use a context."
	case Is[*client.ForbiddenError](err):
		return ExitNotAllowed, "`gkctl auth whoami` shows what you may do, and `gkctl auth roles` shows what each role may do."
	}
	if e, ok := errors.AsType[*CodeError](err); ok {
		if e.Hint == "" && e.Err != nil && e.Code == ExitFailure {
			_, hint = Classify(cmd, e.Err)
			return e.Code, hint
		}
		return e.Code, e.Hint
	}
	switch {
	case Is[*UsageError](err):
		if cmd == nil {
			return ExitUsage, ""
		}
		return ExitUsage, fmt.Sprintf("See `%s --help`.", cmd.CommandPath())
	case Is[*deffile.Error](err), Is[*client.InvalidFieldError](err):
		return ExitBadInput, ""
	case Is[*client.NoMatchError](err):
		return ExitNoSuch, HintNoMatch
	case Is[*client.NoSuchDefinitionError](err):
		return ExitNoSuch, "`gkctl get` lists the definitions."
	case Is[*client.DeniedError](err), Is[*client.NotValidError](err):
		return ExitNotAcquired, ""
	case errors.Is(err, client.ErrOutcomeUnknown):
		return ExitUnreachable, "The change may have been made. Check before you retry it."
	case recovering(err):
		return ExitUnreachable, "Definitions can be changed in the meantime. `gkctl status` shows how long the wait will be; it starts over with each new leader."
	case noLeader(err):
		return ExitUnreachable, "An election takes a few seconds. If this continues, too few voters are running: `gkctl cluster status` shows which members are responding."
	case throttled(err):
		return ExitUnreachable, "Too many invalid tokens were sent from this address, by this or another program. Correct the token, or create a new one with `gkctl auth token create`."
	case Is[*client.CertificateError](err):
		return ExitUnreachable, "Retrying will not help. Set the certificates with --tls-ca, --tls-cert, --tls-key and --tls-server-name, with the corresponding environment variables, or with a context; `gkctl context list` shows the contexts."
	case errors.Is(err, client.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return ExitUnreachable, "Is gatekeeperd running there? Set the addresses with --endpoints, GK_ENDPOINTS or a context; `gkctl context list` shows the contexts."
	}
	return ExitFailure, ""
}

func noLeader(err error) bool {
	e, ok := errors.AsType[*client.UnavailableError](err)
	return ok && e.NoLeader()
}

func recovering(err error) bool {
	e, ok := errors.AsType[*client.UnavailableError](err)
	return ok && e.Recovering()
}

func throttled(err error) bool {
	e, ok := errors.AsType[*client.UnavailableError](err)
	return ok && e.Throttled()
}

// ErrorText returns the text of an error. It replaces the text of context.DeadlineExceeded.
func ErrorText(err error) string {
	return strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), "timed out waiting for a response")
}

// Is reports whether the chain of err contains an error of type T.
func Is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// UnconfirmedError is returned for a change that was not confirmed.
type UnconfirmedError struct{ err error }

func (e *UnconfirmedError) Error() string { return e.err.Error() }

func (e *UnconfirmedError) Unwrap() error { return e.err }
