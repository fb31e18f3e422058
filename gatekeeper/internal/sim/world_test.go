package sim

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// world is a simulated cluster with its clients, created from a plan, and the history of their calls.
type world struct {
	plan      *plan
	start     time.Time
	net       *network
	log       *slog.Logger
	serverLog *serverLog
	history   history.Log
	paths     *paths
	members   []*member
	programs  []*program
	operator  *operator
	judge     *process // declares holders dead, even if they are alive, and never crashes; nil in scenarios

	ctx       context.Context //nolint:containedctx // for calls waiting for firings to end
	cancel    context.CancelFunc
	awaiting  sync.WaitGroup
	lateCalls sync.WaitGroup // takeovers in flight, and callers following a job

	seenMu sync.Mutex               // guards the fields below
	lost   map[uint64]time.Duration // by token, when the holder was notified of its permit's loss
	failed []string                 // failures of operations that must always succeed

	submissions map[string]uint64 // by job id, the revision of the newest submission seen

	recentTokens []recentToken    // recently granted tokens
	worker       history.Identity // the identity under which a task was last handed out

	indexes   map[string]uint64 // each member's last applied index at the end
	clusterID string
	elapsed   time.Duration // virtual time at the end
	settled   time.Duration // when all members had applied the same entries
}

func newWorld(p *plan) *world {
	w := &world{plan: p, start: time.Now(), net: newNetwork(rngFor(p.seed, "network")), serverLog: newServerLog(), paths: newPaths(), indexes: make(map[string]uint64), lost: make(map[uint64]time.Duration), submissions: make(map[string]uint64)}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.log = w.serverLog.logger()
	for i := range p.members {
		w.members = append(w.members, newMember(w, i))
	}
	return w
}

// notifiedLost records that a server notified a holder of the loss of its permit before the permit's deadline.
func (w *world) notifiedLost(token uint64) {
	w.seenMu.Lock()
	defer w.seenMu.Unlock()
	w.lost[token] = w.now()
}

// now returns the time since the start of the run.
func (w *world) now() time.Duration { return time.Since(w.start) }

// failf records a failure that must never happen, regardless of the injected faults. It does not fail the test
// immediately, so that the history can be saved first.
func (w *world) failf(format string, args ...any) {
	w.seenMu.Lock()
	defer w.seenMu.Unlock()
	w.failed = append(w.failed, fmt.Sprintf("at %v: ", w.now())+fmt.Sprintf(format, args...))
}

func (w *world) must(err error) {
	if err != nil {
		w.failf("%v", err)
	}
}

// execute runs the complete plan inside a bubble.
func (w *world) execute() {
	for _, m := range w.members {
		w.must(m.start())
	}
	w.operator = &operator{w.newProcess("ops", "prod", 1, 1), rngFor(w.plan.seed, "operator")}
	w.operator.create()
	w.operator.limitWork()
	w.judge = w.newProcess("judge", "prod", 1, 1)

	done := make(chan struct{})
	workersDone := make(chan struct{})
	var working, injecting, sharing sync.WaitGroup
	for i := range machines {
		p := newProgram(w, i)
		w.programs = append(w.programs, p)
		var submitting sync.WaitGroup
		submitting.Go(func() { p.submitJobs(done) })
		working.Go(func() { p.work(done, &submitting) })
		sharing.Go(func() { w.workers(i, workersDone) })
	}
	working.Go(func() { w.operator.work(done) })
	working.Go(func() { w.takeOverRepeatedly(done) })
	for _, f := range w.plan.faults {
		injecting.Go(func() {
			advance(f.at)
			w.injectFault(f)
		})
	}
	advance(w.plan.length)
	injecting.Wait()
	close(done)
	working.Wait()
	for _, m := range w.members {
		if m.exited() { // consecutive disk stalls may last as long as a hang
			m.stop()
		}
		w.must(m.start())
	}
	w.awaitJobs()
	w.lateCalls.Wait()
	close(workersDone)
	sharing.Wait()
	advance(10 * time.Second) // for the last permits to end
	w.settle()
	w.settled = w.now()
	advance(2 * time.Second) // for callers to notice
	w.cancel()
	w.awaiting.Wait()
	w.judge.end()
	w.operator.end()
	w.elapsed = w.now()
	for _, m := range w.members {
		m.stop()
	}
}

// settle waits until every member has applied the same entries, and records the hash of each member's state.
func (w *world) settle() {
	for range 100 {
		advance(time.Second)
		if w.membersAgree() {
			return
		}
	}
	w.failf("timed out waiting for all members to apply the same entries: %v", w.indexes)
}

func (w *world) membersAgree() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	all, err := w.operator.client.Members(ctx, &gatekeeperv1.GetStatusRequest{StateHash: true})
	if err != nil {
		return false
	}
	at := all[0].Status.GetStateHashIndex()
	for _, m := range all {
		if at == 0 || m.Status.GetStateHashIndex() != at {
			return false
		}
	}
	for _, m := range all {
		s := m.Status
		w.clusterID = s.GetClusterId()
		w.indexes[s.GetId()] = s.GetStateHashIndex()
		w.history.Put(history.Entry{State: &history.State{Member: s.GetId(), Index: s.GetStateHashIndex(), Hash: s.GetStateHash()}})
	}
	return len(all) == len(w.members)
}

// hashAt returns the state hash that members reported at an index, or "".
func (w *world) hashAt(index uint64) string {
	for _, e := range w.history.Entries() {
		if e.State != nil && e.State.Index == index {
			return e.State.Hash
		}
	}
	return ""
}

func hexOf(hash [32]byte) string { return hex.EncodeToString(hash[:]) }

// machine returns the name of a client machine.
func machine(i int) string { return fmt.Sprintf("app%d", i) }

// program runs jobs on one client machine, in a process that is replaced after a crash.
type program struct {
	world *world
	index int

	mu          sync.Mutex // guards the fields below
	process     *process
	incarnation int
	ended       bool

	lateCalls sync.WaitGroup // delayed messages
}

func newProgram(w *world, i int) *program {
	p := &program{world: w, index: i}
	p.begin()
	return p
}

// begin starts a process. The caller must hold mu, unless nothing else can access p yet.
func (p *program) begin() {
	p.incarnation++
	p.process = p.world.newProcess(machine(p.index), groupOf(p.index), p.incarnation, p.world.plan.rates[p.index])
}

// crash kills the process and starts another one.
func (p *program) crash() {
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	old := p.process
	p.begin()
	p.mu.Unlock()
	old.crash()
}

func (p *program) currentProcess() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}

// jobs is the number of jobs that a program runs concurrently.
const jobs = 3

// work runs jobs until done is closed.
func (p *program) work(done <-chan struct{}, submitting *sync.WaitGroup) {
	var all sync.WaitGroup
	for j := range jobs {
		rng := rngFor(p.world.plan.seed, fmt.Sprintf("job %d %d", p.index, j))
		self := identitiesOf(p.index, j)
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(between(rng, 0, 1500*time.Millisecond)):
				}
				if spec := p.world.randomSpec(rng); rng.IntN(5) < 2 {
					p.currentProcess().run(spec, rng)
				} else {
					p.acquireRepeatedly(spec, self, rng)
				}
			}
		})
	}
	all.Wait()
	submitting.Wait()
	p.lateCalls.Wait()
	p.mu.Lock()
	p.ended = true
	last := p.process
	p.mu.Unlock()
	last.end()
}

// randomSpec returns a random jobSpec.
func (w *world) randomSpec(rng *rand.Rand) jobSpec {
	names := append(semaphores(), taskSemaphores()...)
	got := jobSpec{semaphore: names[rng.IntN(len(names))], weight: 1, hold: between(rng, 10*time.Millisecond, 2*time.Second), ignoresStop: rng.IntN(4) == 0, outcome: randomOutcome(rng)}
	if rng.IntN(4) == 0 {
		got.hold = between(rng, time.Second, 8*time.Second)
	}
	if rng.IntN(2) == 0 {
		got.wait = between(rng, 200*time.Millisecond, 8*time.Second)
	}
	got.refresh = rng.IntN(4) == 0
	switch got.semaphore {
	case severalSem:
		got.weight = 1 + rng.Uint32N(3)
	case sharesSem, restingSem, guardedSem:
		got.weight = 1 + rng.Uint32N(3)
		if rng.IntN(4) == 0 {
			got.identity = w.workerIdentity(rng)
			got.impersonatesWorker = got.identity.HolderID != ""
		}
	}
	if period := firingPeriod(got.semaphore); period > 0 { // all machines request the same firings
		got.due = w.start.Add(w.now().Truncate(period)).UTC()
	}
	return got
}

// workerIdentity returns a worker's identity: either the one in its offer, or the one that the servers derived from it
// for the last task. Until that task has ended, servers must not grant another caller a permit under the task's
// identity. The result is empty if no task has been handed out yet.
func (w *world) workerIdentity(rng *rand.Rand) history.Identity {
	w.seenMu.Lock()
	defer w.seenMu.Unlock()
	id := w.worker
	if id.HolderID != "" && rng.IntN(2) == 0 {
		id.HolderID = workerID
	}
	return id
}

// outcome returns a failed call's outcome as far as its caller can tell.
func outcome(err error) history.Outcome {
	if errors.Is(err, client.ErrOutcomeUnknown) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return history.Unknown
	}
	if reasonOf(err) == "REQUEST_ENDED" {
		return history.Unknown // an earlier attempt may have been granted
	}
	return history.Refused
}

// reasonOf returns the machine-readable reason in a server's error, or "".
func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

// advance advances the virtual time by d.
func advance(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // always within a bubble
}
