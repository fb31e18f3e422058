package store

import (
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// Kind is the kind of log store in a data directory. With either kind, RaftFile contains the term and the vote, and
// records where the log is.
type Kind string

const (
	// KindBolt stores the log in RaftFile as well. It is the default for a new directory.
	KindBolt Kind = "bolt"
	// KindWAL stores the log in append-only files; see package wal.
	KindWAL Kind = "wal"
)

// ErrKind means that the data directory has a different kind of log store than requested.
var ErrKind = errors.New("wrong log store")

// kindMismatch returns an ErrKind that names both kinds and suggests what to do.
func kindMismatch(own, want Kind) error {
	return fmt.Errorf("%w: its log is stored in %s, not in %s, and a data directory's log store cannot be changed: start the server without --log-store, or remove this "+
		"member and let a new one join under a new id with an empty directory, or create a new directory from this one with recover", ErrKind, own, want)
}

// kindOf reads the kind of a data directory from the values in its RaftFile.
func kindOf(values *intact.Values) (Kind, error) {
	isWAL, err := wal.Exists(values)
	if isWAL {
		return KindWAL, err
	}
	return KindBolt, err
}
