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

// process is a client process on a client machine. It runs until its last job is done or it crashes.
type process struct {
	world    *world
	host     *host
	client   *client.Client
	record   *history.Recorder
	group    string
	acquirer string
	rate     float64 // the rate of its clock, relative to the bubble's
	crashed  chan struct{}

	mu            sync.Mutex               // guards the fields below; never held for long
	believedSince map[uint64]time.Duration // when the process started to rely on a token that it acquired without the library
	lastToken     map[identityKey]uint64   // an identity's last token; the process stops relying on it when it acquires again
	frameDeadline map[uint64]time.Duration // by token, how long the process may rely on it, given the last frame sent
}

// identityKey is an identity and the semaphore that it uses.
type identityKey struct {
	semaphore string
	identity  history.Identity
}

// clock is a clock that runs at the given rate.
type clock struct {
	start time.Time
	rate  float64
}

func (c clock) Now() time.Duration { return time.Duration(float64(time.Since(c.start)) * c.rate) }

func (w *world) newProcess(machine, group string, incarnation int, rate float64) *process {
	p := &process{
		world: w, host: &host{machine: machine}, group: group, acquirer: machine, rate: rate, crashed: make(chan struct{}),
		believedSince: make(map[uint64]time.Duration), lastToken: make(map[identityKey]uint64), frameDeadline: make(map[uint64]time.Duration),
		record: history.NewRecorder(fmt.Sprintf("%s#%d", machine, incarnation), w.now, w.history.Put),
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
		}), grpc.WithChainUnaryInterceptor(w.countBatched), grpc.WithChainStreamInterceptor(p.interceptFrames)))
	if err != nil {
		w.failf("dial: %v", err)
	}
	return p
}

// countBatched counts the calls that a batch response answers or leaves unanswered.
func (w *world) countBatched(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, options...)
	if r, ok := reply.(*gatekeeperv1.BatchTryAcquireResponse); ok && err == nil {
		for _, result := range r.GetResults() {
			if result.GetResult() == nil {
				w.paths.inc(leftOpen)
			} else {
				w.paths.inc(batched)
			}
		}
	}
	return err
}

// interceptFrames records the contents of the frames that the process sends.
func (p *process) interceptFrames(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, cc, method, options...)
	if err != nil || method != gatekeeperv1.PermitService_KeepAlive_FullMethodName {
		return stream, err
	}
	return recordingStream{stream, p}, nil
}

type recordingStream struct {
	grpc.ClientStream
	process *process
}

// SendMsg records how long the process may rely on a permit if neither this frame nor a later one is answered.
func (s recordingStream) SendMsg(m any) error {
	if f, ok := m.(*gatekeeperv1.KeepAliveRequest); ok {
		for _, t := range f.GetTokens() {
			s.process.recordFrame(t.GetDuration().AsDuration(), t.GetToken())
		}
		for _, g := range f.GetGroups() {
			s.process.recordFrame(g.GetDuration().AsDuration(), g.GetTokens()...)
		}
	}
	return s.ClientStream.SendMsg(m)
}

func (p *process) recordFrame(duration time.Duration, tokens ...uint64) {
	until := p.world.now() + time.Duration(float64(duration)*0.98/p.rate)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, token := range tokens {
		p.frameDeadline[token] = until
	}
}

// maxReliedUntil returns the latest time until which the process may have relied on a token that it lost. A frame sent
// after the belief was read may have specified a shorter duration.
func (p *process) maxReliedUntil(token uint64, read time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until, ok := p.frameDeadline[token]; ok {
		return min(read, until)
	}
	return read
}

// crash kills the process. From then on, it sends and receives nothing and relies on no permit.
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

// jobSpec describes a job: the permit that it requests, and how it behaves.
type jobSpec struct {
	semaphore   string
	weight      uint32
	due         time.Time     // due time of the firing to claim; zero for none
	wait        time.Duration // maximum time in the queue; 0 means that it does not queue
	hold        time.Duration
	ignoresStop bool                        // continues after its context is cancelled
	outcome     gatekeeperv1.ReleaseOutcome // the outcome that it reports when it finishes
	refresh     bool                        // also refreshes and verifies explicitly
	// If identity or requestID is empty, a unique value is generated.
	identity           history.Identity
	requestID          string
	noCancel           bool // does not cancel a request whose outcome is unknown
	impersonatesWorker bool // the identity is a worker's
}

// run makes one acquisition and holds the resulting permit. unknown reports whether the outcome of the acquisition is
// unknown.
func (p *process) run(w jobSpec, rng *rand.Rand) (req history.Request, unknown bool) {
	if w.identity == (history.Identity{}) {
		w.identity = history.Identity{Group: p.group, Acquirer: p.acquirer, HolderID: fmt.Sprintf("h%x", rng.Uint64())}
	}
	if w.requestID == "" {
		w.requestID = fmt.Sprintf("r%x", rng.Uint64())
	}
	options := []client.AcquireOption{
		client.WithGroup(w.identity.Group), client.WithAcquirer(w.identity.Acquirer), client.WithHolderID(w.identity.HolderID),
		client.WithRequestID(w.requestID), client.WithWeight(w.weight), client.WithStopTime(50 * time.Millisecond),
	}
	if !w.due.IsZero() {
		options = append(options, client.WithFiring(w.semaphore, w.due))
	}
	req = w.acquireRequest(w.requestID)
	req.Replaces = p.lastOf(w) // the library may send it
	req.Wait = w.wait > 0
	ctx, cancel := context.WithTimeout(context.Background(), max(w.wait, 3*time.Second))
	defer cancel()
	complete := p.record.Call(req)
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
		return req, true
	}
	_, inUse := errors.AsType[*client.InUseError](err)
	switch {
	case inUse:
		complete(history.Refused, history.Response{}, err)
	case err == nil:
		p.setLast(w, permit.Token())
		if w.impersonatesWorker {
			p.world.paths.inc(grantedAsWorker)
		}
		p.world.recordGrant(w.semaphore, permit.Token(), w.hold, rng)
		complete(history.Known, history.Response{Result: history.Granted, Token: permit.Token(), SafeUntil: p.reliesUntil(permit)}, nil)
		p.hold(permit, w)
	case isDenied && w.wait > 0:
		// The caller may have joined and left the queue, so the denial does not describe a single point in time.
		complete(history.Unknown, history.Response{}, err)
		p.cancelRequest(req)
	case isDenied:
		if d := denied.Firing.GetWinner(); d.GetHolderId() == w.identity.HolderID && d.GetAcquirer() == w.identity.Acquirer {
			p.world.paths.inc(ownFiring)
		}
		p.maybeAwaitFiring(w, denied.Firing.GetToken(), rng)
		outcome, response := history.Denial(string(denied.Reason), denied.QueueLength, denied.Stop != 0)
		complete(outcome, response, err)
	default:
		complete(history.Unknown, history.Response{}, err)
		if unknown = true; !w.noCancel {
			p.cancelRequest(req)
		}
		if errors.Is(err, client.ErrOutcomeUnknown) {
			p.world.paths.inc(unknownOutcome)
		}
	}
	return req, unknown
}

func (p *process) lastOf(w jobSpec) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastToken[identityKey{w.semaphore, w.identity}]
}

func (p *process) setLast(w jobSpec, token uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastToken[identityKey{w.semaphore, w.identity}] = token
}

// cancelRequest cancels an acquisition whose outcome is unknown. The client library does so only for request ids that
// it generated.
func (p *process) cancelRequest(req history.Request) {
	p.record.Call(history.Request{Kind: history.Cancel, Semaphore: req.Semaphore, Identity: req.Identity, RequestID: req.RequestID})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = p.client.Permits().Cancel(ctx, &gatekeeperv1.CancelRequest{ // the history already records the outcome as unknown
		Semaphore: req.Semaphore, RequestId: req.RequestID,
		Identity: &gatekeeperv1.Identity{Group: req.Identity.Group, Acquirer: req.Identity.Acquirer, HolderId: req.Identity.HolderID},
	})
}

// reliesUntil returns the time until which the client relies on a permit, by the bubble's clock, or 0 if the client
// does not rely on it.
func (p *process) reliesUntil(permit *client.Permit) time.Duration {
	until := permit.SafeUntil()
	if until.IsZero() {
		return 0
	}
	return p.world.now() + time.Duration(float64(time.Until(until))/p.rate)
}

// deadlinePassedText is part of the cancellation cause if a permit's deadline passed and no server had notified the
// client of its loss. The deadline can be earlier than a previous one, because a refresh may return a shorter duration.
const deadlinePassedText = "its deadline passed"

// hold runs the job that a permit was acquired for, records how long the client believed that it held the permit, and
// releases it.
func (p *process) hold(permit *client.Permit, w jobSpec) {
	b := history.Belief{Semaphore: w.semaphore, Token: permit.Token(), Weight: w.weight, From: p.world.now()}
	done := time.NewTimer(w.hold)
	defer done.Stop()
	stopped := permit.Context().Done()
	var reliedUntil time.Duration // the time until which the client relies on the permit if no response arrives
	deadline := time.NewTimer(0)
	defer deadline.Stop()
	for until := p.reliesUntil(permit); until > 0; until = p.reliesUntil(permit) {
		b.Until, reliedUntil = until, until
		p.record.Belief(b)
		deadline.Reset(b.Until - p.world.now() + time.Microsecond) // to allow for rounding
		select {
		case <-deadline.C:
			if permit.Held() {
				continue
			}
		case <-permit.Done():
		case <-stopped:
			if stop, ok := errors.AsType[*client.StopError](context.Cause(permit.Context())); ok && stop.Cause == gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG {
				p.world.paths.inc(heldTooLong)
			}
			if w.ignoresStop {
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
			if b.ReliedUntil = p.reliesUntil(permit); b.ReliedUntil > 0 {
				p.record.Belief(b)
			}
			return
		}
		break
	}
	cause := context.Cause(permit.Context())
	deadlinePassed := cause != nil && strings.Contains(cause.Error(), deadlinePassedText)
	if errors.Is(cause, client.ErrLost) && p.world.now() < reliedUntil && !deadlinePassed {
		p.world.notifiedLost(b.Token)
	}
	b.Until = max(b.From, min(b.Until, p.world.now()))
	switch last := p.reliesUntil(permit); {
	case last > 0:
		b.ReliedUntil = last
	case deadlinePassed:
		b.ReliedUntil = b.Until
	default:
		b.ReliedUntil = p.maxReliedUntil(b.Token, reliedUntil)
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

func (p *process) release(permit *client.Permit, w jobSpec) {
	req := releaseRequest(w.semaphore, permit.Token(), w.outcome)
	complete := p.record.Call(req)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var err error
	switch {
	case req.NotRun:
		err = permit.ReleaseNotRun(ctx)
	case req.CutShort:
		err = permit.ReleaseCutShort(ctx)
	case req.Failed:
		err = permit.ReleaseFailed(ctx, errors.New(req.Failure))
	default:
		err = permit.Release(ctx)
	}
	if p.isCrashed() {
		return
	}
	ended, isEnded := errors.AsType[*client.EndedError](err)
	switch {
	case err == nil:
		complete(history.Known, history.Response{Result: history.Released}, nil)
	case isEnded:
		complete(history.Known, history.Response{Result: history.Ended}, ended)
	default:
		complete(history.Unknown, history.Response{}, err)
	}
}
