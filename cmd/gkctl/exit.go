package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
)

// Exit codes, as sysexits.h names them. They are part of the contract with scripts.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 64  // EX_USAGE
	exitBadInput    = 65  // EX_DATAERR
	exitUnreachable = 69  // EX_UNAVAILABLE
	exitLost        = 70  // EX_SOFTWARE
	exitNotAcquired = 75  // EX_TEMPFAIL
	exitNotAllowed  = 77  // EX_NOPERM; of run alone
	exitNoSuch      = 78  // EX_CONFIG
	exitNotExec     = 126 // as in a shell: it cannot be executed; of run alone
	exitNotFound    = 127 // as in a shell: it is not there; of run alone
	exitInterrupted = 130
)

// usageError is a bad flag, argument or context.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// codeError ends gkctl with a code; a nil error says nothing.
type codeError struct {
	code int
	err  error
	// hint says how to go on; optional.
	hint string
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// withHint adds how to go on to an error that ends gkctl with code 1.
func withHint(err error, format string, args ...any) error {
	return &codeError{code: exitFailure, err: err, hint: fmt.Sprintf(format, args...)}
}

// report tells of an error, in one line and a hint, and returns the exit code.
func (s *streams) report(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	code, hint := classify(cmd, err)
	if text := strings.TrimRight(sentence(err), "\n"); text != "" {
		s.say("gkctl: %s", text)
	}
	if hint != "" {
		s.say("%s", hint)
	}
	return code
}

// classify is the exit code of an error, and how to go on.
func classify(cmd *cobra.Command, err error) (code int, hint string) {
	if e, ok := errors.AsType[*codeError](err); ok {
		if e.hint == "" && e.err != nil && e.code == exitFailure {
			_, hint = classify(cmd, e.err)
			return e.code, hint
		}
		return e.code, e.hint
	}
	switch {
	case is[*usageError](err):
		if cmd == nil {
			return exitUsage, ""
		}
		return exitUsage, fmt.Sprintf("See `%s --help`.", cmd.CommandPath())
	case is[*deffile.Error](err), is[*client.InvalidFieldError](err):
		return exitBadInput, ""
	case choseNothing(err):
		return exitNoSuch, ""
	case is[*client.NoSuchDefinitionError](err):
		return exitNoSuch, "`gkctl get` lists the definitions."
	case is[*client.Denied](err), is[*client.NotValidError](err):
		return exitNotAcquired, ""
	case errors.Is(err, client.ErrOutcomeUnknown):
		return exitUnreachable, "Look before you repeat it: it may have been done."
	case recovering(err):
		return exitUnreachable, "Definitions can be changed meanwhile. `gkctl status` shows for how long nothing is granted; it begins anew with each leader."
	case noLeader(err):
		return exitUnreachable, "An election takes a few seconds. If it goes on, too few voters run: `gkctl cluster status` shows which members answer."
	case is[*client.CertificateError](err):
		return exitUnreachable, "Waiting does not mend it. --tls-ca, --tls-cert, --tls-key, --tls-server-name, their variables or a context say which certificates count; `gkctl context list` shows which."
	case errors.Is(err, client.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return exitUnreachable, "Is gatekeeperd running there? --endpoints, GK_ENDPOINTS or a context say where the servers are; `gkctl context list` shows which."
	}
	return exitFailure, ""
}

func noLeader(err error) bool {
	e, ok := errors.AsType[*client.UnavailableError](err)
	return ok && e.NoLeader()
}

func recovering(err error) bool {
	e, ok := errors.AsType[*client.UnavailableError](err)
	return ok && e.Recovering()
}

// sentence is an error's text without what Go and gRPC say of a time that was over.
func sentence(err error) string {
	return strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), "no answer in time")
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// unconfirmedError refuses a change that nobody has agreed to.
type unconfirmedError struct{ err error }

func (e *unconfirmedError) Error() string { return e.err.Error() }

func (e *unconfirmedError) Unwrap() error { return e.err }

// choseNothing says whether the servers refused a change because its selector matches nothing.
func choseNothing(err error) bool {
	e, ok := errors.AsType[*client.StatusError](err)
	return ok && e.Code == codes.NotFound && e.Reason == "NOTHING_CHOSEN"
}
