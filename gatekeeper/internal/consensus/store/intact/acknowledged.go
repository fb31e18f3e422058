package intact

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Acknowledged is a Log that never has a gap and records its last acknowledged entry in a Mark. It does not declare
// itself monotonic, even though it allows no gaps, because Raft would then delete the log after every snapshot that a
// leader sends, even one that arrives late and is older than entries that this member has acknowledged.
//
// Reads are safe for concurrent use. StoreLogs and DeleteRange must be called by one goroutine at a time, except that a
// DeleteRange that keeps the last entry may run concurrently with StoreLogs.
type Acknowledged struct {
	Log
	mark  *Mark
	close func() error
}

// NewAcknowledged wraps inner. close is called before the mark is closed.
func NewAcknowledged(inner Log, mark *Mark, close func() error) *Acknowledged {
	return &Acknowledged{inner, mark, close}
}

// Close closes the log, then the mark.
func (a *Acknowledged) Close() error {
	return errors.Join(a.close(), a.mark.file.Sync(), a.mark.Close())
}

// StoreLogs writes all entries or none. They must follow the last stored entry without a gap. Entries that they replace
// must already have been deleted. In an empty log, the first entry may have any index, because a leader's snapshot
// replaces a log that does not contain the snapshot's last entry.
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
	return a.mark.set(Position{last, logs[len(logs)-1].Term})
}

// DeleteRange deletes the entries from min to max, inclusive. The range must include the first or the last entry of the
// log, or lie outside the log.
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
		return fmt.Errorf("deleting entries %d to %d would leave a hole in the log, which contains entries %d to %d", min, max, first, last)
	case min < first:
		min = first
	}
	if max >= last { // the log becomes shorter, and the mark on disk must never require a deleted entry
		max = last
		var newLast Position
		if min > first {
			if newLast, err = positionAt(a.Log, min-1); err != nil {
				return err
			}
		}
		if err := errors.Join(a.mark.set(newLast), a.mark.file.Sync()); err != nil {
			return err
		}
	}
	return a.Log.DeleteRange(min, max)
}
