package intact

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Acknowledged is a Log that keeps a mark of what it has acknowledged, and that never has a gap. It does not say that
// it is monotonic, although it takes no gap: Raft would then delete the log after every snapshot that a leader sends,
// also after one that arrives late and is older than entries which this member has acknowledged.
//
// Reads are safe for concurrent use. Raft calls StoreLogs and DeleteRange from one goroutine at a time.
type Acknowledged struct {
	Log
	mark  *Mark
	close func() error
}

// NewAcknowledged returns a Log of the entries of inner. close is called before the mark is closed.
func NewAcknowledged(inner Log, mark *Mark, close func() error) *Acknowledged {
	return &Acknowledged{inner, mark, close}
}

// Close closes the log, then the mark.
func (a *Acknowledged) Close() error {
	return errors.Join(a.close(), a.mark.file.Sync(), a.mark.Close())
}

// StoreLogs writes all entries or none. They follow the last one, without a gap: what they replace was deleted before,
// and a snapshot from a leader replaces a log that does not lead to it.
func (a *Acknowledged) StoreLogs(logs []*raft.Log) error {
	if len(logs) == 0 {
		return nil
	}
	last, err := a.Log.LastIndex()
	if err != nil {
		return err
	}
	for _, log := range logs {
		if last > 0 && log.Index != last+1 {
			return fmt.Errorf("entry %d cannot follow entry %d", log.Index, last)
		}
		last = log.Index
	}
	if err := a.Log.StoreLogs(logs); err != nil {
		return err
	}
	return a.mark.set(Place{last, logs[len(logs)-1].Term})
}

// DeleteRange deletes the entries from min to max, both included, at the front of the log, at its back, or all.
func (a *Acknowledged) DeleteRange(min, max uint64) error {
	first, err := a.Log.FirstIndex()
	if err != nil {
		return err
	}
	last, err := a.Log.LastIndex()
	switch {
	case err != nil:
		return err
	case first == 0 || max < first || min > last:
		return nil
	case first < min && max < last:
		return fmt.Errorf("deleting %d to %d leaves a hole in the log of %d to %d", min, max, first, last)
	case min < first:
		min = first
	}
	if max >= last { // the log ends earlier, and on disk the mark must never ask for what was deleted
		max = last
		var left Place
		if min > first {
			if left, err = placeOf(a.Log, min-1); err != nil {
				return err
			}
		}
		if err := errors.Join(a.mark.set(left), a.mark.file.Sync()); err != nil {
			return err
		}
	}
	return a.Log.DeleteRange(min, max)
}
