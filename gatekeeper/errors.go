package gatekeeper

import (
	"errors"
	"fmt"
)

// Errors of Open, for errors.Is. Bad configurations are a *ConfigError or a *DefinitionError instead.
var (
	// ErrListen: an address cannot be listened on, for example because another process does.
	ErrListen = errors.New("cannot listen")
	// ErrDataDir: the data folder cannot be made, read or written, or is damaged.
	ErrDataDir = errors.New("cannot use the data folder")
	// ErrDataDirLocked: another server is using the data folder.
	ErrDataDirLocked = errors.New("the data folder is in use")
	// ErrForeignDataDir: the data folder belongs to another member than the configured one, or to another cluster.
	ErrForeignDataDir = errors.New("the data folder belongs to another member or cluster")
	// ErrLogStore: the data folder keeps its log in another way than Config.LogStore says.
	ErrLogStore = errors.New("cannot change the log store of a data folder")
	// ErrJoin: no server of the cluster took this one in before the context ended.
	ErrJoin = errors.New("cannot join")
	// ErrJoinRefused: the cluster will not take this member in, however often it is asked.
	ErrJoinRefused = errors.New("the cluster refuses this member")
	// ErrMembersMissing: the context ended before all of Members were there to start a new cluster.
	ErrMembersMissing = errors.New("not all members of the new cluster are there")
	// ErrMemberHasData: this server's data folder is empty, and another one of Members belongs to a cluster. A server
	// that has lost its data returns under a new id, with Join. A new cluster starts when the data folders of all
	// Members are empty.
	ErrMemberHasData = errors.New("another member has data")
	// ErrRemoved is Server.Err of a server that was removed from the cluster. It is of no use any more: a new one needs
	// a new id and an empty data folder.
	ErrRemoved = errors.New("removed")
	// ErrSucceeded is Server.Err of a server whose cluster was recovered without it. It must not run any more: what the
	// new cluster grants it would grant too.
	ErrSucceeded = errors.New("succeeded by a recovered cluster")
	// ErrClosed: the server is closing or closed.
	ErrClosed = errors.New("closed")
)

// DefinitionError says which of Config.Definitions breaks which rule.
type DefinitionError struct {
	// Index is its place in Config.Definitions, from 0.
	Index int
	Name  string
	// Field is the field at fault, as the API names it: "group_pattern". Empty when the fault is not in one field.
	Field string
	// Err says what is wrong, for a person.
	Err error
}

func (e *DefinitionError) Error() string {
	return fmt.Sprintf("definition %d, %q: %v", e.Index, e.Name, e.Err)
}

func (e *DefinitionError) Unwrap() error { return e.Err }
