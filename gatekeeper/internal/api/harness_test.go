package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/missed"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout is the time limit for operations that should complete.
const testTimeout = 10 * time.Second

// fakeConsensus implements Consensus. Tests set the leader that it reports, which is this server by default.
type fakeConsensus struct {
	mu         sync.Mutex
	leader     consensus.Leader
	leaderRead func() // called whenever the leader is read; optional
	name       string
	ready      error
	members    []consensus.Member
	role       consensus.Role // defaults to leader
	applied    uint64         // defaults to 11

	addMember, removeMember, transfer func(id string) error
}

func (c *fakeConsensus) follow(l consensus.Leader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = l
}

func (c *fakeConsensus) onLeaderRead(looked func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaderRead = looked
}

func (c *fakeConsensus) setReady(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = err
}

func (c *fakeConsensus) Leader() consensus.Leader {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaderRead != nil {
		c.leaderRead()
	}
	return c.leader
}

func (c *fakeConsensus) Ready() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready
}

func (c *fakeConsensus) Role() consensus.Role { return cmp.Or(c.role, consensus.RoleLeader) }
func (c *fakeConsensus) Term() uint64         { return c.Leader().Term }
func (c *fakeConsensus) CommitIndex() uint64  { return 12 }
func (c *fakeConsensus) AppliedIndex() uint64 { return cmp.Or(c.applied, 11) }
func (c *fakeConsensus) Writes() consensus.Writes {
	return consensus.Writes{Count: 3, Median: time.Millisecond, Longest: time.Second}
}

func (c *fakeConsensus) LastSnapshot() (consensus.Snapshot, bool) {
	return consensus.Snapshot{Index: 9, Bytes: 77, At: time.Unix(50, 0)}, true
}
func (c *fakeConsensus) ClusterID() consensus.ClusterID {
	return consensus.ClusterID{Seed: 0xabc, Incarnation: 1}
}
func (c *fakeConsensus) Name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

func (c *fakeConsensus) rename(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name = name
}

func (c *fakeConsensus) Members() ([]consensus.Member, error) { return c.members, nil }
func (c *fakeConsensus) AddMember(_ context.Context, a consensus.Addition) error {
	return c.addMember(a.ID)
}

func (c *fakeConsensus) PlanRemoval(_ context.Context, id string) (r consensus.Removal, refusal, err error) {
	return consensus.Removal{Members: c.members}, c.removeMember(id), nil
}

func (c *fakeConsensus) RemoveMember(_ context.Context, id string, force bool) (consensus.Removal, error) {
	err := c.removeMember(id)
	if _, refused := errors.AsType[*consensus.QuorumError](err); refused && force {
		err = nil
	}
	return consensus.Removal{Members: c.members, AlreadyRemoved: id == "gone"}, err
}

func (c *fakeConsensus) Transfer(_ context.Context, id string) error { return c.transfer(id) }

// fakeKeeper edits and reads a real machine. Tests define the other methods.
type fakeKeeper struct {
	machine *fsm.Machine
	applyMu sync.Mutex // guards index
	index   uint64
	// notLeader, if set, is returned by reads and edits.
	notLeader error

	// denies answers a batched request if the answer does not change the state.
	denies     func(*keeper.AcquireCall) (keeper.Answer, bool, error)
	tryAcquire func(context.Context, *keeper.AcquireCall) (keeper.Answer, error)
	acquire    func(context.Context, *keeper.AcquireCall, func(keeper.Place) error) (keeper.Answer, error)
	refresh    func(context.Context, time.Time, []keeper.TokenRefresh) ([]keeper.TokenResult, error)
	release    func(cmd fsm.Release) (fsm.ReleaseResult, error)
	takeOver   func(cmd fsm.TakeOver) (fsm.PermitResult, error)
	operator   func(verb string, token uint64, author, reason string) (fsm.PermitResult, error)
	cancel     func(sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error)
	verify     func(sem string, token uint64) (keeper.Verification, error)
	explain    func(*semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error)
	// Recorded denials.
	denied, misspelled, deniesAll []keeper.DeniedCaller
	denialsChanged                func(after uint64) ([]string, uint64)
	denialsSince                  time.Time // when the server began to record denials
	waiters                       []keeper.Waiter
	recovering                    time.Duration
	disabled                      string
	concurrentChange              fsm.Command // applied just before an undo, a pause, a resume or a ForgetFirings
	onRead                        func()      // called before each read; may be nil
	missed                        map[string]missed.Report
	remaining                     map[uint64]time.Duration
	wallClock                     func() time.Time // defaults to time.Now

	listenMu  sync.Mutex // guards listeners
	listeners []*fakeListener
	listening chan *fakeListener // receives each new listener
}

// do applies a command immediately, without a log.
func (k *fakeKeeper) do(cmd fsm.Command) fsm.Result {
	k.applyMu.Lock()
	defer k.applyMu.Unlock()
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd})
	if err != nil {
		panic(err)
	}
	k.index++
	results, err := k.machine.Apply(k.index, 1, entry)
	if err != nil {
		panic(err)
	}
	return results[0]
}

func (k *fakeKeeper) Access(_ context.Context, cmd fsm.Command) (fsm.AccessResult, error) {
	if k.notLeader != nil {
		return fsm.AccessResult{}, k.notLeader
	}
	return k.do(cmd).(fsm.AccessResult), nil
}

func (k *fakeKeeper) Configure(
	_ context.Context, author, reason string, change func(fsm.Settings) (fsm.Settings, error),
) (before, after fsm.Settings, r fsm.RevisionResult, err error) {
	if k.notLeader != nil {
		return before, after, r, k.notLeader
	}
	before = k.machine.State().Settings()
	if after, err = change(before); err == nil {
		r = k.do(fsm.Configure{Settings: after, Author: author, Reason: reason, At: time.Now()}).(fsm.RevisionResult)
	}
	return before, after, r, err
}

func (k *fakeKeeper) TryAcquire(ctx context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
	return k.tryAcquire(ctx, c)
}

func (k *fakeKeeper) TryAcquireTogether(_ context.Context, calls []*keeper.AcquireCall, answer func(int, keeper.Answer, error)) {
	for i, c := range calls {
		if a, ok, err := k.denies(c); ok || err != nil {
			answer(i, a, err)
		}
	}
}

func (k *fakeKeeper) Acquire(ctx context.Context, c *keeper.AcquireCall, p func(keeper.Place) error) (keeper.Answer, error) {
	return k.acquire(ctx, c, p)
}

func (k *fakeKeeper) Refresh(ctx context.Context, t time.Time, _ semaphore.Owner, r []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
	return k.refresh(ctx, t, r)
}

func (k *fakeKeeper) Release(_ context.Context, cmd fsm.Release, _ semaphore.Owner) (fsm.ReleaseResult, error) {
	return k.release(cmd)
}

func (k *fakeKeeper) TakeOver(_ context.Context, cmd fsm.TakeOver) (fsm.PermitResult, error) {
	return k.takeOver(cmd)
}

func (k *fakeKeeper) SubmitJob(_ context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error) {
	return k.do(cmd).(fsm.SubmitResult), nil
}

func (k *fakeKeeper) SubmitTasks(_ context.Context, _ string, cmd fsm.SubmitTasks) (fsm.SubmitResult, error) {
	return k.do(cmd).(fsm.SubmitResult), nil
}

func (k *fakeKeeper) DropSubmission(number uint64) {
	k.do(fsm.DeleteJob{Job: number, Term: k.machine.State().Term()})
}

func (k *fakeKeeper) CancelJob(_ context.Context, id string, _ uint64, author, reason string) (fsm.JobResult, error) {
	return k.withJob(id, func(j uint64) fsm.Command {
		return fsm.CancelJob{Job: j, Cause: work.CancelRequested, Author: author, Reason: reason}
	})
}

func (k *fakeKeeper) ChangeTasks(_ context.Context, id string, cmd fsm.ChangeTasks) (fsm.JobResult, error) {
	return k.withJob(id, func(j uint64) fsm.Command {
		cmd.Job = j
		return cmd
	})
}

func (k *fakeKeeper) DeleteJob(_ context.Context, id string, _ uint64) (fsm.JobResult, error) {
	return k.withJob(id, func(j uint64) fsm.Command { return fsm.DeleteJob{Job: j} })
}

func (k *fakeKeeper) withJob(id string, cmd func(number uint64) fsm.Command) (fsm.JobResult, error) {
	j := k.machine.State().Job(id)
	if j == nil {
		return fsm.JobResult{}, &keeper.NoSuchJobError{ID: id}
	}
	return k.do(cmd(j.Number)).(fsm.JobResult), nil
}

func (k *fakeKeeper) Revoke(_ context.Context, cmd fsm.Revoke) (fsm.PermitResult, error) {
	return k.operator("revoke", cmd.Token, cmd.Author, cmd.Reason)
}

func (k *fakeKeeper) Clear(_ context.Context, token uint64, author, reason string) (fsm.PermitResult, error) {
	return k.operator("clear", token, author, reason)
}

func (k *fakeKeeper) Cancel(_ context.Context, sem string, id semaphore.Identity, requestID string) (fsm.CancelResult, error) {
	return k.cancel(sem, id, requestID)
}

func (k *fakeKeeper) Verify(_ context.Context, sem string, token uint64) (keeper.Verification, error) {
	return k.verify(sem, token)
}

func (k *fakeKeeper) Explain(_ context.Context, r *semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
	return k.explain(r)
}

// Edit validates the way the keeper does, and applies the batch to the machine.
func (k *fakeKeeper) Edit(_ context.Context, b fsm.EditBatch, end keeper.Ending) (fsm.EditResult, error) {
	b.Until = end.At
	if k.machine.State().FeatureLevel() < 3 {
		b.RequestHash, b.RequestRevision = 0, 0
	}
	if k.notLeader != nil {
		return fsm.EditResult{}, k.notLeader
	}
	for i, c := range b.Changes {
		if c.Definition == nil {
			continue
		}
		if field, ok := c.Definition.Validate(semaphore.DefaultMaxDuration).(*semaphore.FieldError); ok { //nolint:errorlint // the contract of Validate
			return fsm.EditResult{}, &keeper.EditFieldError{Index: i, Name: c.Name, Err: field}
		}
	}
	r, err := applyAs[fsm.EditResult](k, b)
	if r.Conflict != nil {
		return r, &keeper.ConflictError{Conflict: *r.Conflict}
	}
	return r, err
}

// applyAs applies a command, and converts a refusal to the keeper's error.
func applyAs[R fsm.Result](k *fakeKeeper, cmd fsm.Command) (R, error) {
	switch r := k.do(cmd).(type) {
	case R:
		return r, k.notLeader
	case fsm.InvalidResult:
		var none R
		switch {
		case r.UsedBy != nil:
			return none, &keeper.RequestReusedError{Remembered: *r.UsedBy, Why: r.Why}
		case r.TooOld != nil:
			return none, &keeper.RequestTooOldError{TooOld: *r.TooOld, Why: r.Why}
		}
		return none, &keeper.RefusedError{Why: r.Why}
	default:
		panic(fmt.Sprintf("%T returned %T", cmd, r))
	}
}

func endTime(end keeper.Ending) time.Time {
	if end.Duration > 0 {
		return time.Now().Round(0).Add(end.Duration)
	}
	return end.At
}

// Pause and the other operator commands are applied to the machine without validation.
func (k *fakeKeeper) Pause(_ context.Context, cmd fsm.Pause, end keeper.Ending) (fsm.RevisionResult, error) {
	cmd.Until = endTime(end)
	return k.applyAfterConcurrent(cmd)
}

func (k *fakeKeeper) Resume(_ context.Context, cmd fsm.Resume) (fsm.RevisionResult, error) {
	if len(cmd.Names) == 0 && cmd.RequestID == "" {
		return fsm.RevisionResult{}, k.notLeader
	}
	return k.applyAfterConcurrent(cmd)
}

func (k *fakeKeeper) applyAfterConcurrent(cmd fsm.Command) (fsm.RevisionResult, error) {
	if k.concurrentChange != nil {
		k.do(k.concurrentChange)
	}
	r, err := applyAs[fsm.RevisionResult](k, cmd)
	if r.Conflict != nil {
		return r, &keeper.ConflictError{Conflict: *r.Conflict}
	}
	return r, err
}

func (k *fakeKeeper) Cordon(_ context.Context, cmd fsm.SetCordon, end keeper.Ending) (fsm.RevisionResult, error) {
	cmd.Until = endTime(end)
	return applyAs[fsm.RevisionResult](k, cmd)
}

func (k *fakeKeeper) Uncordon(_ context.Context, cmd fsm.Uncordon) (fsm.RevisionResult, error) {
	r, err := applyAs[fsm.RevisionResult](k, cmd)
	if err == nil && r.Revision == 0 {
		err = &keeper.NoSuchCordonError{ID: cmd.ID}
	}
	return r, err
}

func (k *fakeKeeper) WallClock() time.Time {
	if k.wallClock == nil {
		return time.Now()
	}
	return k.wallClock()
}

func (k *fakeKeeper) ForgetFirings(_ context.Context, cmd fsm.ForgetFirings) (fsm.FiringsResult, error) {
	if k.concurrentChange != nil {
		k.do(k.concurrentChange)
	}
	return applyAs[fsm.FiringsResult](k, cmd)
}

func (k *fakeKeeper) Undo(_ context.Context, cmd fsm.Undo) (fsm.UndoResult, error) {
	if k.concurrentChange != nil {
		k.do(k.concurrentChange)
	}
	return applyAs[fsm.UndoResult](k, cmd)
}

func (k *fakeKeeper) Match(pattern, name string) bool {
	p, err := semaphore.CompilePattern("pattern", pattern)
	return err == nil && p.Match(name)
}

func (k *fakeKeeper) Catches(groupPattern, acquirerPattern string, id semaphore.Identity) bool {
	return groupPattern != "" && k.Match(groupPattern, id.Group) || acquirerPattern != "" && k.Match(acquirerPattern, id.Acquirer)
}

func (k *fakeKeeper) TimeToStop(*semaphore.Permit, semaphore.Stop) time.Duration { return 0 }

func (k *fakeKeeper) StopCause(_ *fsm.State, p *semaphore.Permit) (semaphore.StopCause, string) {
	return p.Stop, p.StopOrder().Reason
}

func (k *fakeKeeper) DrainLeft(*fsm.State, *semaphore.Permit) (time.Duration, bool) { return 0, false }

func (k *fakeKeeper) Read(context.Context) (*fsm.State, error) {
	if k.onRead != nil {
		k.onRead()
	}
	return k.machine.State(), k.notLeader
}

func (k *fakeKeeper) Waiters(match func(string) bool, after queue.Cursor, limit int) (out []keeper.Waiter) {
	for _, w := range k.waiters {
		if match(w.Semaphore) && len(out) < limit && w.Cursor.Seq > after.Seq {
			out = append(out, w)
		}
	}
	return out
}

func (k *fakeKeeper) WaiterCount() int { return len(k.waiters) }

func (k *fakeKeeper) InQueue(sem string) (all, workers int) {
	for _, w := range k.waiters {
		if w.Semaphore == sem {
			all++
			if w.Worker {
				workers++
			}
		}
	}
	return all, workers
}

func (k *fakeKeeper) FirstWorker(sem string) (weight uint32, ahead int, ok bool) {
	for _, w := range k.waiters {
		if w.Semaphore == sem && w.Worker {
			return w.Weight, ahead, true
		}
		ahead++
	}
	return 0, 0, false
}

func (k *fakeKeeper) QueueLength(sem string) (n int) {
	for _, w := range k.waiters {
		if w.Semaphore == sem && w.Place > 0 {
			n++
		}
	}
	return n
}

func (k *fakeKeeper) DeniesAll(_ *fsm.State, sem string) (all, byCordon bool) {
	for _, v := range k.deniesAll {
		if v.Semaphore == sem {
			return true, v.Reason == semaphore.Cordoned
		}
	}
	return false, false
}

func (k *fakeKeeper) DenialsChanged(after uint64) (names []string, now uint64) {
	if k.denialsChanged == nil {
		return nil, after
	}
	return k.denialsChanged(after)
}

func (k *fakeKeeper) HostClocks() []keeper.HostClock { return nil }

func (k *fakeKeeper) DeniedCallers(
	_ context.Context, wanted func(*fsm.State, string) bool,
) (*fsm.State, iter.Seq[keeper.DeniedCaller], time.Time, error) {
	state := k.machine.State()
	matching := slices.Clone(k.denied)
	slices.SortStableFunc(matching, func(a, b keeper.DeniedCaller) int { return cmp.Compare(a.Semaphore, b.Semaphore) })
	matching = slices.DeleteFunc(matching, func(v keeper.DeniedCaller) bool { return !wanted(state, v.Semaphore) })
	return state, slices.Values(matching), k.denialsSince, k.notLeader
}

func (k *fakeKeeper) DeniedCallersOf(_ *fsm.State, name string) []keeper.DeniedCaller {
	_, out, _, _ := k.DeniedCallers(context.Background(), func(_ *fsm.State, n string) bool { return n == name })
	return slices.Collect(out)
}

func (k *fakeKeeper) Misspellings(*fsm.State, string) []keeper.DeniedCaller { return k.misspelled }
func (k *fakeKeeper) DenyAll() []keeper.DeniedCaller                        { return k.deniesAll }

func (k *fakeKeeper) Missed(sem string) (missed.Report, bool) {
	r, ok := k.missed[sem]
	return r, ok
}

func (k *fakeKeeper) Recovering() (time.Duration, bool) { return k.recovering, k.recovering > 0 }

func (k *fakeKeeper) Remaining(token uint64) (time.Duration, bool) {
	d, ok := k.remaining[token]
	return d, ok
}

func (k *fakeKeeper) Disabled(*fsm.StoredDefinition) string { return k.disabled }

func (k *fakeKeeper) Listen() Listener {
	k.listenMu.Lock()
	defer k.listenMu.Unlock()
	l := &fakeListener{keeper: k, notices: make(chan []keeper.TokenResult), closed: make(chan struct{})}
	k.listeners = append(k.listeners, l)
	k.listening <- l
	return l
}

type fakeListener struct {
	keeper  *fakeKeeper
	notices chan []keeper.TokenResult
	closed  chan struct{}

	mu  sync.Mutex // guards log
	log []string   // calls in order
}

func (l *fakeListener) Receive() Frame { return &fakeFrame{listener: l, received: time.Now()} }

type fakeFrame struct {
	listener *fakeListener
	received time.Time
	results  []keeper.TokenResult
	err      error
	fault    any
}

func (*fakeFrame) Drop() {}

func (f *fakeFrame) Refresh(ctx context.Context, _ semaphore.Owner, r []keeper.TokenRefresh, ready func()) {
	if len(r) == 0 {
		ready()
		return
	}
	go func() {
		func() {
			defer func() { f.fault = recover() }()
			f.results, f.err = f.listener.keeper.refresh(ctx, f.received, r)
		}()
		f.listener.mu.Lock()
		for _, token := range r {
			f.listener.log = append(f.listener.log, fmt.Sprint("refreshed ", token.Token))
		}
		f.listener.mu.Unlock()
		ready()
	}()
}

// Results panics if Refresh did, as the real method does.
func (f *fakeFrame) Results() ([]keeper.TokenResult, error) {
	if f.fault != nil {
		panic(f.fault)
	}
	return f.results, f.err
}

func (l *fakeListener) Forget(tokens ...uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, token := range tokens {
		l.log = append(l.log, fmt.Sprint("forgot ", token))
	}
}

func (l *fakeListener) Notices() <-chan []keeper.TokenResult { return l.notices }
func (l *fakeListener) Close()                               { close(l.closed) }

// gate is a server with a fake keeper and fake consensus.
type gate struct {
	api       *API
	keeper    *fakeKeeper
	consensus *fakeConsensus
	hub       *watch.Hub
	server    *grpc.Server
	address   string
	conn      *grpc.ClientConn

	permits     gatekeeperv1.PermitServiceClient
	definitions gatekeeperv1.DefinitionServiceClient
	cluster     gatekeeperv1.ClusterServiceClient
}

// open starts a leader named "gk1", unless change configures it differently.
func open(t *testing.T, change ...func(*Config)) *gate {
	t.Helper()
	machine, hub := fsm.New("test"), watch.New(0)
	machine.Subscribe(hub.Applied)
	g := &gate{
		keeper:    &fakeKeeper{machine: machine, listening: make(chan *fakeListener, 100)},
		consensus: &fakeConsensus{leader: consensus.Leader{ID: "gk1", Term: 1}},
		hub:       hub,
	}
	cfg := Config{
		ID: "gk1", Keeper: g.keeper, Consensus: g.consensus, Machine: machine, Hub: hub,
		Poll: time.Millisecond,
	}
	for _, c := range change {
		c(&cfg)
	}
	a := must(New(cfg))(t)
	listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	g.api, g.server, g.address = a, a.NewServer(), listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- g.server.Serve(listener) }()
	g.conn = dial(t, g.address, insecureCreds())
	g.permits = gatekeeperv1.NewPermitServiceClient(g.conn)
	g.definitions = gatekeeperv1.NewDefinitionServiceClient(g.conn)
	g.cluster = gatekeeperv1.NewClusterServiceClient(g.conn)
	t.Cleanup(func() {
		_ = g.conn.Close()
		g.server.Stop()
		a.Close()
		<-served
	})
	return g
}

func insecureCreds() grpc.DialOption {
	return grpc.WithTransportCredentials(insecure.NewCredentials())
}

func dial(t *testing.T, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn := must(grpc.NewClient("passthrough:///"+address, options...))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	return c
}

// create creates definitions with the given names.
func (g *gate) create(names ...string) {
	for _, name := range names {
		g.keeper.do(fsm.EditBatch{At: time.Unix(1, 0).UTC(), Author: "test", Changes: []fsm.Change{
			{Kind: fsm.Create, Name: name, Definition: definition(name)},
		}})
	}
}

func definition(name string) *semaphore.Definition {
	d, err := DefinitionFrom(&gatekeeperv1.Definition{Name: name})
	if err != nil {
		panic(err)
	}
	return d
}

// grant grants acquirer a permit.
func (g *gate) grant(t *testing.T, sem, acquirer string) *semaphore.Permit {
	t.Helper()
	state := g.keeper.machine.State()
	r, ok := g.keeper.do(fsm.Grant{
		Semaphore: sem, Identity: semaphore.Identity{Group: "default", Acquirer: acquirer}, Weight: 1,
		DefinitionVersion: state.Definition(sem).Version, CordonRevision: state.CordonRevision(), At: time.Unix(2, 0).UTC(),
	}).(fsm.GrantResult)
	if !ok || r.Outcome != fsm.GrantGranted {
		t.Fatalf("grant of %s: %+v", sem, r)
	}
	return r.Permit
}

// keepPlace implements Acquire for a caller that remains first in the queue until its context is done.
func keepPlace(ctx context.Context, _ *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error) {
	if err := progress(keeper.Place{Place: 1, QueueLength: 1}); err != nil {
		return keeper.Answer{}, err
	}
	<-ctx.Done()
	return keeper.Answer{}, ctx.Err()
}

// waitOn opens an Acquire stream whose caller remains first in g's queue.
func waitOn(t *testing.T, client gatekeeperv1.PermitServiceClient, g *gate) grpc.ServerStreamingClient[gatekeeperv1.AcquireResponse] {
	t.Helper()
	g.keeper.acquire = keepPlace
	stream := must(client.Acquire(ctx(t), &gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity(), RequestId: "r"}))(t)
	must(stream.Recv())(t)
	return stream
}

// must returns the result of a call, or fails the test if the call returned an error. Usage: must(call())(t).
func must[R any](r R, err error) func(*testing.T) R {
	return func(t *testing.T) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// want checks an error's code and reason, and returns its ErrorInfo metadata.
func want(t *testing.T, err error, code codes.Code, reason string) map[string]string {
	t.Helper()
	s := status.Convert(err)
	info := infoOf(s)
	if s.Code() != code || info.GetReason() != reason {
		t.Fatalf("got %v with %v, want %v with reason %s", err, info, code, reason)
	}
	return info.GetMetadata()
}

func infoOf(s *status.Status) *errdetails.ErrorInfo {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == Domain {
			return info
		}
	}
	return nil
}

// receiveFrom receives a value from a channel.
func receiveFrom[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(testTimeout):
		t.Fatal("timed out receiving from the channel")
		panic("unreachable")
	}
}

// eventually polls until a condition holds. It is for conditions that no channel signals.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(testTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("timed out waiting for condition: %s", what)
		}
	}
}

func withHeader(ctx context.Context, kv ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, kv...)
}

func statusOf(err error) *status.Status { return status.Convert(err) }
