package keeper

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a single leader on a virtual clock. The state machine, batcher, lessor, queue and keeper are real. A tape
// replaces the replicated log, and the test controls leadership.
type world struct {
	*Keeper
	t       *testing.T
	machine *fsm.Machine
	tape    *tape
	lead    *leadership
	batcher *batcher.Batcher
	term    uint64
	done    chan struct{}
}

// inWorld runs a test in a synctest bubble, with this server as the leader in term 1.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	inWorldWith(t, func() *fsm.Machine { return fsm.New("test") }, test)
}

// inWorldWith is like inWorld, but with an existing state machine.
func inWorldWith(t *testing.T, newMachine func() *fsm.Machine, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		machine := newMachine()
		w := &world{t: t, machine: machine, tape: &tape{machine: machine, index: machine.State().Index()}, lead: &leadership{}}
		w.batcher = batcher.New(w.tape, func() uint32 { return machine.State().FeatureLevel() })
		w.Keeper = New(Config{
			Machine: machine, Leadership: w.lead, Proposer: w.batcher,
			Metrics: nopMetrics{}, Logger: slog.New(slog.DiscardHandler), Gather: time.Nanosecond,
		})
		w.promote(1)
		defer func() {
			w.demote()
			w.Close()
			w.batcher.Close()
		}()
		test(w)
	})
}

// inUpgradedWorld is like inWorld, but at the newest feature level.
func inUpgradedWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.raiseFeatureLevel()
		test(w)
	})
}

// raiseFeatureLevel enables commands of every feature level, as the leader does once every member supports them.
func (w *world) raiseFeatureLevel() {
	w.t.Helper()
	if o := w.batcher.Do(context.Background(), fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel}); o.Err != nil {
		w.t.Fatal(o.Err)
	}
	synctest.Wait()
}

func (w *world) promote(term uint64) {
	w.term, w.done = term, make(chan struct{})
	w.tape.setTerm(term)
	w.Promote(term, w.done)
	time.Sleep(time.Millisecond) // virtual: the gather window passes
	synctest.Wait()
}

func (w *world) demote() {
	close(w.done)
	w.Demote(w.term)
	synctest.Wait()
}

// define creates or replaces a definition. set modifies the existing definition, or a default one.
func (w *world) define(name string, set func(*semaphore.Definition)) {
	w.t.Helper()
	if err := w.replace(name, set); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) replace(name string, set func(*semaphore.Definition)) error {
	d := &semaphore.Definition{
		Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
	change := fsm.Change{Kind: fsm.Create, Name: name, Definition: d}
	if sd := w.machine.State().Definition(name); sd != nil {
		d = sd.Definition.Clone()
		change = fsm.Change{Kind: fsm.Replace, Name: name, Definition: d, ExpectedVersion: sd.Version}
	}
	if set != nil {
		set(d)
	}
	_, err := w.Edit(context.Background(), fsm.EditBatch{Changes: []fsm.Change{change}}, Ending{})
	return err
}

func (w *world) delete(name string) {
	w.t.Helper()
	change := fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: w.machine.State().Definition(name).Version}
	if _, err := w.Edit(context.Background(), fsm.EditBatch{Changes: []fsm.Change{change}}, Ending{}); err != nil {
		w.t.Fatal(err)
	}
}

// newCall returns a call for "job" by a host in group "prod".
func newCall(host, requestID string) *AcquireCall {
	return &AcquireCall{
		Request: semaphore.Request{
			Semaphore: "job", Identity: semaphore.Identity{Group: "prod", Acquirer: host}, Weight: 1,
		},
		RequestID: requestID,
		Received:  time.Now(),
	}
}

func (w *world) tryAcquire(call *AcquireCall) Answer {
	w.t.Helper()
	call.Received = time.Now()
	a, err := w.TryAcquire(context.Background(), call)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) mustAcquire(call *AcquireCall) *semaphore.Permit {
	w.t.Helper()
	a := w.tryAcquire(call)
	if a.Outcome != semaphore.Granted {
		w.t.Fatalf("TryAcquire() by %s = %v, want granted: %+v", call.Identity.Acquirer, a.Outcome, a.Denial)
	}
	return a.Permit
}

func (w *world) wantDenied(call *AcquireCall, want semaphore.Reason) *Denial {
	w.t.Helper()
	a := w.tryAcquire(call)
	if a.Outcome != semaphore.Denied || a.Denial.Decision.Reason != want {
		w.t.Fatalf("TryAcquire() by %s = %v %+v, want denied for %v", call.Identity.Acquirer, a.Outcome, a.Denial, want)
	}
	return a.Denial
}

func (w *world) refreshOne(token uint64) TokenResult {
	w.t.Helper()
	results, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{}, []TokenRefresh{{Token: token}})
	if err != nil {
		w.t.Fatal(err)
	}
	return results[0]
}

// refreshOn refreshes on a stream and waits for the results.
func refreshOn(f *Frame, tokens []TokenRefresh) ([]TokenResult, error) {
	return refreshWithContext(context.Background(), f, tokens)
}

func refreshWithContext(ctx context.Context, f *Frame, tokens []TokenRefresh) ([]TokenResult, error) {
	ready := make(chan struct{})
	f.Refresh(ctx, semaphore.Owner{}, tokens, func() { close(ready) })
	select {
	case <-ready:
		return f.Results()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refreshStating refreshes one token on a stream and states the duration that its client relies on.
func (w *world) refreshStating(l *Listener, token uint64, stated time.Duration) TokenResult {
	w.t.Helper()
	r, err := refreshOn(l.Receive(), []TokenRefresh{{Token: token, Duration: stated}})
	if err != nil {
		w.t.Fatal(err)
	}
	return r[0]
}

func (w *world) wantStatus(token uint64, want Status) TokenResult {
	w.t.Helper()
	r := w.refreshOne(token)
	if r.Status != want {
		w.t.Fatalf("refresh of token %d = %+v, want status %d", token, r, want)
	}
	return r
}

func (w *world) isLive(token uint64) bool {
	p := w.machine.State().Permit(token)
	return p != nil && p.State == semaphore.Live
}

// sleep advances virtual time and waits until all goroutines are idle.
func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// tape is one server's log. It applies entries immediately unless they are held back.
type tape struct {
	machine *fsm.Machine

	mu      sync.Mutex // guards the fields below
	term    uint64
	index   uint64
	holding bool
	held    []*heldEntry
	refuse  error
	count   int
	last    []byte // last applied entry
}

type heldEntry struct {
	entry []byte
	end   func(consensus.Appended)
}

func (t *tape) Append(entry []byte) *consensus.Pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, end := consensus.NewPending()
	if t.refuse != nil {
		end(consensus.Appended{Err: t.refuse})
		return p
	}
	h := &heldEntry{entry: entry, end: end}
	if t.holding {
		t.held = append(t.held, h)
		return p
	}
	t.apply(h)
	return p
}

// apply applies one entry. The caller holds mu.
func (t *tape) apply(h *heldEntry) {
	t.index++
	t.count++
	t.last = h.entry
	results, err := t.machine.Apply(t.index, t.term, h.entry)
	h.end(consensus.Appended{Results: results, Index: t.index, Err: err})
}

func (t *tape) setTerm(term uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term = term
}

// hold makes the tape hold entries back, as if they had been handed to Raft but not committed yet.
func (t *tape) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holding = true
}

// releaseHeld applies the entries that were held back, in the current term.
func (t *tape) releaseHeld() {
	t.mu.Lock()
	held := t.held
	t.held, t.holding = nil, false
	for _, h := range held {
		t.apply(h)
	}
	t.mu.Unlock()
	synctest.Wait()
}

// failHeld fails the held entries with an unknown outcome, and returns them so that the test can apply them later, as
// another leader would.
func (t *tape) failHeld() []*heldEntry {
	t.mu.Lock()
	held := t.held
	t.held, t.holding = nil, false
	t.mu.Unlock()
	for _, h := range held {
		h.end(consensus.Appended{Err: consensus.ErrUnknownOutcome})
	}
	synctest.Wait()
	return held
}

func (t *tape) applyHeld(held []*heldEntry) {
	t.mu.Lock()
	for _, h := range held {
		t.apply(h)
	}
	t.mu.Unlock()
	synctest.Wait()
}

func (t *tape) refuseAppends(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuse = err
}

func (t *tape) entries() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// lastEntry returns the commands in the last applied entry.
func (t *tape) lastEntry() []fsm.Command {
	t.mu.Lock()
	defer t.mu.Unlock()
	cmds, err := fsm.Decode(t.last)
	if err != nil {
		panic(err)
	}
	return cmds
}

// leadership always confirms, unless the test sets a different function.
type leadership struct {
	mu            sync.Mutex // guards the fields below
	confirm       func(ctx context.Context, term uint64, t time.Time) error
	confirmations int
}

func (l *leadership) Confirm(ctx context.Context, term uint64, t time.Time) error {
	l.mu.Lock()
	confirm := l.confirm
	l.confirmations++
	l.mu.Unlock()
	if confirm == nil {
		return nil
	}
	return confirm(ctx, term, t)
}

func (l *leadership) ConfirmLater(term uint64, t time.Time, done func(error)) {
	go func() { done(l.Confirm(context.Background(), term, t)) }()
}

func (l *leadership) Leader() consensus.Leader { return consensus.Leader{ID: "gk2", Term: 7} }

func (l *leadership) set(confirm func(context.Context, uint64, time.Time) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.confirm = confirm
}

func (l *leadership) fail() {
	l.set(func(context.Context, uint64, time.Time) error { return consensus.ErrNotConfirmed })
}

type nopMetrics struct{}

func (nopMetrics) Decided(semaphore.Outcome, semaphore.Reason) {}
func (nopMetrics) Refreshed(Status)                            {}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func asError[E error](err error, target *E) bool { return errors.As(err, target) }

// renewOnly performs the first half of a refresh, for tests that act halfway through one.
func (w *world) renewOnly(token uint64) {
	in := w.tenure.Load()
	w.lessor.Renew(in.term, lessor.Frame{Received: time.Now()}, []lessor.Refresh{{Token: token}}, w.admit, nil)
}

func (w *world) wantWaiters(want int) {
	w.t.Helper()
	if n := w.WaiterCount(); n != want {
		w.t.Fatalf("WaiterCount() = %d, want %d", n, want)
	}
}
