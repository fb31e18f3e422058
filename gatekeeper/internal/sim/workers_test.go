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

// to connects to a random server without using the client library.
func (p *process) to(luck *rand.Rand) (gatekeeperv1.WorkServiceClient, func()) {
	m := p.world.members[luck.IntN(len(p.world.members))]
	conn, err := grpc.NewClient("passthrough:///"+m.api(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return p.world.net.dial(ctx, p.host, address)
		}))
	if err != nil {
		p.world.wrong("dial: %v", err)
	}
	return gatekeeperv1.NewWorkServiceClient(conn), func() { _ = conn.Close() }
}

// workerID is the holder id of all workers. The servers append a suffix for each task.
const workerID = "w"

// sawWorker records the identity that a task was handed out to.
func (w *world) sawWorker(id history.Identity) {
	w.seenMu.Lock()
	defer w.seenMu.Unlock()
	w.worker = id
}

// workers runs one worker process after another on a machine, all under one identity.
func (w *world) workers(index int, end <-chan struct{}) {
	luck := luckOf(w.plan.seed, fmt.Sprint("worker ", index))
	for life := 1; ; life++ {
		p := w.process(machine(index), groupOf(index), 1000+life, w.plan.rates[index])
		lasts := between(luck, time.Second, 20*time.Second)
		crashes := luck.IntN(2) == 0
		stop := make(chan struct{})
		var streams sync.WaitGroup
		for stream := range 2 { // both have the same identity
			own := luckOf(luck.Uint64(), fmt.Sprint(stream))
			streams.Go(func() {
				for !closed(stop) && !p.isCrashed() {
					p.works(stop, own)
					pass(between(own, 10*time.Millisecond, 400*time.Millisecond))
				}
			})
		}
		over := false
		select {
		case <-end:
			over = true
		case <-time.After(lasts):
		}
		if crashes && !over {
			w.paths.met(workerKilled)
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

// working is one of a worker's streams.
type working struct {
	*process
	semaphore string
	stream    grpc.BidiStreamingClient[gatekeeperv1.WorkRequest, gatekeeperv1.WorkResponse]
	mu        sync.Mutex // guards the fields below, and sending
	frames    []time.Duration
	ended     map[uint64]func(*gatekeeperv1.TaskEnded) // by token, records the response to the end of a task
	until     map[uint64]time.Duration                 // the time until which the worker relies on a token
}

func (k *working) send(m *gatekeeperv1.WorkRequest) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.frames = append(k.frames, k.world.now())
	m.Frame = uint64(len(k.frames))
	return k.stream.Send(m)
}

// works opens a stream and processes its tasks until the stream or the process ends.
func (p *process) works(stop <-chan struct{}, luck *rand.Rand) {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	stream, err := c.Work(ctx)
	if err != nil {
		return
	}
	k := &working{process: p, semaphore: workplaces()[luck.IntN(3)], stream: stream, ended: make(map[uint64]func(*gatekeeperv1.TaskEnded)), until: make(map[uint64]time.Duration)}
	slots, weight := 1+luck.Uint32N(2), uint32(1)
	if luck.IntN(3) == 0 {
		weight += luck.Uint32N(3)
	}
	if luck.IntN(4) == 0 {
		slots = 3 + luck.Uint32N(98)
	}
	if err := k.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Offer{Offer: &gatekeeperv1.WorkOffer{
		Semaphore: k.semaphore, Slots: slots, Weight: weight, Identity: &gatekeeperv1.Identity{Group: p.group, Acquirer: p.acquirer, HolderId: workerID},
	}}}); err != nil {
		return
	}
	var tasks sync.WaitGroup
	defer tasks.Wait()
	gone := make(chan struct{})
	defer close(gone)
	tasks.Go(func() {
		select {
		case <-stop:
			if k.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Drain{Drain: &gatekeeperv1.WorkDrain{}}}) == nil {
				select {
				case <-gone:
					p.world.paths.met(workerDrained)
				case <-time.After(3 * time.Second):
				}
			}
			cancel()
		case <-gone:
		}
	})
	for {
		m, err := stream.Recv()
		if err != nil || p.isCrashed() {
			return
		}
		switch {
		case m.GetTask() != nil:
			got, own := m.GetTask(), rand.New(rand.NewPCG(luck.Uint64(), 0))
			tasks.Go(func() { k.does(got, stop, own) })
		case m.GetEnded() != nil:
			k.mu.Lock()
			answered := k.ended[m.GetEnded().GetToken()]
			k.mu.Unlock()
			answered(m.GetEnded())
		}
	}
}

// does works on a task for some time and refreshes its permit, or hangs for longer than the permit lasts. Then it
// reports the outcome.
func (k *working) does(g *gatekeeperv1.TaskGrant, stop <-chan struct{}, luck *rand.Rand) {
	permit := g.GetGrant().GetPermit()
	token, w, duration := permit.GetToken(), wish{semaphore: k.semaphore, weight: permit.GetWeight()}, permit.GetDuration().AsDuration()
	id := g.GetJob().GetId()
	k.world.sawWorker(identityOf(permit))
	k.record.Handed(history.Handed{
		Token: token, Semaphore: k.semaphore, Identity: identityOf(permit), Weight: w.weight, Job: id, Index: g.GetTask().GetIndex(), Content: history.Content(g.GetTask().GetPayload()), Attempt: g.GetTask().GetAttempts(),
	})
	k.mu.Lock()
	if f := g.GetFrame(); f > 0 && f <= uint64(len(k.frames)) {
		until := k.frames[f-1] + time.Duration(float64(g.GetGrant().GetWaited().AsDuration()+duration)*0.98/k.rate)
		k.mu.Unlock()
		k.counts(w, token, until)
	} else {
		k.mu.Unlock()
	}
	hangs := luck.IntN(5) == 0
	ends := k.world.now() + between(luck, 5*time.Millisecond, 1500*time.Millisecond)
	if hangs {
		k.world.paths.met(workerHung)
		pass(between(luck, time.Second, 4*time.Second))
	}
	lost := false
	for k.world.now() < ends && !k.isCrashed() && !lost {
		lost = !k.refreshes(w, token, duration)
		pass(min(150*time.Millisecond, max(0, ends-k.world.now())))
	}
	if k.isCrashed() {
		return
	}
	k.stopBelieving(w, token)
	end := &gatekeeperv1.TaskEnd{Token: token, Next: !closed(stop)}
	result := resultOf(token, luck.IntN(1000))
	switch luck.IntN(8) {
	case 0:
		end.Outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED
	case 1:
		end.Outcome, result = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT, ""
	case 2:
		end.Outcome, result = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN, ""
	}
	asked := history.Ending(k.semaphore, id, token, strings.TrimPrefix(end.Outcome.String(), "RELEASE_OUTCOME_"), result)
	end.Result, end.Failure = []byte(result), asked.Failure
	answered := k.record.Call(asked)
	k.mu.Lock()
	k.ended[token] = func(e *gatekeeperv1.TaskEnded) {
		if !e.GetRefused() {
			answered(history.Known, endOf(asked, e.GetRecorded()), nil)
		}
	}
	k.mu.Unlock()
	if k.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_End{End: end}}) == nil && luck.IntN(4) > 0 {
		return
	}
	// The stream may be broken, so the worker reports the outcome again, with a release, possibly much later.
	pass(between(luck, 0, 2*time.Second))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	again := k.record.Call(asked)
	r, err := k.client.Permits().Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token, Outcome: end.Outcome, Failure: end.Failure, Result: end.Result})
	if err == nil && !k.isCrashed() {
		again(history.Known, endOf(asked, r.GetRecorded()), nil)
	}
}

func identityOf(p *gatekeeperv1.Permit) history.Identity {
	id := p.GetIdentity()
	return history.Identity{Group: id.GetGroup(), Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

// endOf returns the response to a worker's report that its task has ended.
func endOf(asked history.Request, recorded bool) history.Response {
	switch {
	case asked.NotRun, asked.CutShort:
		return history.Response{Result: history.Returned}
	case recorded:
		return history.Response{Result: history.Recorded}
	}
	return history.Response{Result: history.Unrecorded}
}

// refreshes refreshes a permit, and reports whether the holder still has it.
func (k *working) refreshes(w wish, token uint64, duration time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	sent := k.world.now()
	r, err := k.client.Permits().Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{{Token: token, Duration: durationpb.New(duration)}}})
	if err != nil || len(r.GetResults()) == 0 || k.isCrashed() {
		return true // the outcome is unknown
	}
	if r.GetResults()[0].GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		if r.GetResults()[0].GetStop() == gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG {
			k.world.paths.met(taskOverheld)
		}
		return false
	}
	k.counts(w, token, sent+time.Duration(float64(r.GetResults()[0].GetDuration().AsDuration())*0.98/k.rate))
	return true
}

// counts records the time until which the worker relies on a permit.
func (k *working) counts(w wish, token uint64, until time.Duration) {
	k.mu.Lock()
	k.until[token] = until
	k.mu.Unlock()
	k.believe(w, token, until)
}

// stopBelieving ends a belief unless it has already ended.
func (k *working) stopBelieving(w wish, token uint64) {
	k.mu.Lock()
	until, ok := k.until[token]
	k.mu.Unlock()
	if ok {
		k.believe(w, token, min(until, k.world.now()))
	}
}
