package gatekeeper

import (
	"errors"
	"fmt"
)

// Errors returned by Open, for errors.Is. An invalid configuration is reported as a *ConfigError or a *DefinitionError
// instead.
var (
	// ErrListen means that the server cannot listen on an address, for example because another process is already
	// listening on it.
	ErrListen = errors.New("cannot listen")
	// ErrDataDir means that the data directory cannot be created, read or written, or is damaged.
	ErrDataDir = errors.New("cannot use the data directory")
	// ErrDataDirLocked means that another server is using the data directory.
	ErrDataDirLocked = errors.New("the data directory is in use")
	// ErrForeignDataDir means that the data directory belongs to a member other than the configured one, or to another
	// cluster.
	ErrForeignDataDir = errors.New("the data directory belongs to another member or cluster")
	// ErrLogStore means that the data directory's log store differs from Config.LogStore.
	ErrLogStore = errors.New("cannot change the log store of a data directory")
	// ErrJoin means that no server in the cluster accepted this one before the context ended.
	ErrJoin = errors.New("cannot join")
	// ErrJoinRefused means that the cluster does not accept this member, and retrying cannot help.
	ErrJoinRefused = errors.New("the cluster refuses this member")
	// ErrMembersMissing means that the context ended before all Members were running, so the new cluster did not start.
	ErrMembersMissing = errors.New("not all members of the new cluster are running")
	// ErrMemberHasData means that this server's data directory is empty, but another server in Members already belongs
	// to a cluster. A server that has lost its data must join again under a new id, with Join. A new cluster starts
	// only if the data directories of all Members are empty.
	ErrMemberHasData = errors.New("another member has data")
	// ErrRemoved is returned by Server.Err if the server was removed from the cluster. The server must not be started
	// again: its replacement needs a new id and an empty data directory.
	ErrRemoved = errors.New("removed")
	// ErrSuperseded is returned by Server.Err if the cluster was recovered without this server. The server must not be
	// started again, because both clusters would grant the same permits.
	ErrSuperseded = errors.New("superseded by a recovered cluster")
	// ErrClosed means that the server is closing or closed.
	ErrClosed = errors.New("closed")
)

// DefinitionError reports which of Config.Definitions is invalid, and why.
type DefinitionError struct {
	// Index is the index in Config.Definitions, from 0.
	Index int
	Name  string
	// Field is the invalid field's name in the API, for example "group_pattern". It is empty if the error does not
	// concern a single field.
	Field string
	// Err describes what is wrong.
	Err error
}

func (e *DefinitionError) Error() string {
	return fmt.Sprintf("definition %d, %q: %v", e.Index, e.Name, e.Err)
}

func (e *DefinitionError) Unwrap() error { return e.Err }
