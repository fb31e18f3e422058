package store

import (
	"encoding/binary"
	"errors"

	"github.com/hashicorp/raft"
)

// Raft's keys for the two halves of a vote, and Stable's key for both. They are frozen, because they are on disk.
const (
	keyVoteTerm = "LastVoteTerm"
	keyVoteCand = "LastVoteCand"
	keyVote     = "gatekeeper.vote"
)

// Stable is a raft.StableStore that guards its calls and writes a vote as one value; see the package documentation.
// Like Raft's own stable store, it must be used by one goroutine at a time.
type Stable struct {
	inner raft.StableStore
	guard *Guard
	queue *AppendQueue // drained before each write
	// held is the term of a vote whose candidate has not been set yet.
	held *uint64
}

var _ raft.StableStore = (*Stable)(nil)

// NewStable returns a Stable that guards inner. queue is the append queue of the member's log.
func NewStable(inner raft.StableStore, queue *AppendQueue) *Stable {
	return &Stable{inner: inner, guard: queue.guard, queue: queue}
}

// Set writes a value. Setting a vote's candidate writes the vote.
func (s *Stable) Set(key, val []byte) error {
	if string(key) != keyVoteCand {
		s.write("set", func() error { return s.inner.Set(key, val) })
		return nil
	}
	if s.held == nil {
		return errors.New("store: the vote's candidate was set before its term")
	}
	vote := append(binary.BigEndian.AppendUint64(nil, *s.held), val...)
	s.write("set vote", func() error { return s.inner.Set([]byte(keyVote), vote) })
	s.held = nil
	return nil
}

// Get reads a value.
func (s *Stable) Get(key []byte) ([]byte, error) {
	if string(key) != keyVoteCand {
		return s.get(key)
	}
	vote, err := s.vote()
	if err != nil {
		return nil, err
	}
	return vote[8:], nil
}

// SetUint64 writes a number. The term of a vote is held back until its candidate is set.
func (s *Stable) SetUint64(key []byte, val uint64) error {
	if string(key) == keyVoteTerm {
		s.held = &val
		return nil
	}
	s.write("set", func() error { return s.inner.SetUint64(key, val) })
	return nil
}

// write guards a write. A term or a vote must not reach the disk before the entries that the member sent as the leader
// of an earlier term.
func (s *Stable) write(op string, f func() error) {
	s.queue.Drain()
	s.guard.Do(op, f)
}

// GetUint64 reads a number.
func (s *Stable) GetUint64(key []byte) (val uint64, err error) {
	if string(key) == keyVoteTerm {
		vote, err := s.vote()
		if err != nil {
			return 0, err
		}
		return binary.BigEndian.Uint64(vote), nil
	}
	s.read(func() error {
		val, err = s.inner.GetUint64(key)
		return err
	})
	return val, err
}

// vote returns the stored vote: eight bytes of term, then the candidate.
func (s *Stable) vote() ([]byte, error) {
	vote, err := s.get([]byte(keyVote))
	if err != nil {
		return nil, err
	}
	if len(vote) < 8 {
		s.guard.Halt(damaged("the stored vote is %d bytes long", len(vote)))
	}
	return vote, nil
}

func (s *Stable) get(key []byte) (val []byte, err error) {
	s.read(func() error {
		val, err = s.inner.Get(key)
		return err
	})
	return val, err
}

// read guards a read. A missing key is a result, not a fault. Raft recognizes it by the exact error message.
func (s *Stable) read(f func() error) {
	s.guard.Do("get", func() error {
		if err := f(); err != nil && err.Error() != "not found" {
			return err
		}
		return nil
	})
}
