package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// dialAny connects to a random server without using the client library.
func (p *process) dialAny(rng *rand.Rand) (gatekeeperv1.WorkServiceClient, func()) {
	m := p.world.members[rng.IntN(len(p.world.members))]
	conn, err := grpc.NewClient("passthrough:///"+m.api(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return p.world.net.dial(ctx, p.host, address)
		}))
	if err != nil {
		p.world.failf("dial: %v", err)
	}
	return gatekeeperv1.NewWorkServiceClient(conn), func() { _ = conn.Close() }
}

// workerID is the holder id of all workers. The servers append a suffix for each task.
const workerID = "w"

// recordWorker records the identity that a task was handed out to.
func (w *world) recordWorker(id history.Identity) {
	w.seenMu.Lock()
	defer w.seenMu.Unlock()
	w.worker = id
}

// workers runs successive worker processes on a machine, all under one identity, until end is closed.
func (w *world) workers(index int, end <-chan struct{}) {
	rng := rngFor(w.plan.seed, fmt.Sprint("worker ", index))
	for incarnation := 1; ; incarnation++ {
		p := w.newProcess(machine(index), groupOf(index), 1000+incarnation, w.plan.rates[index])
		lifetime := between(rng, time.Second, 20*time.Second)
		crashes := rng.IntN(2) == 0
		stop := make(chan struct{})
		var streams sync.WaitGroup
		for stream := range 2 { // both have the same identity
			ownRNG := rngFor(rng.Uint64(), fmt.Sprint(stream))
			streams.Go(func() {
				for !closed(stop) && !p.isCrashed() {
					p.runStream(stop, ownRNG)
					advance(between(ownRNG, 10*time.Millisecond, 400*time.Millisecond))
				}
			})
		}
		over := false
		select {
		case <-end:
			over = true
		case <-time.After(lifetime):
		}
		if crashes && !over {
			w.paths.inc(workerKilled)
			p.crash()
		}
		close(stop)
		streams.Wait()
		if !p.isCrashed() {
			p.end()
		}
		if over {
			return
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// workStream is one of a worker's streams.
type workStream struct {
	*process
	semaphore string
	stream    grpc.BidiStreamingClient[gatekeeperv1.WorkRequest, gatekeeperv1.WorkResponse]
	mu        sync.Mutex // guards sends and the fields below
	frames    []time.Duration
	onEnded   map[uint64]func(*gatekeeperv1.TaskEnded) // by token, records the response to the end of a task
	until     map[uint64]time.Duration                 // the time until which the worker relies on a token
}

func (k *workStream) send(m *gatekeeperv1.WorkRequest) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.frames = append(k.frames, k.world.now())
	m.Frame = uint64(len(k.frames))
	return k.stream.Send(m)
}

// runStream opens a stream and processes its tasks until the stream or the process ends.
func (p *process) runStream(stop <-chan struct{}, rng *rand.Rand) {
	c, closeConn := p.dialAny(rng)
	defer closeConn()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	stream, err := c.Work(ctx)
	if err != nil {
		return
	}
	k := &workStream{process: p, semaphore: taskSemaphores()[rng.IntN(3)], stream: stream, onEnded: make(map[uint64]func(*gatekeeperv1.TaskEnded)), until: make(map[uint64]time.Duration)}
	slots, weight := 1+rng.Uint32N(2), uint32(1)
	if rng.IntN(3) == 0 {
		weight += rng.Uint32N(3)
	}
	if rng.IntN(4) == 0 {
		slots = 3 + rng.Uint32N(98)
	}
	if err := k.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Offer{Offer: &gatekeeperv1.WorkOffer{
		Semaphore: k.semaphore, Slots: slots, Weight: weight, Identity: &gatekeeperv1.Identity{Group: p.group, Acquirer: p.acquirer, HolderId: workerID},
	}}}); err != nil {
		return
	}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	streamEnded := make(chan struct{})
	defer close(streamEnded)
	tasks.Go(func() {
		select {
		case <-stop:
			if k.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Drain{Drain: &gatekeeperv1.WorkDrain{}}}) == nil {
				select {
				case <-streamEnded:
					p.world.paths.inc(workerDrained)
				case <-time.After(3 * time.Second):
				}
			}
			cancel()
		case <-streamEnded:
		}
	})
	for {
		m, err := stream.Recv()
		if err != nil || p.isCrashed() {
			return
		}
		switch {
		case m.GetTask() != nil:
			got, ownRNG := m.GetTask(), rand.New(rand.NewPCG(rng.Uint64(), 0))
			tasks.Go(func() { k.runTask(got, stop, ownRNG) })
		case m.GetEnded() != nil:
			k.mu.Lock()
			complete := k.onEnded[m.GetEnded().GetToken()]
			k.mu.Unlock()
			complete(m.GetEnded())
		}
	}
}

// runTask works on a task for a random time while refreshing its permit, and then reports the outcome. Sometimes it
// first hangs for longer than the permit's duration.
func (k *workStream) runTask(g *gatekeeperv1.TaskGrant, stop <-chan struct{}, rng *rand.Rand) {
	permit := g.GetGrant().GetPermit()
	token, w, duration := permit.GetToken(), jobSpec{semaphore: k.semaphore, weight: permit.GetWeight()}, permit.GetDuration().AsDuration()
	id := g.GetJob().GetId()
	k.world.recordWorker(identityOf(permit))
	k.record.HandedTask(history.HandedTask{
		Token: token, Semaphore: k.semaphore, Identity: identityOf(permit), Weight: w.weight, Job: id, Index: g.GetTask().GetIndex(), Content: history.Content(g.GetTask().GetPayload()), Attempt: g.GetTask().GetAttempts(),
	})
	k.mu.Lock()
	if f := g.GetFrame(); f > 0 && f <= uint64(len(k.frames)) {
		until := k.frames[f-1] + time.Duration(float64(g.GetGrant().GetWaited().AsDuration()+duration)*0.98/k.rate)
		k.mu.Unlock()
		k.recordReliance(w, token, until)
	} else {
		k.mu.Unlock()
	}
	hangs := rng.IntN(5) == 0
	ends := k.world.now() + between(rng, 5*time.Millisecond, 1500*time.Millisecond)
	if hangs {
		k.world.paths.inc(workerHung)
		advance(between(rng, time.Second, 4*time.Second))
	}
	lost := false
	for k.world.now() < ends && !k.isCrashed() && !lost {
		lost = !k.refreshTask(w, token, duration)
		advance(min(150*time.Millisecond, max(0, ends-k.world.now())))
	}
	if k.isCrashed() {
		return
	}
	k.endBelief(w, token)
	end := &gatekeeperv1.TaskEnd{Token: token, Next: !closed(stop)}
	result := resultOf(token, rng.IntN(1000))
	switch rng.IntN(8) {
	case 0:
		end.Outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
	case 1:
		end.Outcome, result = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT, ""
	case 2:
		end.Outcome, result = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN, ""
	}
	req := history.NewEndTask(k.semaphore, id, token, strings.TrimPrefix(end.Outcome.String(), "RELEASE_OUTCOME_"), result)
	end.Result, end.Failure = []byte(result), req.Failure
	complete := k.record.Call(req)
	k.mu.Lock()
	k.onEnded[token] = func(e *gatekeeperv1.TaskEnded) {
		if !e.GetRefused() {
			complete(history.Known, taskEndResponse(req, e.GetRecorded()), nil)
		}
	}
	k.mu.Unlock()
	if k.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_End{End: end}}) == nil && rng.IntN(4) > 0 {
		return
	}
	// The stream may be broken, so the worker reports the outcome again, with a release, possibly much later.
	advance(between(rng, 0, 2*time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	completeRelease := k.record.Call(req)
	r, err := k.client.Permits().Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token, Outcome: end.Outcome, Failure: end.Failure, Result: end.Result})
	if err == nil && !k.isCrashed() {
		completeRelease(history.Known, taskEndResponse(req, r.GetRecorded()), nil)
	}
}

func identityOf(p *gatekeeperv1.Permit) history.Identity {
	id := p.GetIdentity()
	return history.Identity{Group: id.GetGroup(), Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

// taskEndResponse returns the response to a worker's report that its task has ended.
func taskEndResponse(req history.Request, recorded bool) history.Response {
	switch {
	case req.NotRun, req.CutShort:
		return history.Response{Result: history.Returned}
	case recorded:
		return history.Response{Result: history.Recorded}
	}
	return history.Response{Result: history.Unrecorded}
}

// refreshTask refreshes a permit, and reports whether the holder still has it.
func (k *workStream) refreshTask(w jobSpec, token uint64, duration time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	sent := k.world.now()
	r, err := k.client.Permits().Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{{Token: token, Duration: durationpb.New(duration)}}})
	if err != nil || len(r.GetResults()) == 0 || k.isCrashed() {
		return true // the outcome is unknown
	}
	if r.GetResults()[0].GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		if r.GetResults()[0].GetStop() == gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG {
			k.world.paths.inc(taskHeldTooLong)
		}
		return false
	}
	k.recordReliance(w, token, sent+time.Duration(float64(r.GetResults()[0].GetDuration().AsDuration())*0.98/k.rate))
	return true
}

// recordReliance records the time until which the worker relies on a permit.
func (k *workStream) recordReliance(w jobSpec, token uint64, until time.Duration) {
	k.mu.Lock()
	k.until[token] = until
	k.mu.Unlock()
	k.recordBelief(w, token, until)
}

// endBelief ends a belief unless it has already ended.
func (k *workStream) endBelief(w jobSpec, token uint64) {
	k.mu.Lock()
	until, ok := k.until[token]
	k.mu.Unlock()
	if ok {
		k.recordBelief(w, token, min(until, k.world.now()))
	}
}
