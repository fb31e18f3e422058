package store

import (
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// Kind is how a data folder keeps its log. With either kind RaftFile has the term, the vote, and the place of the log.
type Kind string

const (
	// KindBolt keeps the log in RaftFile too. It is the default for a new folder.
	KindBolt Kind = "bolt"
	// KindWAL keeps the log in append-only files; see package wal.
	KindWAL Kind = "wal"
)

// ErrKind: the data folder has another log store than the one that it was opened with.
var ErrKind = errors.New("another log store")

// anotherKind is an ErrKind that names both kinds, and says what to do.
func anotherKind(own, want Kind) error {
	return fmt.Errorf("%w: its log is kept in %s, not in %s, and a folder keeps its log store for life: leave the choice out and start it as it is, or remove this "+
		"member and let a new one join under a new id with an empty folder, or make a new folder of this one by recover", ErrKind, own, want)
}

// kindOf reads the kind of a folder from the values in its RaftFile.
func kindOf(values *intact.Values) (Kind, error) {
	isWAL, err := wal.Kept(values)
	if isWAL {
		return KindWAL, err
	}
	return KindBolt, err
}
