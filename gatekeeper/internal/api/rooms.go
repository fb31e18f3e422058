package api

import (
	"context"
	"iter"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/missed"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Keeper performs the leader's part of every call. It combines the methods that the services use. FromKeeper adapts a
// *keeper.Keeper, which documents the methods.
type Keeper interface {
	permitKeeper
	definitionKeeper
	operatorKeeper
	clusterKeeper
	workKeeper
	accessKeeper
	reader
}

// reader provides the state and the other data that services need to answer reads.
type reader interface {
	Read(ctx context.Context) (*fsm.State, error)
	Remaining(token uint64) (time.Duration, bool)
	StopCause(state *fsm.State, p *semaphore.Permit) (cause semaphore.StopCause, reason string)
	DrainLeft(state *fsm.State, p *semaphore.Permit) (time.Duration, bool)
	Disabled(d *fsm.StoredDefinition) string
	Missed(sem string) (missed.Report, bool)
	DeniedCallersOf(state *fsm.State, name string) []keeper.DeniedCaller
	Recovering() (left time.Duration, recovering bool)
	QueueLength(sem string) int
	InQueue(sem string) (all, workers int)
	FirstWorker(sem string) (weight uint32, ahead int, ok bool)
	Waiters(match func(sem string) bool, after queue.Cursor, limit int) []keeper.Waiter
	Match(pattern, name string) bool
	DeniesAll(state *fsm.State, sem string) (all, byCordon bool)
	DenialsChanged(after uint64) (names []string, now uint64)
}

type permitKeeper interface {
	TryAcquire(ctx context.Context, call *keeper.AcquireCall) (keeper.Answer, error)
	TryAcquireTogether(ctx context.Context, calls []*keeper.AcquireCall, answer func(i int, a keeper.Answer, err error))
	Acquire(ctx context.Context, call *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error)
	Refresh(ctx context.Context, received time.Time, owner semaphore.Owner, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error)
	// Listen registers a stream. It never fails: if this server is not the leader, the listener's notices are closed.
	Listen() Listener
	Release(ctx context.Context, cmd fsm.Release, owner semaphore.Owner) (fsm.ReleaseResult, error)
	TakeOver(ctx context.Context, cmd fsm.TakeOver) (fsm.PermitResult, error)
	Revoke(ctx context.Context, cmd fsm.Revoke) (fsm.PermitResult, error)
	Clear(ctx context.Context, token uint64, author, reason string) (fsm.PermitResult, error)
	Cancel(ctx context.Context, sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error)
	Verify(ctx context.Context, sem string, token uint64) (keeper.Verification, error)
	WallClock() time.Time
}

type definitionKeeper interface {
	Edit(ctx context.Context, batch fsm.EditBatch, end keeper.Ending) (fsm.EditResult, error)
	Explain(ctx context.Context, req *semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error)
}

type operatorKeeper interface {
	preview.Leader
	Edit(ctx context.Context, batch fsm.EditBatch, end keeper.Ending) (fsm.EditResult, error)
	Pause(ctx context.Context, cmd fsm.Pause, end keeper.Ending) (fsm.RevisionResult, error)
	Resume(ctx context.Context, cmd fsm.Resume) (fsm.RevisionResult, error)
	Cordon(ctx context.Context, cmd fsm.SetCordon, end keeper.Ending) (fsm.RevisionResult, error)
	Uncordon(ctx context.Context, cmd fsm.Uncordon) (fsm.RevisionResult, error)
	ForgetFirings(ctx context.Context, cmd fsm.ForgetFirings) (fsm.FiringsResult, error)
	// WallClock returns the time against which firings' due times are compared.
	WallClock() time.Time
	Undo(ctx context.Context, cmd fsm.Undo) (fsm.UndoResult, error)
	DeniedCallers(ctx context.Context, wanted func(state *fsm.State, name string) bool) (*fsm.State, iter.Seq[keeper.DeniedCaller], time.Time, error)
	Misspellings(state *fsm.State, name string) []keeper.DeniedCaller
}

type workKeeper interface {
	work.Keeper
	work.Submitter
	CancelJob(ctx context.Context, id string, submitted uint64, author, reason string) (fsm.JobResult, error)
	ChangeTasks(ctx context.Context, id string, cmd fsm.ChangeTasks) (fsm.JobResult, error)
	DeleteJob(ctx context.Context, id string, submitted uint64) (fsm.JobResult, error)
}

type clusterKeeper interface {
	WaiterCount() int
	// HostClocks returns the callers whose wall clocks differ from this server's.
	HostClocks() []keeper.HostClock
	DenyAll() []keeper.DeniedCaller
	Configure(ctx context.Context, author, reason string, change func(fsm.Settings) (fsm.Settings, error)) (before, after fsm.Settings, r fsm.RevisionResult, err error)
}

// Listener is a stream that keeps permits alive. It is implemented by *keeper.Listener.
type Listener interface {
	Receive() Frame
	// Forget stops notices for these tokens.
	Forget(tokens ...uint64)
	// Notices returns a channel that is closed when the leadership ends.
	Notices() <-chan []keeper.TokenResult
	Close()
}

// Frame is a frame received on a Listener. It is implemented by *keeper.Frame.
type Frame interface {
	Drop()
	Refresh(ctx context.Context, owner semaphore.Owner, tokens []keeper.TokenRefresh, ready func())
	Results() ([]keeper.TokenResult, error)
}

// FromKeeper adapts a keeper for Config.
func FromKeeper(k *keeper.Keeper) Keeper { return keeperAdapter{k} }

type keeperAdapter struct{ *keeper.Keeper }

func (k keeperAdapter) Listen() Listener { return listenerAdapter{k.Keeper.Listen()} }

type listenerAdapter struct{ *keeper.Listener }

func (l listenerAdapter) Receive() Frame { return l.Listener.Receive() }

// Consensus gives access to the consensus layer. It is implemented by *consensus.Node.
type Consensus interface {
	Leader() consensus.Leader
	Role() consensus.Role
	Term() uint64
	CommitIndex() uint64
	Writes() consensus.Writes
	LastSnapshot() (consensus.Snapshot, bool)
	AppliedIndex() uint64
	ClusterID() consensus.ClusterID
	Name() string
	Ready() error
	Members() ([]consensus.Member, error)
	AddMember(ctx context.Context, a consensus.Addition) error
	// PlanRemoval reports which members would remain after RemoveMember and, if it would be refused, the reason.
	PlanRemoval(ctx context.Context, id string) (r consensus.Removal, refusal, err error)
	// RemoveMember retires the id and removes the member.
	RemoveMember(ctx context.Context, id string, force bool) (consensus.Removal, error)
	Transfer(ctx context.Context, id string) error
}

// Machine gives access to this server's state. It is implemented by *fsm.Machine.
type Machine interface{ State() *fsm.State }

// Hub distributes applied changes. It is implemented by *watch.Hub.
type Hub interface {
	Subscribe(from uint64) *watch.Subscription
}

// Metrics counts calls.
type Metrics interface {
	// CallEnded counts a finished unary call or stream. reason is the ErrorInfo's reason, if any.
	CallEnded(method string, code codes.Code, reason string, took time.Duration)
	// StreamOpened and StreamClosed are called in pairs.
	StreamOpened(method string)
	StreamClosed(method string)
	// Forwarded counts a call or stream that is forwarded to the leader.
	Forwarded(method string)
}

type noMetrics struct{}

func (noMetrics) CallEnded(string, codes.Code, string, time.Duration) {}
func (noMetrics) StreamOpened(string)                                 {}
func (noMetrics) StreamClosed(string)                                 {}
func (noMetrics) Forwarded(string)                                    {}
