package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxTokens is the maximum number of permits in a frame. If there are more, they are sent in consecutive frames.
	maxTokens = 2000
	// mergeWindow is how early a permit may be refreshed if a frame is being sent anyway.
	mergeWindow = 100 * time.Millisecond
	// idleLimit is how long a stream without permits is kept open.
	idleLimit = 5 * time.Second

	// A frame times out after an eighth of the shortest duration in it, within these bounds, so that there is time to
	// try several members. The timeout doubles after each round in which all members failed.
	minFrameTimeout = 50 * time.Millisecond
	maxFrameTimeout = 2 * time.Second
)

var (
	errIdle   = errors.New("no permits to keep alive")
	errSilent = errors.New("timed out waiting for a response")
)

// serve keeps a stream open to one of the members for as long as there are permits. It uses a separate connection, so
// that other calls do not delay it. Only one frame is in flight at a time, so a response always belongs to a permit's
// latest attempt.
func (r *renewer) serve() {
	round, failures, hints := 0, 0, 0
	for r.awaitWork() {
		address := r.client.router.pick()
		answered, err := r.stream(address, round)
		if r.ctx.Err() != nil {
			return
		}
		if answered {
			round, failures, hints = 0, 0, 0
		}
		if errors.Is(err, errIdle) {
			continue
		}
		r.failed(address, err)
		if s, ok := status.FromError(err); ok && hints < maxHints && r.client.router.follow(address, parseHint(info(s))) {
			hints++
			continue
		}
		r.client.router.failed(address)
		if failures++; failures%len(r.client.router.endpoints) == 0 {
			r.client.router.forget()
			sleep(r.ctx, min(backoff(round), r.shortest()/10))
			round++
		}
	}
}

// awaitWork waits until a refresh is due. It returns false if the renewer is closed.
func (r *renewer) awaitWork() bool {
	for {
		wait := r.untilDue()
		if wait <= 0 {
			return r.ctx.Err() == nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.serveAlarm.wake:
		case <-r.ctx.Done():
		}
		timer.Stop()
		if r.ctx.Err() != nil {
			return false
		}
	}
}

// untilDue returns how long to sleep at most before the next refresh, or 0 if one is due now.
func (r *renewer) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	p := r.refresh.first()
	if p == nil {
		return r.serveAlarm.set(now, time.Hour) // the next permit wakes the goroutine
	}
	return r.serveAlarm.set(now, min(max(p.at[byRefresh]-now, 0), maxSleep))
}

// stream serves one stream until it fails or is idle. answered reports whether any frame was answered.
func (r *renewer) stream(address string, round int) (answered bool, err error) {
	conn, err := r.client.router.dial(address)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }() // fails only if it is already closed
	ctx, cancel := context.WithCancelCause(r.ctx)
	s := &session{renewer: r, round: round, cancel: cancel, replies: make(chan *gatekeeperv1.KeepAliveResponse), failed: make(chan error, 1)}

	watchdog := time.AfterFunc(s.timeout(r.shortest()), func() { cancel(errSilent) })
	s.stream, err = gatekeeperv1.NewPermitServiceClient(conn).KeepAlive(ctx)
	watchdog.Stop()
	if err == nil {
		r.work.Go(func() { s.receive(ctx) })
		r.refreshAll()
		err = s.run(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil) // stops receive
	return s.answered, conn.handshakes.explain(err)
}

// session is the state of one stream.
type session struct {
	renewer *renewer
	stream  gatekeeperv1.PermitService_KeepAliveClient
	round   int // how many rounds through all members have failed since the last response
	cancel  context.CancelCauseFunc

	replies  chan *gatekeeperv1.KeepAliveResponse // only responses to frames
	failed   chan error                           // buffered, so that the receiver can exit
	answered bool
	grouped  bool // the server supports groups of tokens and uses them in its responses
}

// timeout returns how long to wait for the response to a frame whose shortest duration is d.
func (s *session) timeout(d time.Duration) time.Duration {
	t := min(max(d/8, minFrameTimeout), maxFrameTimeout)
	for range min(s.round, 8) {
		t *= 2
	}
	return min(t, max(s.renewer.client.settings.attemptTimeout, minFrameTimeout))
}

// receive passes on the messages from the server until the stream ends. Notices take effect immediately.
func (s *session) receive(ctx context.Context) {
	for {
		r, err := s.stream.Recv()
		if err != nil {
			s.failed <- err
			return
		}
		s.renewer.handleNotices(r.GetNotices())
		if r.GetFrame() == 0 {
			continue
		}
		select {
		case s.replies <- r:
		case <-ctx.Done():
			s.failed <- ctx.Err()
			return
		}
	}
}

// run sends frames when they are due, waiting for the response to each before it sends the next.
func (s *session) run(ctx context.Context) error {
	idleSince := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for number := uint64(1); ; {
		f := s.renewer.nextFrame(number, s.grouped)
		if f != nil {
			if err := s.exchange(ctx, f); err != nil {
				s.renewer.requeue(f)
				return err
			}
			number++
			continue
		}
		wait := s.renewer.untilDue()
		if !s.renewer.empty() {
			idleSince = time.Now()
		} else if wait = idleLimit - time.Since(idleSince); wait <= 0 {
			return errIdle
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-s.renewer.serveAlarm.wake:
		case err := <-s.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// exchange sends a frame and waits for the response.
func (s *session) exchange(ctx context.Context, f *frame) error {
	watchdog := time.AfterFunc(s.timeout(f.shortest), func() { s.cancel(errSilent) })
	defer watchdog.Stop()
	if err := s.stream.Send(f.message); err != nil && !errors.Is(err, io.EOF) { // after EOF, the receiver has the error
		return err
	}
	select {
	case r := <-s.replies:
		if r.GetFrame() != f.message.GetFrame() {
			return fmt.Errorf("expected the response to frame %d, but received the response to frame %d", f.message.GetFrame(), r.GetFrame())
		}
		s.answered, s.round = true, 0
		s.grouped = s.grouped || len(r.GetRefreshed()) > 0
		s.renewer.handleAnswer(f, r)
		return nil
	case err := <-s.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// frame is a frame in flight.
type frame struct {
	message *gatekeeperv1.KeepAliveRequest
	// sent is the clock's reading before the frame was handed to the transport. A refreshed duration starts at that
	// time.
	sent     time.Duration
	permits  []*Permit
	shortest time.Duration
}

// nextFrame puts all permits whose refresh is due, or nearly due, into a frame. It returns nil if none is due, unless
// there is a full frame of tokens to forget. grouped reports whether the server supports groups.
func (r *renewer) nextFrame(number uint64, grouped bool) *frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	first := r.refresh.first()
	if (first == nil || first.at[byRefresh] > now) && len(r.forget) < maxTokens {
		return nil
	}
	f := &frame{message: &gatekeeperv1.KeepAliveRequest{Frame: number, Grouped: true}, sent: now, shortest: time.Hour}
	for p := first; p != nil && p.at[byRefresh] <= now+mergeWindow && len(f.permits) < maxTokens; p = r.refresh.first() {
		r.refresh.remove(p)
		p.inFlight, p.lastStream = true, r.streams
		f.permits = append(f.permits, p)
		f.shortest = min(f.shortest, p.belief.duration)
		if b := p.belief.stated(now); b != p.belief {
			p.belief = b
			r.scheduleEvent(p)
			r.watchAlarm.ringBy(p.at[byEvent], now)
		}
	}
	f.message.Tokens, f.message.Groups = refreshEntries(f.permits, now, grouped)
	n := min(len(r.forget), maxTokens)
	f.message.Forget = append(f.message.Forget, r.forget[:n]...)
	r.forget = append(r.forget[:0], r.forget[n:]...)
	return f
}

// refreshEntries returns the part of a frame that requests refreshes and states the duration now used for each permit.
// Permits with the same duration share a group if the server supports groups.
func refreshEntries(permits []*Permit, now time.Duration, grouped bool) (tokens []*gatekeeperv1.TokenRefresh, groups []*gatekeeperv1.TokenGroup) {
	byDuration := make(map[time.Duration]*gatekeeperv1.TokenGroup)
	for _, p := range permits {
		g := byDuration[p.belief.duration]
		if g == nil {
			g = &gatekeeperv1.TokenGroup{Duration: durationpb.New(p.belief.duration)}
			byDuration[p.belief.duration] = g
			groups = append(groups, g)
		}
		if progress := p.sinceProgress(now); !grouped || progress != nil {
			tokens = append(tokens, &gatekeeperv1.TokenRefresh{Token: p.Token(), Duration: g.GetDuration(), SinceProgress: progress})
		} else {
			g.Tokens = append(g.Tokens, p.Token())
		}
	}
	return tokens, slices.DeleteFunc(groups, func(g *gatekeeperv1.TokenGroup) bool { return len(g.GetTokens()) == 0 })
}

// handleAnswer processes the response to a frame. A permit missing from the response was not refreshed.
func (r *renewer) handleAnswer(f *frame, answer *gatekeeperv1.KeepAliveResponse) {
	byToken := make(map[uint64]*gatekeeperv1.TokenResult, len(f.permits))
	for _, g := range answer.GetRefreshed() {
		r := &gatekeeperv1.TokenResult{Status: gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED, Duration: g.GetDuration()}
		for _, token := range g.GetTokens() {
			byToken[token] = r
		}
	}
	for _, r := range answer.GetResults() {
		byToken[r.GetToken()] = r
	}
	defer r.reportSuperseded()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastErr = nil
	now := r.clock.Now()
	for _, p := range f.permits {
		p.inFlight = false
		switch {
		case p.ended:
		case now >= p.belief.deadline: // too late: a caller may already have seen the permit as lost
			r.end(p, lostAtDeadline())
		default:
			r.handleResult(p, f.sent, now, byToken[p.Token()])
		}
	}
}

// handleResult processes the result for a permit. res is nil if the response has none. The caller holds mu.
func (r *renewer) handleResult(p *Permit, sent, now time.Duration, res *gatekeeperv1.TokenResult) {
	switch duration := res.GetDuration().AsDuration(); res.GetStatus() {
	case gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED:
		if duration <= 0 {
			break // invalid; treated as no result
		}
		p.belief = p.belief.refreshed(sent, duration)
		p.drain = drainEnd(sent, res.GetDrainLeft().AsDuration()) // 0 if the order to stop was withdrawn
		if res.GetDrainLeft() != nil || res.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED {
			r.stopWithDrain(p, res) // no effect if a notice arrived first
		}
		if tooShort(p.stopTime, duration) { // the definition was edited: there is time to stop while the old duration applies
			_ = r.stopFor(p, &StopError{stopTimeErr: &StopTimeError{StopTime: p.stopTime, Duration: duration}, Until: r.wallTime(p.belief.deadline)}) // the context's cause is the same error
		}
		r.scheduleEvent(p)
		r.refresh.set(p, sent+jitter(refreshInterval(stopTime(p.stopTime, duration), duration)))
		p.notifyWaiters(sent)
		if len(p.waiters) > 0 {
			r.refresh.set(p, now)
		}
		return
	case gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING:
		p.drain = 0
		p.refused = r.stop(p, res.GetStop(), res.GetMessage())
		p.failWaiters(p.refused)
		return
	case gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST:
		r.lost(p, res)
		return
	}
	if res.GetMessage() != "" {
		r.lastErr = errors.New(res.GetMessage())
	}
	r.refresh.set(p, now+jitter(min(max(p.belief.duration/40, minBackoff/2), maxBackoff)))
}

// notifyWaiters notifies the waiters that called before the attempt was sent. The caller holds the renewer's mutex.
func (p *Permit) notifyWaiters(sent time.Duration) {
	left := p.waiters[:0]
	for _, w := range p.waiters {
		if w.after <= sent {
			w.result <- nil
		} else {
			left = append(left, w)
		}
	}
	clear(p.waiters[len(left):])
	p.waiters = left
}

// handleNotices processes notices. A notice to stop ends the permit's context, but refreshes continue, because they are
// granted until the drain ends. The notice was sent at an unknown time after the latest response for the permit: a
// response sent after the order to stop would have contained that order.
func (r *renewer) handleNotices(notices []*gatekeeperv1.TokenResult) {
	if len(notices) == 0 {
		return
	}
	defer r.reportSuperseded()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range notices {
		p := r.permits[n.GetToken()]
		if p == nil {
			continue
		}
		switch n.GetStatus() {
		case gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING:
			p.drain = drainEnd(p.belief.base, n.GetDrainLeft().AsDuration())
			r.stopWithDrain(p, n)
			if p.drain > 0 && !p.inFlight { // the response to a frame in flight will contain the exact time
				now := r.clock.Now()
				r.refresh.set(p, now)
				r.serveAlarm.ringBy(now, now)
			}
		case gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST:
			r.lost(p, n)
		}
	}
}

// requeue discards a frame that will not be answered and makes its permits due again.
func (r *renewer) requeue(f *frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range f.permits {
		p.inFlight = false
		if !p.ended {
			r.refresh.set(p, f.sent)
		}
	}
}

// refreshAll makes all permits due on a new stream, because a server sends notices only for tokens that the stream has
// named.
func (r *renewer) refreshAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams++
	r.forget = nil // only the old stream had named them
	now := r.clock.Now()
	for _, p := range r.permits {
		if p.refused == nil && p.at[byRefresh] > now {
			r.refresh.set(p, now)
		}
	}
}

// failed records why a stream failed.
func (r *renewer) failed(address string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastErr = fmt.Errorf("%s: %s", address, plainText(err))
}

// shortest returns the shortest duration of any permit.
func (r *renewer) shortest() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := time.Hour
	for _, p := range r.permits {
		d = min(d, p.belief.duration)
	}
	return d
}

func (r *renewer) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.permits) == 0
}
