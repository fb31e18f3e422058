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
	// MaxCommands is the maximum number of waiting commands in one entry. The function set by Complete may add as many
	// again.
	MaxCommands = 256
	// MaxBytes is the maximum size of an entry with more than one command. A larger command gets a separate entry.
	MaxBytes = 512 << 10
	// MaxWaiting is the default maximum number of commands waiting for an entry.
	MaxWaiting = 100_000
)

// ErrOverloaded means that a command was refused immediately because too many are already waiting. An error that
// matches it also matches consensus.ErrNotAppended.
var ErrOverloaded = errors.New("too many commands are waiting for the log; try again later or at a lower rate")

// Log is the log to which entries are appended. *consensus.Node implements it.
type Log interface {
	// Append hands over the entry before it returns, and retains the slice.
	Append(entry []byte) *consensus.Pending
}

// Outcome is the outcome of one command. If Err is nil, Result is the command's result. If Err matches
// consensus.ErrNotAppended, the command had no effect and never will. Any other Err matches
// consensus.ErrUnknownOutcome.
type Outcome struct {
	Result fsm.Result
	// Index is the index of the entry if Err is nil.
	Index uint64
	// ProposedAt is the time just before the entry was handed to Raft, with a monotonic clock reading. It is zero if
	// the command never left the batcher; it is set even if Raft refused the entry.
	ProposedAt time.Time
	Err        error
}

// Entry describes a completed entry for an observer.
type Entry struct {
	Commands, Bytes int
	// Took is the time from the handover to the outcome.
	Took time.Duration
	Err  error
}

// Option configures a Batcher.
type Option func(*Batcher)

// WithObserver makes the Batcher call fn after every entry. fn is called on the batcher's goroutine and must not block.
func WithObserver(fn func(Entry)) Option { return func(b *Batcher) { b.observe = fn } }

// WithMaxWaiting sets the maximum number of commands waiting for an entry.
func WithMaxWaiting(n int) Option { return func(b *Batcher) { b.maxWaiting = n } }

// Batcher collects commands into log entries. It is safe for concurrent use.
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

	wake    chan struct{} // holds a token when commands are waiting
	closing chan struct{} // closed by Close
	stopped chan struct{} // closed when run has returned

	waiters sync.Pool // holds *waiter values

	// Used only by run, and reused from one entry to the next.
	batch []Call
	cmds  []fsm.Command
}

// New starts a Batcher that appends to log. Commands are encoded at the feature level that level returns. The Batcher
// runs until Close.
func New(log Log, level func() uint32, options ...Option) *Batcher {
	b := &Batcher{
		log:        log,
		level:      level,
		encode:     fsm.Encode,
		observe:    func(Entry) {},
		maxWaiting: MaxWaiting,
		wake:       make(chan struct{}, 1),
		closing:    make(chan struct{}),
		stopped:    make(chan struct{}),
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

// Go enqueues cmd and returns. done is called exactly once, with the outcome. It is called on the batcher's goroutine,
// in log order, and must not block or call Close. If the command is refused immediately, done is called on another
// goroutine. It is never called on the caller's goroutine, which may hold a lock that done takes.
func (b *Batcher) Go(cmd fsm.Command, done func(Outcome)) {
	if err := b.enqueue(Call{cmd, done}); err != nil {
		go done(Outcome{Err: err})
	}
}

// Complete sets a function that adds calls to each entry before it is encoded. fn is called once all earlier entries
// have completed, with the commands that the entry will contain. The calls that it returns, at most MaxCommands, are
// placed after those commands. Calls that do not fit into the entry go to the end of the backlog. fn is called on the
// batcher's goroutine and must not retain the slice, block, or call Close.
func (b *Batcher) Complete(fn func(cmds []fsm.Command) []Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complete = fn
}

// Do enqueues cmd and waits for its outcome. If ctx ends first, Err wraps consensus.ErrUnknownOutcome and ctx.Err(),
// and the command remains enqueued and may still be applied. If ctx has already ended, nothing is enqueued, and Err
// wraps consensus.ErrNotAppended.
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
		// The outcome will still be sent to this waiter, so it must not be reused.
		return Outcome{Err: fmt.Errorf("%w: %w", consensus.ErrUnknownOutcome, ctx.Err())}
	}
}

// Close stops the batcher and waits until it has stopped. Commands that were handed over but have no outcome yet
// complete with consensus.ErrUnknownOutcome. Waiting commands and all later ones complete with
// consensus.ErrNotAppended. Close waits for a pending call to Log.Append or done. It may be called more than once.
func (b *Batcher) Close() {
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	b.mu.Unlock()
	if first {
		close(b.closing)
	}
	<-b.stopped
}

// Waiting returns the number of commands waiting for an entry.
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
		// A caller that finds the backlog empty wakes run, and run does not sleep until it has seen an empty backlog.
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// waiter receives the outcome of a call to Do. It is reused only after its outcome has been received.
type waiter struct {
	outcome chan Outcome
	done    func(Outcome)
}

func newWaiter() *waiter {
	w := &waiter{outcome: make(chan Outcome, 1)}
	w.done = func(o Outcome) { w.outcome <- o }
	return w
}
