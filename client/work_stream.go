package client

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// minHeartbeat and maxHeartbeat bound the time between two frames from a worker. A permit's local deadline is
	// computed from the last frame before the grant, and the safety margin grows with the time between the two, so
	// workers with short permits send frames more often. Servers require a frame every 10 s.
	minHeartbeat = time.Second
	maxHeartbeat = 5 * time.Second
	// progressInterval is the minimum time between two reports of progress.
	progressInterval = 250 * time.Millisecond
	// maxRecordedFrames is how many frames are recorded, with their send times. frameGap is the minimum time between
	// two recorded frames, because a busy worker sends a frame for each task. Together they cover 10 s, twice what a
	// server needs.
	maxRecordedFrames = 512
	frameGap          = 20 * time.Millisecond
	// maxGrantWait limits the wait between the last frame and a grant. No server reports a wait this long.
	maxGrantWait = time.Hour
	// closeTimeout bounds the wait for a stream to end after this side has closed it.
	closeTimeout = 5 * time.Second
)

// WorkHandler handles the events of a worker's stream. Its functions are called one at a time, and block the stream
// while they run.
type WorkHandler struct {
	// Open is called with each new stream before it is used. It returns the number of tasks the worker can take, not
	// counting the ones it still holds. If ok is false, OfferWork returns.
	Open func(*WorkStream) (slots int, ok bool)
	// Task receives a task, which takes one slot. End the task with WorkTask.End.
	Task func(*WorkTask)
	// Denied is called with the reason if the semaphore does not admit the worker or is paused, once for each reason
	// and each pause. The servers check again when something changes. If Denied is nil, the denial is logged.
	Denied func(*DeniedError)
}

// OfferWork offers to execute tasks of the semaphore until WorkStream.Close is called, ctx ends, or a server refuses
// the offer; work.Run is built on it. A broken stream is reopened, on another member if necessary. Held tasks continue
// in the meantime, because their permits are kept alive like any other.
//
// Group, acquirer, weight, metadata, stop time and stall limit come from the options of the Semaphore. Each task is
// held under a separate holder id. OfferWork returns nil after Close; otherwise, it returns ctx's error or the server's
// refusal.
func (s *Semaphore) OfferWork(ctx context.Context, h WorkHandler) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a := s.acquisition(nil)
	if a.zeroWeight {
		return invalidField("weight", "0", "must be greater than 0")
	}
	if err := s.client.requireOneCluster(ctx); err != nil {
		return err
	}
	var refusal error
	closed := false
	s.client.follow(ctx, func(ctx context.Context, conn *link) (over, received bool, err error) {
		w := newWorkStream(ctx, s.client, a)
		defer w.end()
		slots, ok := h.Open(w)
		if !ok {
			closed = true
			return true, true, nil
		}
		received, err = w.run(conn, slots, h)
		if closed = w.isClosed(); closed {
			return true, true, nil
		}
		return false, received, err
	}, func(err error) { refusal = err })
	switch {
	case refusal != nil:
		return refusal
	case closed:
		return nil
	}
	return ctx.Err()
}

// WorkStream is one stream on which this process offers to work. Its methods are safe for concurrent use, and do
// nothing after the stream has ended.
type WorkStream struct {
	client *Client
	offer  *acquisition

	ctx    context.Context //nolint:containedctx // the stream's
	cancel context.CancelFunc
	wake   chan struct{} // buffered

	mu        sync.Mutex // guards everything below
	queue     []*gatekeeperv1.WorkRequest
	frame     uint64 // the last frame that was sent
	sent      []stampedFrame
	ends      map[uint64]chan *gatekeeperv1.TaskEnded
	heartbeat time.Duration
	closed    bool
	ended     bool

	progress   map[uint64]*gatekeeperv1.Progress // reports to be sent, by token
	progressAt time.Duration                     // the earliest time of the next report
}

// stampedFrame is the number of a frame, and the clock's reading just before the frame was handed to the transport.
type stampedFrame struct {
	number uint64
	at     time.Duration
}

func newWorkStream(ctx context.Context, c *Client, offer *acquisition) *WorkStream {
	w := &WorkStream{
		client: c, offer: offer, wake: make(chan struct{}, 1), heartbeat: maxHeartbeat,
		ends:     make(map[uint64]chan *gatekeeperv1.TaskEnded),
		progress: make(map[uint64]*gatekeeperv1.Progress),
	}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// Take requests n more tasks.
func (w *WorkStream) Take(n int) {
	w.enqueue(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Take{Take: &gatekeeperv1.WorkTake{Slots: uint32(n)}}})
}

// Drain stops requesting tasks. Some tasks may still arrive.
func (w *WorkStream) Drain() {
	w.enqueue(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Drain{Drain: &gatekeeperv1.WorkDrain{}}})
}

// Close ends the stream once the server has responded to everything that was sent before the call. Tasks may arrive
// until OfferWork returns. End all held tasks before Close, because a task that ends later requires a separate call.
func (w *WorkStream) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wakeSender()
}

// Done returns a channel that is closed when the stream has ended. OfferWork may since have opened another stream.
func (w *WorkStream) Done() <-chan struct{} { return w.ctx.Done() }

func (w *WorkStream) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

func (w *WorkStream) enqueue(m *gatekeeperv1.WorkRequest) {
	w.mu.Lock()
	if !w.closed && !w.ended {
		w.queue = append(w.queue, m)
	}
	w.mu.Unlock()
	w.wakeSender()
}

func (w *WorkStream) wakeSender() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// end marks the stream as ended, so that no caller waits for a response on it.
func (w *WorkStream) end() {
	w.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended, w.queue = true, nil
}

// run serves the stream until it ends. received reports whether anything was received.
func (w *WorkStream) run(conn *link, slots int, h WorkHandler) (received bool, err error) {
	var p peer.Peer
	stream, err := gatekeeperv1.NewWorkServiceClient(conn).Work(w.ctx, grpc.Peer(&p))
	if err != nil {
		return false, markUnsent(&p, err)
	}
	w.mu.Lock()
	offer := &gatekeeperv1.WorkOffer{
		Semaphore: w.offer.semaphore, Identity: w.offer.identity(), Slots: uint32(slots), Weight: w.offer.weight, Metadata: w.offer.metadata,
	}
	w.queue = append([]*gatekeeperv1.WorkRequest{{Kind: &gatekeeperv1.WorkRequest_Offer{Offer: offer}}}, w.queue...)
	w.mu.Unlock()
	var sending sync.WaitGroup
	defer sending.Wait()
	defer w.cancel()
	sending.Go(func() { w.send(stream) })
	for {
		r, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return received, errNoResponse // unless this side closed the stream
		case err != nil:
			return received, markUnsent(&p, err)
		}
		received = true
		switch kind := r.GetKind().(type) {
		case *gatekeeperv1.WorkResponse_Task:
			w.granted(kind.Task, h)
		case *gatekeeperv1.WorkResponse_Ended:
			w.answered(kind.Ended)
		case *gatekeeperv1.WorkResponse_Denial:
			w.denied(newDenied(w.offer, kind.Denial), h)
		}
	}
}

// send sends the queued messages, and a frame at each heartbeat, until the stream ends or is closed.
func (w *WorkStream) send(stream gatekeeperv1.WorkService_WorkClient) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	lastHeartbeat := time.Now()
	for {
		m, wait := w.next()
		if m == nil && w.isClosed() {
			if stream.CloseSend() == nil {
				sleep(w.ctx, closeTimeout)
			}
			w.cancel()
			return
		}
		if m == nil && time.Since(lastHeartbeat) >= w.heartbeatInterval() {
			m = w.stamp(new(gatekeeperv1.WorkRequest))
		}
		if m != nil {
			lastHeartbeat = time.Now()
			if stream.Send(m) != nil {
				return // the receiver has the error
			}
			continue
		}
		timer.Reset(min(wait, w.heartbeatInterval()-time.Since(lastHeartbeat)))
		select {
		case <-timer.C:
		case <-w.wake:
		case <-w.ctx.Done():
			return
		}
	}
}

func (w *WorkStream) heartbeatInterval() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heartbeat
}

// next returns the next message, or nil and the maximum time to wait for one.
func (w *WorkStream) next() (m *gatekeeperv1.WorkRequest, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		m, w.queue = w.queue[0], w.queue[1:]
		return w.stampLocked(m), 0
	}
	if len(w.progress) == 0 || w.closed {
		return nil, maxHeartbeat
	}
	now := w.client.settings.clock.Now()
	if now < w.progressAt {
		return nil, w.progressAt - now
	}
	for token, p := range w.progress {
		delete(w.progress, token)
		m = &gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Progress{Progress: &gatekeeperv1.TaskProgress{Token: token, Progress: p}}}
		break
	}
	if len(w.progress) == 0 {
		w.progressAt = now + progressInterval
	}
	return w.stampLocked(m), 0
}

func (w *WorkStream) stamp(m *gatekeeperv1.WorkRequest) *gatekeeperv1.WorkRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stampLocked(m)
}

// stampLocked numbers a message that is about to be sent. It also records the time, unless it recorded another frame
// shortly before. The caller holds mu.
func (w *WorkStream) stampLocked(m *gatekeeperv1.WorkRequest) *gatekeeperv1.WorkRequest {
	w.frame++
	m.Frame = w.frame
	now := w.client.settings.clock.Now()
	if n := len(w.sent); n > 0 && now-w.sent[n-1].at < frameGap {
		return m
	}
	if len(w.sent) == maxRecordedFrames {
		w.sent = slices.Delete(w.sent, 0, 1)
	}
	w.sent = append(w.sent, stampedFrame{w.frame, now})
	return m
}

// sentBefore returns when the frame, or the newest recorded frame before it, was sent. ok is false if none is recorded,
// or if the frame does not exist. The caller holds mu.
func (w *WorkStream) sentBefore(frame uint64) (at time.Duration, ok bool) {
	if frame > w.frame {
		return 0, false
	}
	for _, s := range slices.Backward(w.sent) {
		if s.number <= frame {
			return s.at, true
		}
	}
	return 0, false
}

// denied passes on a denial, or logs it. A full semaphore does not count as a denial, because tasks normally wait for a
// free permit.
func (w *WorkStream) denied(d *DeniedError, h WorkHandler) {
	if h.Denied != nil {
		h.Denied(d)
		return
	}
	level := slog.LevelWarn
	if !d.NeedsAction() { // a pause is intended
		level = slog.LevelInfo
	}
	w.client.settings.logger.Log(w.ctx, level, "gatekeeper: the worker is not receiving tasks: "+d.Message, "semaphore", d.Semaphore, "reason", d.Reason,
		"explain", d.ExplainCommand())
}

// granted starts keeping a task's permit alive, and hands over the task. If the permit cannot be counted on, the task
// is returned, and its slot is offered again a little later.
func (w *WorkStream) granted(g *gatekeeperv1.TaskGrant, h WorkHandler) {
	p := g.GetGrant().GetPermit()
	w.mu.Lock()
	sent, known := w.sentBefore(g.GetFrame())
	if d := p.GetDuration().AsDuration(); d > 0 {
		w.heartbeat = min(max(d, minHeartbeat), maxHeartbeat)
	}
	w.mu.Unlock()
	a := *w.offer
	a.group, a.acquirer = p.GetIdentity().GetGroup(), p.GetIdentity().GetAcquirer()
	id := p.GetIdentity().GetHolderId()
	a.holderID, a.holderIDSet, a.claim = &id, false, nil
	err := errTooLate
	var got attemptResult
	if waited := g.GetGrant().GetWaited().AsDuration(); known && waited >= 0 && waited < maxGrantWait {
		got, err = w.client.checkResponse(g.GetGrant(), nil, sent, &a)
	}
	var permit *Permit
	if err == nil {
		permit, err = w.client.renewer.add(w.ctx, &a, got)
	}
	if err != nil {
		w.client.settings.logger.Warn("gatekeeper: returning a task because its permit cannot be counted on",
			"semaphore", a.semaphore, "job", g.GetJob().GetId(), "index", g.GetTask().GetIndex(), "error", err)
		w.enqueue(endRequest(&gatekeeperv1.TaskEnd{Token: p.GetToken(), Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN}))
		time.AfterFunc(maxBackoff, func() { w.Take(1) })
		return
	}
	ctx := context.WithValue(permit.Context(), permitKey{}, permit)
	h.Task(&WorkTask{Permit: permit, Task: g.GetTask(), Job: g.GetJob(), stream: w, ctx: ctx})
}

func endRequest(e *gatekeeperv1.TaskEnd) *gatekeeperv1.WorkRequest {
	return &gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_End{End: e}}
}

// answered passes a response to the settle call that is waiting for it.
func (w *WorkStream) answered(e *gatekeeperv1.TaskEnded) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reply := w.ends[e.GetToken()]; reply != nil {
		reply <- e // buffered
		delete(w.ends, e.GetToken())
	}
}

// report queues the progress of a task. If there are several reports within a short time, only the last one is sent.
func (w *WorkStream) report(token uint64, p *gatekeeperv1.Progress) {
	w.mu.Lock()
	if !w.ended && !w.closed {
		w.progress[token] = p
	}
	w.mu.Unlock()
	w.wakeSender()
}

// settle reports the end of a task, and waits for the response, but no longer than timeout. It returns nil if none
// arrives.
func (w *WorkStream) settle(ctx context.Context, e *gatekeeperv1.TaskEnd, timeout time.Duration) *gatekeeperv1.TaskEnded {
	reply := make(chan *gatekeeperv1.TaskEnded, 1)
	w.mu.Lock()
	if w.ended || w.closed {
		w.mu.Unlock()
		return nil
	}
	delete(w.progress, e.GetToken())
	w.ends[e.GetToken()] = reply
	w.queue = append(w.queue, endRequest(e))
	w.mu.Unlock()
	w.wakeSender()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case ended := <-reply:
		return ended
	case <-timer.C:
	case <-w.ctx.Done():
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, e.GetToken())
	select {
	case ended := <-reply:
		return ended
	default:
		return nil
	}
}
