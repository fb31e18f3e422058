package batcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

const (
	// MaxCommands is the most commands that one entry takes from those that wait, and the most that complete it.
	MaxCommands = 256
	// MaxBytes is the most bytes of one entry of several commands. A command that is larger has an entry for itself.
	MaxBytes = 512 << 10
	// MaxWaiting is the most commands that wait for an entry, unless WithMaxWaiting says otherwise.
	MaxWaiting = 100_000
)

// ErrOverloaded is why a command was refused at once: too many wait already. Such an error is also a
// consensus.ErrNotAppended.
var ErrOverloaded = errors.New("too many commands wait for the log; try again later or at a lower rate")

// Log is where entries go; *consensus.Node is one.
type Log interface {
	// Append hands the entry over before it returns, and keeps it.
	Append(entry []byte) *consensus.Pending
}

// Outcome is what became of one command. Exactly one holds: Err is nil and Result is what the command did;
// errors.Is(Err, consensus.ErrNotAppended), and it certainly did nothing and never will; errors.Is(Err,
// consensus.ErrUnknownOutcome).
type Outcome struct {
	Result fsm.Result
	// Index is that of the entry when Err is nil.
	Index uint64
	// Handed is the moment just before the entry was handed to Raft, with a monotonic reading. It is zero when the
	// command never left the batcher, and set when Raft refused it.
	Handed time.Time
	Err    error
}

// Entry is what an observer gets of an entry whose outcome is known.
type Entry struct {
	Commands, Bytes int
	// Took is the time from handing it over to its end.
	Took time.Duration
	Err  error
}

// Option changes how a Batcher works.
type Option func(*Batcher)

// WithObserver has fn called after every entry, on the batcher's goroutine: it must not block.
func WithObserver(fn func(Entry)) Option { return func(b *Batcher) { b.observe = fn } }

// WithMaxWaiting sets the most commands that wait for an entry.
func WithMaxWaiting(n int) Option { return func(b *Batcher) { b.maxWaiting = n } }

// Batcher collects commands into entries of a log. Its methods may be called from any goroutine.
type Batcher struct {
	log        Log
	level      func() uint32
	encode     func(level uint32, cmds []fsm.Command) ([]byte, error)
	observe    func(Entry)
	maxWaiting int

	mu       sync.Mutex // guards waiting, closed and complete
	waiting  backlog
	closed   bool
	complete func(cmds []fsm.Command) []Call

	wake    chan struct{} // one place: something waits
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when run has returned

	waiters sync.Pool // of *waiter

	// Only run touches these; they are kept from one entry to the next.
	batch []Call
	cmds  []fsm.Command
}

// New starts a Batcher that appends to log, with commands encoded at the feature level that level returns. It runs
// until Close.
func New(log Log, level func() uint32, options ...Option) *Batcher {
	b := &Batcher{
		log:        log,
		level:      level,
		encode:     fsm.Encode,
		observe:    func(Entry) {},
		maxWaiting: MaxWaiting,
		wake:       make(chan struct{}, 1),
		closing:    make(chan struct{}),
		ended:      make(chan struct{}),
		complete:   func([]fsm.Command) []Call { return nil },
		batch:      make([]Call, 0, MaxCommands),
		cmds:       make([]fsm.Command, 0, MaxCommands),
	}
	b.waiters.New = func() any { return newWaiter() }
	for _, o := range options {
		o(b)
	}
	go b.run()
	return b
}

// Go enqueues cmd and returns; done is called exactly once, with what became of it. It is called on the batcher's
// goroutine, in the order of the log, and must not block nor call Close. If the command is refused at once, done is
// called on another goroutine. It is never called on the caller's goroutine, which may hold a lock that done takes.
func (b *Batcher) Go(cmd fsm.Command, done func(Outcome)) {
	if err := b.enqueue(Call{cmd, done}); err != nil {
		go done(Outcome{Err: err})
	}
}

// Complete sets the function that completes each entry: it gets the commands that the entry will hold, and the calls
// that it returns go behind them. All earlier entries have come to their end by then. It may return at most MaxCommands
// calls. Those for which the entry has no space go to the end of what waits. It is called on the batcher's goroutine:
// it must not keep the slice, block, nor call Close.
func (b *Batcher) Complete(fn func(cmds []fsm.Command) []Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complete = fn
}

// Do enqueues cmd and waits for what becomes of it. When ctx ends first, Err is a consensus.ErrUnknownOutcome that
// wraps ctx.Err(): the command stays where it is and may still be applied. With a context that has ended already
// nothing is enqueued, and Err is a consensus.ErrNotAppended.
func (b *Batcher) Do(ctx context.Context, cmd fsm.Command) Outcome {
	if err := ctx.Err(); err != nil {
		return Outcome{Err: fmt.Errorf("%w: %w", consensus.ErrNotAppended, err)}
	}
	w := b.waiters.Get().(*waiter)
	if err := b.enqueue(Call{cmd, w.done}); err != nil {
		b.waiters.Put(w)
		return Outcome{Err: err}
	}
	select {
	case o := <-w.outcome:
		b.waiters.Put(w)
		return o
	case <-ctx.Done():
		// The outcome is still to come, into this waiter: it must not be used again.
		return Outcome{Err: fmt.Errorf("%w: %w", consensus.ErrUnknownOutcome, ctx.Err())}
	}
}

// Close stops the batcher and returns when it has: what was handed over and not answered yet ends with
// consensus.ErrUnknownOutcome, what still waited with consensus.ErrNotAppended, and so does whatever comes later.
// It waits for a call of Log.Append or done that is under way. It may be called more than once.
func (b *Batcher) Close() {
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	b.mu.Unlock()
	if first {
		close(b.closing)
	}
	<-b.ended
}

// Waiting is how many commands wait for an entry.
func (b *Batcher) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.len()
}

func (b *Batcher) enqueue(call Call) error {
	b.mu.Lock()
	switch {
	case b.closed:
		b.mu.Unlock()
		return fmt.Errorf("%w: %w", consensus.ErrNotAppended, consensus.ErrClosed)
	case b.waiting.len() >= b.maxWaiting:
		b.mu.Unlock()
		return fmt.Errorf("%w: %w", consensus.ErrNotAppended, ErrOverloaded)
	}
	first := b.waiting.len() == 0
	b.waiting.push(call)
	b.mu.Unlock()
	if first {
		// A caller that finds the backlog empty wakes run; run does not sleep before it has seen an empty backlog.
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// waiter is where Do waits. It is used again only after its outcome was received.
type waiter struct {
	outcome chan Outcome
	done    func(Outcome)
}

func newWaiter() *waiter {
	w := &waiter{outcome: make(chan Outcome, 1)}
	w.done = func(o Outcome) { w.outcome <- o }
	return w
}
