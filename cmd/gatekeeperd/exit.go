package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

// Exit codes, with the values from sysexits.h. Scripts and service units rely on them, and --help lists them.
const (
	exitStopped     = 0
	exitUsage       = 64 // EX_USAGE
	exitDefinitions = 65 // EX_DATAERR
	exitUnavailable = 69 // EX_UNAVAILABLE
	exitFault       = 70 // EX_SOFTWARE
	exitDataDir     = 73 // EX_CANTCREAT
	exitLocked      = 75 // EX_TEMPFAIL
	exitForeign     = 78 // EX_CONFIG
)

const exitCodes = `Exit codes:
  0    stopped gracefully by a signal (SIGTERM or SIGINT)
  64   bad flag, variable, configuration file or certificate
  65   bad definitions file
  69   an address is in use, or none of the servers to join responded
  70   stopped after a fault, such as a disk that fails or hangs
  73   the data directory cannot be created or used, or is damaged
  75   the data directory is in use by another server
  78   the data directory belongs to another server or cluster, or has a different --log-store; or
       the cluster refuses this member, has removed it, or was recovered without it; or
       the directory is empty but another one of --members has data
A second signal ends the process immediately, with exit code 130 after SIGINT or 143 after SIGTERM, as reported by a shell.`

// usageError reports a bad flag, environment variable or configuration file.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitStopped
	case is[*usageError](err), is[*gatekeeper.ConfigError](err):
		return exitUsage
	case is[*deffile.Error](err), is[*gatekeeper.DefinitionError](err), errors.Is(err, gatekeeper.ErrBackup):
		return exitDefinitions
	case errors.Is(err, gatekeeper.ErrDataDirLocked):
		return exitLocked
	case errors.Is(err, gatekeeper.ErrForeignDataDir), errors.Is(err, gatekeeper.ErrJoinRefused), errors.Is(err, gatekeeper.ErrRemoved),
		errors.Is(err, gatekeeper.ErrSuperseded), errors.Is(err, gatekeeper.ErrLogStore), errors.Is(err, gatekeeper.ErrMemberHasData):
		return exitForeign
	case errors.Is(err, gatekeeper.ErrDataDir):
		return exitDataDir
	case errors.Is(err, gatekeeper.ErrListen), errors.Is(err, gatekeeper.ErrJoin):
		return exitUnavailable
	case errors.Is(err, context.Canceled):
		return exitStopped // a signal arrived during startup
	}
	return exitFault
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
