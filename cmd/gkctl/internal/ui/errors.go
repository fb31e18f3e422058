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

// Exit codes, as sysexits.h names them. They are part of the contract with scripts.
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
	ExitNotExec     = 126 // as in a shell: it cannot be executed; of run alone
	ExitNotFound    = 127 // as in a shell: it is not there; of run alone
	ExitInterrupted = 130
)

// UsageError is a bad flag, argument or context.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Usagef is a UsageError of that text.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// CodeError ends gkctl with a code; a nil error says nothing.
type CodeError struct {
	Code int
	Err  error
	// Hint says how to go on; optional.
	Hint string
}

func (e *CodeError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *CodeError) Unwrap() error { return e.Err }

// WithHint adds how to go on to an error that ends gkctl with code 1.
func WithHint(err error, format string, args ...any) error {
	return &CodeError{Code: ExitFailure, Err: err, Hint: fmt.Sprintf(format, args...)}
}

// Report prints an error, in one line and a hint, and returns the exit code.
func (s *IO) Report(cmd *cobra.Command, err error) int {
	if err == nil {
		return ExitOK
	}
	code, hint := Classify(cmd, err)
	if text := strings.TrimRight(Sentence(err), "\n"); text != "" {
		s.Say("gkctl: %s", text)
	}
	if hint != "" {
		s.Say("%s", hint)
	}
	return code
}

// HintNothingChosen follows the error of a change that matches no definition.
const HintNothingChosen = "Nothing was changed. `gkctl get` lists the definitions, `gkctl get -o wide` their labels."

// Classify is the exit code of an error, and how to go on.
func Classify(cmd *cobra.Command, err error) (code int, hint string) {
	switch { // whatever the command was about
	case Is[*client.UnauthenticatedError](err):
		return ExitNotAllowed, "--tls-cert and --tls-key, --bearer-token-file, their variables or a context say who we are."
	case Is[*client.ForbiddenError](err):
		return ExitNotAllowed, "`gkctl auth whoami` shows what is granted, `gkctl auth roles` what each role may do."
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
	case Is[*client.NothingChosenError](err):
		return ExitNoSuch, HintNothingChosen
	case Is[*client.NoSuchDefinitionError](err):
		return ExitNoSuch, "`gkctl get` lists the definitions."
	case Is[*client.DeniedError](err), Is[*client.NotValidError](err):
		return ExitNotAcquired, ""
	case errors.Is(err, client.ErrOutcomeUnknown):
		return ExitUnreachable, "Look before you repeat it: it may have been done."
	case recovering(err):
		return ExitUnreachable, "Definitions can be changed meanwhile. `gkctl status` shows for how long nothing is granted; it begins anew with each leader."
	case noLeader(err):
		return ExitUnreachable, "An election takes a few seconds. If it goes on, too few voters run: `gkctl cluster status` shows which members answer."
	case throttled(err):
		return ExitUnreachable, "Too many wrong tokens came from this address, of this or another program. Correct the token: `gkctl auth token create` makes another one."
	case Is[*client.CertificateError](err):
		return ExitUnreachable, "Waiting does not mend it. --tls-ca, --tls-cert, --tls-key, --tls-server-name, their variables or a context say which certificates count; `gkctl context list` shows which."
	case errors.Is(err, client.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return ExitUnreachable, "Is gatekeeperd running there? --endpoints, GK_ENDPOINTS or a context say where the servers are; `gkctl context list` shows which."
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

// Sentence is an error's text without what Go and gRPC say of a time that was over.
func Sentence(err error) string {
	return strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), "no answer in time")
}

// Is says whether an error of that type is in the chain of err.
func Is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// UnconfirmedError refuses a change that nobody has agreed to.
type UnconfirmedError struct{ err error }

func (e *UnconfirmedError) Error() string { return e.err.Error() }

func (e *UnconfirmedError) Unwrap() error { return e.err }
