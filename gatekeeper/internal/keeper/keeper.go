package keeper

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/denials"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/missed"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/timers"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Machine is the replicated state machine, as the keeper sees it.
type Machine interface {
	State() *fsm.State
	Subscribe(fn func(fsm.Applied)) (cancel func())
	Sync(fn func(*fsm.State))
}

// Leadership reports who leads and confirms that this server still does.
type Leadership interface {
	// Confirm returns nil only if this server was still the leader in the given term at or after t.
	Confirm(ctx context.Context, term uint64, t time.Time) error
	// ConfirmLater reports the same result by calling done, either before it returns or on another goroutine. done must
	// not block.
	ConfirmLater(term uint64, t time.Time, done func(error))
	Leader() consensus.Leader
}

// Proposer hands commands to the log.
type Proposer interface {
	Go(cmd fsm.Command, done func(batcher.Outcome))
	// Complete sets the function that adds commands to each entry; see batcher.Batcher.
	Complete(fn func(cmds []fsm.Command) []batcher.Call)
	Do(ctx context.Context, cmd fsm.Command) batcher.Outcome
}

// Metrics counts the keeper's decisions.
type Metrics interface {
	Decided(outcome semaphore.Outcome, reason semaphore.Reason)
	Refreshed(status Status)
}

// Config configures a Keeper.
type Config struct {
	Machine    Machine
	Leadership Leadership
	Proposer   Proposer
	Metrics    Metrics
	Logger     *slog.Logger
	// MaxWait is the longest time that one call waits before the caller must retry.
	MaxWait time.Duration
	// Gather is how long after a promotion waiters may rejoin the queue before the first is offered a permit.
	Gather time.Duration
	// WallClock is the clock with which due times and callers' clocks are compared; nil means time.Now.
	WallClock func() time.Time
}

// Defaults for Config.
const (
	DefaultMaxWait = time.Minute
	DefaultGather  = 300 * time.Millisecond
)

// Keeper answers permit calls while this server leads. It is safe for concurrent use. Every call returns a
// *consensus.NotLeaderError while this server is not the leader, and consensus.ErrNotConfirmed if the server cannot
// confirm that it leads.
type Keeper struct {
	cfg      Config
	lessor   *lessor.Lessor
	timers   *timers.Timers
	missed   *missed.Listener
	chores   *epoch.Room // the leader's periodic chores; its lock guards writes to tenure
	queue    *queue.Queue[*queuedCall]
	patterns *matcher
	seen     sightings
	clocks   hostClocks
	denials  denials.Recorder
	pending  pendingGrants
	notices  notices
	inbox    *inbox
	streams  atomic.Uint64
	tenure   atomic.Pointer[tenure]
	// cancel ends the subscription to the machine.
	cancel func()
	close  sync.Once
	closed chan struct{}
	// configuring is a semaphore with one slot: one call at a time reads, changes and commits the settings.
	configuring chan struct{}
	wg          sync.WaitGroup
}

// tenure is one period of this server's leadership, starting with its promotion.
type tenure struct {
	term uint64
	// done is closed when leadership has ended, as far as this server knows.
	done <-chan struct{}
	// gathered is the time from which waiters are offered permits.
	gathered time.Time
	// began is the wall-clock time at which the tenure began, for display.
	began time.Time
}

// New returns a keeper that is not leading yet. It answers calls after Promote.
func New(cfg Config) *Keeper {
	if cfg.MaxWait == 0 {
		cfg.MaxWait = DefaultMaxWait
	}
	if cfg.Gather == 0 {
		cfg.Gather = DefaultGather
	}
	if cfg.WallClock == nil {
		cfg.WallClock = time.Now
	}
	k := &Keeper{
		cfg:      cfg,
		queue:    queue.New[*queuedCall](),
		patterns: newMatcher(),
		inbox:    newInbox(),
		closed:   make(chan struct{}),

		configuring: make(chan struct{}, 1),
	}
	k.lessor = lessor.New(lessor.Config{
		State:    cfg.Machine.State,
		Propose:  cfg.Proposer.Go,
		Overheld: k.overheld,
	})
	k.timers = timers.New(timers.Config{State: cfg.Machine.State, Propose: cfg.Proposer.Go})
	k.missed = missed.New(missed.Config{
		State: cfg.Machine.State, Propose: cfg.Proposer.Go,
		HasWaiters: func(sem string) bool { return k.QueueLength(sem) > 0 },
	})
	k.chores = epoch.NewRoom(cfg.Proposer.Go, func() {
		k.tenure.Store(nil)
		k.seen.reset()
	})
	k.cancel = cfg.Machine.Subscribe(k.applied)
	cfg.Proposer.Complete(k.complete)
	k.wg.Add(1)
	go k.dispatch()
	return k
}

// Promote begins leadership in the given term. It implements consensus.LeadershipObserver. After Close, it does
// nothing, because no epoch can begin then. In one step, it starts processing applied entries and stores the instant
// from which permits' full durations count, so that no entry is applied in between.
func (k *Keeper) Promote(term uint64, done <-chan struct{}) {
	k.cfg.Machine.Sync(func(state *fsm.State) {
		now := time.Now()
		k.lessor.Promote(term, now, state)
		k.timers.Promote(term, now, state)
		k.missed.Promote(term, now, state)
	})
	k.chores.Begin(term, func(chores *epoch.Epoch) {
		k.queue.Clear()
		k.denials.Clear() // a call from an earlier epoch may have ended late
		t := &tenure{term: term, done: done, gathered: time.Now().Add(k.cfg.Gather), began: k.cfg.WallClock()}
		k.queue.Gather(t.gathered)
		k.tenure.Store(t)
		k.inbox.wake()
		var past history
		chores.Every(sightingInterval, func() { k.proposeSightings(chores) })
		chores.Every(trimInterval, func() { k.housekeep(chores, &past) })
	})
}

// Demote ends leadership in the given term. It implements consensus.LeadershipObserver.
func (k *Keeper) Demote(term uint64) {
	k.chores.Demote(term)
	k.lessor.Demote(term)
	k.timers.Demote(term)
	k.missed.Demote(term)
	k.clear()
}

// clear removes the data that calls and streams have left behind, once leadership has ended.
func (k *Keeper) clear() {
	k.queue.Clear()
	k.notices.closeAll()
	k.clearClocks()
	k.denials.Clear()
}

// Close stops answering calls and waits until all of the keeper's goroutines have returned.
func (k *Keeper) Close() {
	k.close.Do(func() {
		k.chores.Close()
		k.lessor.Close()
		k.timers.Close()
		k.missed.Close()
		k.clear()
		k.cancel()
		close(k.closed)
		k.wg.Wait()
	})
}

// leading returns the current tenure, or an error that reports who leads instead.
func (k *Keeper) leading() (*tenure, error) {
	if t := k.tenure.Load(); t != nil && !t.over() {
		return t, nil
	}
	return nil, k.notLeader()
}

// Leads reports whether this server leads, as far as it knows.
func (k *Keeper) Leads() bool {
	_, err := k.leading()
	return err == nil
}

func (k *Keeper) notLeader() error {
	return &consensus.NotLeaderError{Leader: k.cfg.Leadership.Leader()}
}

func (t *tenure) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// confirm verifies that this server led in tenure t at or after the given time, and that t is still the current tenure.
func (k *Keeper) confirm(ctx context.Context, t *tenure, at time.Time) error {
	return k.confirmed(t, k.cfg.Leadership.Confirm(ctx, t.term, at))
}

// confirmed returns the result of confirm, given that Confirm returned err.
func (k *Keeper) confirmed(t *tenure, err error) error {
	if err == nil && k.tenure.Load() != t {
		err = k.notLeader()
	}
	return err
}

// applied receives every entry on the applying goroutine. It must not block.
func (k *Keeper) applied(a fsm.Applied) {
	k.lessor.Applied(a)
	k.timers.Applied(a)
	k.missed.Applied(a)
	k.inbox.add(a)
}

// Read returns a state that reflects every response that any server had sent before the call.
func (k *Keeper) Read(ctx context.Context) (*fsm.State, error) {
	at := time.Now()
	t, err := k.leading()
	if err != nil {
		return nil, err
	}
	state := k.cfg.Machine.State()
	return state, k.confirm(ctx, t, at)
}

// Remaining returns the time left until the leader ends a permit that is not refreshed. It returns false if this server
// is not the leader, or the permit has no deadline.
func (k *Keeper) Remaining(token uint64) (time.Duration, bool) {
	p := k.cfg.Machine.State().Permit(token)
	if p == nil {
		return 0, false
	}
	return k.lessor.Remaining(p)
}

// Leases returns the number of deadlines that the leader tracks, for metrics.
func (k *Keeper) Leases() int { return k.lessor.Len() }

// Missed reports whether the work expected on a semaphore with expect_every is missing, and why. Only the leader tracks
// this.
func (k *Keeper) Missed(sem string) (missed.Report, bool) { return k.missed.Of(sem) }

// Missing returns the number of semaphores with missed work of the given kind, for metrics.
func (k *Keeper) Missing(kind fsm.Missed) int { return k.missed.Counts()[kind] }
