package batcher

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// run is the batcher's goroutine. It processes one entry after another until Close.
func (b *Batcher) run() {
	defer close(b.stopped)
	defer b.refuseWaiting()
	for {
		select {
		case <-b.closing:
			return
		case <-b.wake:
		}
		for b.next() {
		}
	}
}

// next hands over one entry, waits for its outcome, and answers its commands. It returns false when no commands are
// waiting or the batcher is closing.
func (b *Batcher) next() bool {
	select {
	case <-b.closing:
		return false
	default:
	}
	fromBacklog := b.fillBatch()
	if fromBacklog == 0 {
		return false
	}
	defer func() { clear(b.batch); clear(b.cmds) }() // so that answered commands can be garbage collected

	entry, n, err := b.encodeBatch()
	b.mu.Lock()
	b.waiting.pop(min(n, fromBacklog))
	b.waiting.push(b.batch[max(n, fromBacklog):]...)
	b.mu.Unlock()
	calls := b.batch[:n]
	if err != nil {
		answer(calls, Outcome{Err: fmt.Errorf("%w: %w", consensus.ErrNotAppended, err)})
		return true
	}

	proposedAt := time.Now()
	p := b.log.Append(entry)
	select {
	case <-p.Done():
	case <-b.closing:
		select {
		case <-p.Done(): // both are ready: report the known outcome
		default:
			b.observe(Entry{Commands: n, Bytes: len(entry), Took: time.Since(proposedAt), Err: consensus.ErrUnknownOutcome})
			answer(calls, Outcome{ProposedAt: proposedAt, Err: fmt.Errorf("%w: %w", consensus.ErrUnknownOutcome, consensus.ErrClosed)})
			return false
		}
	}
	err = deliver(calls, p.Wait(), proposedAt)
	b.observe(Entry{Commands: n, Bytes: len(entry), Took: time.Since(proposedAt), Err: err})
	return true
}

// fillBatch fills the batch with the first waiting calls, which remain in the backlog, and then with the calls that the
// function set by Complete adds. It returns the number of calls from the backlog.
func (b *Batcher) fillBatch() (fromBacklog int) {
	b.mu.Lock()
	b.batch = b.waiting.front(b.batch[:0], MaxCommands)
	complete := b.complete
	b.mu.Unlock()
	fromBacklog = len(b.batch)
	b.cmds = b.cmds[:0]
	for _, c := range b.batch {
		b.cmds = append(b.cmds, c.Command)
	}
	if fromBacklog > 0 {
		for _, c := range complete(b.cmds) {
			b.batch, b.cmds = append(b.batch, c), append(b.cmds, c.Command)
		}
	}
	return fromBacklog
}

// encodeBatch encodes as many of the batch's first commands as fit into one entry, and returns their number. If the
// commands do not fit or cannot be encoded together, it tries half as many until it succeeds. Only the codec knows
// their sizes, and both cases are rare. An error applies only to the first command.
func (b *Batcher) encodeBatch() (entry []byte, n int, err error) {
	level := b.level()
	for n = len(b.cmds); ; n /= 2 {
		entry, err = b.encode(level, b.cmds[:n])
		if n == 1 || err == nil && len(entry) <= MaxBytes {
			return entry, n, err
		}
	}
}

// deliver reports an entry's outcome to its commands, and returns the error they all share.
func deliver(calls []Call, a consensus.Appended, proposedAt time.Time) error {
	err := a.Err
	switch {
	case err == nil && len(a.Results) != len(calls):
		err = fmt.Errorf("%w: the entry at index %d has %d results for %d commands, which is a bug in the state machine",
			consensus.ErrUnknownOutcome, a.Index, len(a.Results), len(calls))
	case err != nil && !errors.Is(err, consensus.ErrNotAppended) && !errors.Is(err, consensus.ErrUnknownOutcome):
		err = fmt.Errorf("%w: %w", consensus.ErrUnknownOutcome, err) // any other error leaves the outcome unknown
	}
	if err != nil {
		answer(calls, Outcome{ProposedAt: proposedAt, Err: err})
		return err
	}
	for i, c := range calls {
		c.Done(Outcome{Result: a.Results[i], Index: a.Index, ProposedAt: proposedAt})
	}
	return nil
}

// refuseWaiting answers the waiting commands when the batcher closes. No more can be enqueued at that point.
func (b *Batcher) refuseWaiting() {
	b.mu.Lock()
	calls := b.waiting.front(nil, b.waiting.len())
	b.waiting.pop(len(calls))
	b.mu.Unlock()
	answer(calls, Outcome{Err: fmt.Errorf("%w: %w", consensus.ErrNotAppended, consensus.ErrClosed)})
}

func answer(calls []Call, o Outcome) {
	for _, c := range calls {
		c.Done(o)
	}
}
