package store

import (
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// Kind is how a data folder keeps its log. The term, the vote and what says where the log is are in RaftFile in either case.
type Kind string

const (
	// KindBolt keeps the log in RaftFile too. It is that of a new folder when nothing else is said.
	KindBolt Kind = "bolt"
	// KindWAL keeps it in files to which is only ever appended.
	KindWAL Kind = "wal"
)

// ErrKind says that a data folder has another log store than it is to be opened with.
var ErrKind = errors.New("another log store")

// anotherKind says what is there and how to change it.
func anotherKind(own, want Kind) error {
	return fmt.Errorf("%w: its log is kept in %s, not in %s, and a folder keeps its log store for life: leave the choice out and start it as it is, or remove this "+
		"member and let a new one join under a new id with an empty folder, or make a new folder of this one by recover", ErrKind, own, want)
}

// kindOf is the kind of log to which RaftFile leads.
func kindOf(values *intact.Values) (Kind, error) {
	isWAL, err := wal.Kept(values)
	if isWAL {
		return KindWAL, err
	}
	return KindBolt, err
}
