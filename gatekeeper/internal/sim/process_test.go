package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// process is a program that runs a client on a separate machine. It runs until its last job is done or it crashes.
type process struct {
	world    *world
	host     *host
	client   *client.Client
	record   *history.Recorder
	group    string
	acquirer string
	rate     float64 // the rate of its clock, relative to the bubble's
	crashed  chan struct{}

	mu       sync.Mutex               // guards the fields below; never held for long
	believed map[uint64]time.Duration // when the process started to rely on a token that it got without the library
	last     map[place]uint64         // an identity's last token; the process stops relying on it when it acquires again
	stated   map[uint64]time.Duration // the time until which the last frame sent lets this process rely on a token
}

// place is an identity and the semaphore that it uses.
type place struct {
	semaphore string
	identity  history.Identity
}

// clock is a clock that runs at the given rate.
type clock struct {
	start time.Time
	rate  float64
}

func (c clock) Now() time.Duration { return time.Duration(float64(time.Since(c.start)) * c.rate) }

func (w *world) process(machine, group string, life int, rate float64) *process {
	p := &process{
		world: w, host: &host{machine: machine}, group: group, acquirer: machine, rate: rate, crashed: make(chan struct{}),
		believed: make(map[uint64]time.Duration), last: make(map[place]uint64), stated: make(map[uint64]time.Duration),
		record: history.NewRecorder(fmt.Sprintf("%s#%d", machine, life), w.now, w.history.Put),
	}
	var endpoints []string
	for _, m := range w.members {
		endpoints = append(endpoints, m.api())
	}
	var err error
	p.client, err = client.Dial(context.Background(), endpoints,
		client.WithAcquirer(machine), client.WithGroup(group), client.WithLogger(w.log), client.WithAttemptTimeout(2*time.Second),
		client.WithClock(clock{time.Now(), rate}),
		client.WithGRPC(grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return w.net.dial(ctx, p.host, address)
		}), grpc.WithChainUnaryInterceptor(w.batched), grpc.WithChainStreamInterceptor(p.frames)))
	if err != nil {
		w.wrong("dial: %v", err)
	}
	return p
}

// batched counts the calls from a process's jobs that are answered in batches.
func (w *world) batched(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, options...)
	if r, ok := reply.(*gatekeeperv1.BatchTryAcquireResponse); ok && err == nil {
		for _, result := range r.GetResults() {
			if result.GetResult() == nil {
				w.paths.met(leftOpen)
			} else {
				w.paths.met(batched)
			}
		}
	}
	return err
}

// frames records the contents of the frames that the process sends.
func (p *process) frames(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, options...)
	if err != nil || method != gatekeeperv1.PermitService_KeepAlive_FullMethodName {
		return stream, err
	}
	return statingStream{stream, p}, nil
}

type statingStream struct {
	grpc.ClientStream
	process *process
}

// SendMsg records how long the process may rely on a permit if neither this frame nor a later one is answered.
func (s statingStream) SendMsg(m any) error {
	if f, ok := m.(*gatekeeperv1.KeepAliveRequest); ok {
		for _, t := range f.GetTokens() {
			s.process.states(t.GetDuration().AsDuration(), t.GetToken())
		}
		for _, g := range f.GetGroups() {
			s.process.states(g.GetDuration().AsDuration(), g.GetTokens()...)
		}
	}
	return s.ClientStream.SendMsg(m)
}

func (p *process) states(duration time.Duration, tokens ...uint64) {
	until := p.world.now() + time.Duration(float64(duration)*0.98/p.rate)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range tokens {
		p.stated[token] = until
	}
}

// countedAtMost returns the latest time until which the process can have relied on a token that it lost. A frame sent
// after the belief was read may have specified a shorter duration.
func (p *process) countedAtMost(token uint64, read time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until, ok := p.stated[token]; ok {
		return min(read, until)
	}
	return read
}

// crash kills the process. A dead process believes, sends and receives nothing.
func (p *process) crash() {
	p.world.history.Put(history.Entry{Death: &history.Death{Client: p.record.Client(), At: p.world.now()}})
	p.world.net.kill(p.host, true)
	close(p.crashed)
	_ = p.client.Close() // always nil
}

// end stops the process after its last job.
func (p *process) end() {
	_ = p.client.Close() // always nil
	p.world.net.kill(p.host, true)
}

// wish is a job's request for a permit, and describes how the job behaves.
type wish struct {
	semaphore string
	weight    uint32
	due       time.Time     // due time of the firing to claim; zero for none
	wait      time.Duration // maximum time in the queue; 0 means not to queue
	hold      time.Duration
	deaf      bool                        // continues after its context is cancelled
	outcome   gatekeeperv1.ReleaseOutcome // the outcome that it reports when it finishes
	refresh   bool                        // also refreshes and verifies explicitly
	// identity and requestID are generated, and unique, if they are empty.
	identity  history.Identity
	requestID string
	leaves    bool // does not cancel a request whose outcome is unknown
	guise     bool // the identity is a worker's
}

// run makes one acquisition and holds the resulting permit. unknown reports whether the outcome of the acquisition is
// unknown.
func (p *process) run(w wish, luck *rand.Rand) (asked history.Request, unknown bool) {
	if w.identity == (history.Identity{}) {
		w.identity = history.Identity{Group: p.group, Acquirer: p.acquirer, HolderID: fmt.Sprintf("h%x", luck.Uint64())}
	}
	if w.requestID == "" {
		w.requestID = fmt.Sprintf("r%x", luck.Uint64())
	}
	options := []client.AcquireOption{
		client.WithGroup(w.identity.Group), client.WithAcquirer(w.identity.Acquirer), client.WithHolderID(w.identity.HolderID),
		client.WithRequestID(w.requestID), client.WithWeight(w.weight), client.WithStopTime(50 * time.Millisecond),
	}
	if !w.due.IsZero() {
		options = append(options, client.WithFiring(w.semaphore, w.due))
	}
	asked = w.asked(w.requestID)
	asked.Replaces = p.lastOf(w) // the library may send it
	asked.Wait = w.wait > 0
	ctx, cancel := context.WithTimeout(context.Background(), max(w.wait, 3*time.Second))
	defer cancel()
	answered := p.record.Call(asked)
	sem := p.client.Semaphore(w.semaphore, options...)
	var permit *client.Permit
	var err error
	if w.wait > 0 {
		permit, err = sem.TryAcquireFor(ctx, w.wait)
	} else {
		permit, err = sem.TryAcquire(ctx)
	}
	denied, isDenied := errors.AsType[*client.DeniedError](err)
	if p.isCrashed() {
		return asked, true
	}
	_, inUse := errors.AsType[*client.InUseError](err)
	switch {
	case inUse:
		answered(history.Refused, history.Response{}, err)
	case err == nil:
		p.setLast(w, permit.Token())
		if w.guise {
			p.world.paths.met(asWorker)
		}
		p.world.granted(w.semaphore, permit.Token(), w.hold, luck)
		answered(history.Known, history.Response{Result: history.Granted, Token: permit.Token(), SafeUntil: p.believes(permit)}, nil)
		p.hold(permit, w)
	case isDenied && w.wait > 0:
		// The caller may have joined and left the queue, so the denial does not describe a single point in time.
		answered(history.Unknown, history.Response{}, err)
		p.takeBack(asked)
	case isDenied:
		if d := denied.Firing.GetWinner(); d.GetHolderId() == w.identity.HolderID && d.GetAcquirer() == w.identity.Acquirer {
			p.world.paths.met(ownFiring)
		}
		p.lostClaim(w, denied.Firing.GetToken(), luck)
		outcome, response := history.Denial(string(denied.Reason), denied.QueueLength, denied.Stop != 0)
		answered(outcome, response, err)
	default:
		answered(history.Unknown, history.Response{}, err)
		if unknown = true; !w.leaves {
			p.takeBack(asked)
		}
		if errors.Is(err, client.ErrOutcomeUnknown) {
			p.world.paths.met(unknownOutcome)
		}
	}
	return asked, unknown
}

func (p *process) lastOf(w wish) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[place{w.semaphore, w.identity}]
}

func (p *process) setLast(w wish, token uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[place{w.semaphore, w.identity}] = token
}

// takeBack cancels an acquisition whose outcome is unknown. The client does that only for request ids that it
// generated.
func (p *process) takeBack(asked history.Request) {
	p.record.Call(history.Request{Kind: history.Cancel, Semaphore: asked.Semaphore, Identity: asked.Identity, RequestID: asked.RequestID})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = p.client.Permits().Cancel(ctx, &gatekeeperv1.CancelRequest{ // the history already records the outcome as unknown
		Semaphore: asked.Semaphore, RequestId: asked.RequestID,
		Identity: &gatekeeperv1.Identity{Group: asked.Identity.Group, Acquirer: asked.Identity.Acquirer, HolderId: asked.Identity.HolderID},
	})
}

// believes returns the time until which the client relies on a permit, by the bubble's clock, or 0 if the client does
// not rely on it.
func (p *process) believes(permit *client.Permit) time.Duration {
	until := permit.SafeUntil()
	if until.IsZero() {
		return 0
	}
	return p.world.now() + time.Duration(float64(time.Until(until))/p.rate)
}

// ownDeadline occurs in the client's cause when no server has notified it that a permit is lost. That deadline can be
// earlier than a previous one, because a refresh may return a shorter duration.
const ownDeadline = "its deadline passed"

// hold runs the job that a permit was acquired for, records how long the client believed that it held the permit, and
// releases it.
func (p *process) hold(permit *client.Permit, w wish) {
	b := history.Belief{Semaphore: w.semaphore, Token: permit.Token(), Weight: w.weight, From: p.world.now()}
	done := time.NewTimer(w.hold)
	defer done.Stop()
	stopped := permit.Context().Done()
	var counted time.Duration // the time until which it relies on the permit if no response arrives
	lapse := time.NewTimer(0)
	defer lapse.Stop()
	for until := p.believes(permit); until > 0; until = p.believes(permit) {
		b.Until, counted = until, until
		p.record.Belief(b)
		lapse.Reset(b.Until - p.world.now() + time.Microsecond) // to allow for rounding
		select {
		case <-lapse.C:
			if permit.Held() {
				continue
			}
		case <-permit.Done():
		case <-stopped:
			if stop, ok := errors.AsType[*client.StopError](context.Cause(permit.Context())); ok && stop.Cause == gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG {
				p.world.paths.met(overheld)
			}
			if w.deaf {
				stopped = nil
				continue
			}
		case <-done.C:
			if w.refresh {
				w.refresh = false
				p.refresh(permit)
				done.Reset(w.hold)
				continue
			}
		case <-p.crashed:
			if b.Counted = p.believes(permit); b.Counted > 0 {
				p.record.Belief(b)
			}
			return
		}
		break
	}
	cause := context.Cause(permit.Context())
	passed := cause != nil && strings.Contains(cause.Error(), ownDeadline)
	if errors.Is(cause, client.ErrLost) && p.world.now() < counted && !passed {
		p.world.notifiedLost(b.Token)
	}
	b.Until = max(b.From, min(b.Until, p.world.now()))
	switch last := p.believes(permit); {
	case last > 0:
		b.Counted = last
	case passed:
		b.Counted = b.Until
	default:
		b.Counted = p.countedAtMost(b.Token, counted)
	}
	p.record.Belief(b)
	p.release(permit, w)
}

func (p *process) refresh(permit *client.Permit) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if permit.Refresh(ctx) == nil {
		_ = permit.Ensure(ctx, 10*time.Millisecond) // the belief shows whether the permit is held
	}
}

func (p *process) release(permit *client.Permit, w wish) {
	asked := releaseOf(w.semaphore, permit.Token(), w.outcome)
	answered := p.record.Call(asked)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var err error
	switch {
	case asked.NotRun:
		err = permit.ReleaseNotRun(ctx)
	case asked.CutShort:
		err = permit.ReleaseCutShort(ctx)
	case asked.Failed:
		err = permit.ReleaseFailed(ctx, errors.New(asked.Failure))
	default:
		err = permit.Release(ctx)
	}
	if p.isCrashed() {
		return
	}
	ended, isEnded := errors.AsType[*client.EndedError](err)
	switch {
	case err == nil:
		answered(history.Known, history.Response{Result: history.Released}, nil)
	case isEnded:
		answered(history.Known, history.Response{Result: history.Ended}, ended)
	default:
		answered(history.Unknown, history.Response{}, err)
	}
}
