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
	// maxTokens bounds a frame; more permits take several, one after another.
	maxTokens = 2000
	// merge is how much earlier than due a permit is refreshed when a frame is sent anyway.
	merge = 100 * time.Millisecond
	// idle is how long a stream without permits is kept.
	idle = 5 * time.Second

	// A frame is given up after an eighth of the shortest duration in it, within these bounds, so that several members
	// can be tried while there is time; each round over all members that fails doubles it.
	minFrameTimeout = 50 * time.Millisecond
	maxFrameTimeout = 2 * time.Second
)

var (
	errIdle   = errors.New("there is nothing to keep alive")
	errSilent = errors.New("no answer in time")
)

// serve keeps a stream to some member as long as there are permits, on a separate connection, so that no other call
// stands in its way. Only one frame is on its way at a time: so only the answer to a permit's latest attempt can count.
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
		if s, ok := status.FromError(err); ok && hints < maxHints && r.client.router.follow(address, hintOf(info(s))) {
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

// awaitWork waits until a refresh is due; false when the renewer closes.
func (r *renewer) awaitWork() bool {
	for {
		wait := r.untilDue()
		if wait <= 0 {
			return r.ctx.Err() == nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.serving.wake:
		case <-r.ctx.Done():
		}
		timer.Stop()
		if r.ctx.Err() != nil {
			return false
		}
	}
}

// untilDue is how long no refresh is due, and so how long to sleep at most; 0 when one is.
func (r *renewer) untilDue() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	p := r.refresh.first()
	if p == nil {
		return r.serving.set(now, time.Hour) // a permit ends it
	}
	return r.serving.set(now, min(max(p.at[byRefresh]-now, 0), maxSleep))
}

// stream serves one stream until it fails, or is idle. answered says that a frame was answered on it.
func (r *renewer) stream(address string, round int) (answered bool, err error) {
	conn, err := r.client.router.dial(address)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }() // its only error is that it was closed before
	ctx, cancel := context.WithCancelCause(r.ctx)
	s := &session{renewer: r, round: round, cancel: cancel, replies: make(chan *gatekeeperv1.KeepAliveResponse), failed: make(chan error, 1)}

	silence := time.AfterFunc(s.timeout(r.shortest()), func() { cancel(errSilent) })
	s.stream, err = gatekeeperv1.NewPermitServiceClient(conn).KeepAlive(ctx)
	silence.Stop()
	if err == nil {
		r.work.Go(func() { s.receive(ctx) })
		r.everythingDue()
		err = s.run(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil) // ends receive
	return s.answered, conn.handshakes.explain(err)
}

// session is one stream.
type session struct {
	renewer *renewer
	stream  gatekeeperv1.PermitService_KeepAliveClient
	round   int // how many rounds over all members have failed before
	cancel  context.CancelCauseFunc

	replies  chan *gatekeeperv1.KeepAliveResponse // the numbered ones
	failed   chan error                           // has room for the receiver's last word
	answered bool
	grouped  bool // the server reads groups of tokens, and answers with them
}

// timeout is how long a frame may stay unanswered when the shortest duration in it is d.
func (s *session) timeout(d time.Duration) time.Duration {
	t := min(max(d/8, minFrameTimeout), maxFrameTimeout)
	for range min(s.round, 8) {
		t *= 2
	}
	return min(t, max(s.renewer.client.settings.attemptTimeout, minFrameTimeout))
}

// receive hands on what comes down until the stream ends. Notices count at once.
func (s *session) receive(ctx context.Context) {
	for {
		r, err := s.stream.Recv()
		if err != nil {
			s.failed <- err
			return
		}
		s.renewer.noticed(r.GetNotices())
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

// run sends frames as they are due, one after the answer to the other.
func (s *session) run(ctx context.Context) error {
	idleSince := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for number := uint64(1); ; {
		f := s.renewer.nextFrame(number, s.grouped)
		if f != nil {
			if err := s.exchange(ctx, f); err != nil {
				s.renewer.unanswered(f)
				return err
			}
			number++
			continue
		}
		wait := s.renewer.untilDue()
		if !s.renewer.empty() {
			idleSince = time.Now()
		} else if wait = idle - time.Since(idleSince); wait <= 0 {
			return errIdle
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-s.renewer.serving.wake:
		case err := <-s.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// exchange sends a frame and takes its answer.
func (s *session) exchange(ctx context.Context, f *frame) error {
	silence := time.AfterFunc(s.timeout(f.shortest), func() { s.cancel(errSilent) })
	defer silence.Stop()
	if err := s.stream.Send(f.message); err != nil && !errors.Is(err, io.EOF) { // after EOF the receiver knows why
		return err
	}
	select {
	case r := <-s.replies:
		if r.GetFrame() != f.message.GetFrame() {
			return fmt.Errorf("frame %d was answered by the number %d", f.message.GetFrame(), r.GetFrame())
		}
		s.answered, s.round = true, 0
		s.grouped = s.grouped || len(r.GetRefreshed()) > 0
		s.renewer.answeredFrame(f, r)
		return nil
	case err := <-s.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// frame is one frame on its way.
type frame struct {
	message *gatekeeperv1.KeepAliveRequest
	// sent is the clock's reading before the frame is handed to the transport: what its answer counts from.
	sent     time.Duration
	permits  []*Permit
	shortest time.Duration
}

// nextFrame takes what is due, and what is nearly due beside it, into a frame; nil when nothing is. grouped says that
// the server reads groups.
func (r *renewer) nextFrame(number uint64, grouped bool) *frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	first := r.refresh.first()
	if (first == nil || first.at[byRefresh] > now) && len(r.forget) < maxTokens {
		return nil
	}
	f := &frame{message: &gatekeeperv1.KeepAliveRequest{Frame: number, Grouped: true}, sent: now, shortest: time.Hour}
	for p := first; p != nil && p.at[byRefresh] <= now+merge && len(f.permits) < maxTokens; p = r.refresh.first() {
		r.refresh.remove(p)
		p.asked, p.named = true, r.streams
		f.permits = append(f.permits, p)
		f.shortest = min(f.shortest, p.belief.duration)
		if b := p.belief.stated(now); b != p.belief {
			p.belief = b
			r.arrange(p)
			r.watching.ringBy(p.at[byEvent], now)
		}
	}
	f.message.Tokens, f.message.Groups = statements(f.permits, now, grouped)
	n := min(len(r.forget), maxTokens)
	f.message.Forget = append(f.message.Forget, r.forget[:n]...)
	r.forget = append(r.forget[:0], r.forget[n:]...)
	return f
}

// statements ask for the refresh of permits, and say by which duration each is counted from here on: in groups of those
// that live as long, where that can be had.
func statements(permits []*Permit, now time.Duration, grouped bool) (tokens []*gatekeeperv1.TokenRefresh, groups []*gatekeeperv1.TokenGroup) {
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

// answeredFrame takes the answer to a frame. A permit that it does not name was not refreshed.
func (r *renewer) answeredFrame(f *frame, answer *gatekeeperv1.KeepAliveResponse) {
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
	defer r.reportTaken()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = nil
	now := r.clock.Now()
	for _, p := range f.permits {
		p.asked = false
		switch {
		case p.ended:
		case now >= p.belief.deadline: // the answer is too late: a caller may have been answered so already
			r.end(p, lostAtDeadline())
		default:
			r.result(p, f.sent, now, byToken[p.Token()])
		}
	}
}

// result takes a permit's result; nil when there is none. The caller holds mu.
func (r *renewer) result(p *Permit, sent, now time.Duration, res *gatekeeperv1.TokenResult) {
	switch duration := res.GetDuration().AsDuration(); res.GetStatus() {
	case gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED:
		if duration <= 0 {
			break // nonsense; as good as no answer
		}
		p.belief = p.belief.refreshed(sent, duration)
		p.drain = drainEnd(sent, res.GetDrainLeft().AsDuration()) // none any more when the order to stop was taken back
		if res.GetDrainLeft() != nil || res.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED {
			r.drained(p, res) // unless the notice was here before
		}
		if tooBrief(p.stopTime, duration) { // an edit: while the longer duration is believed in there is time to stop
			_ = r.stopFor(p, &StopError{brief: &StopTimeError{StopTime: p.stopTime, Duration: duration}, Until: r.wall(p.belief.deadline)}) // the context has it
		}
		r.arrange(p)
		r.refresh.set(p, sent+jitter(refreshEvery(stopTime(p.stopTime, duration), duration)))
		p.answer(sent)
		if len(p.waiters) > 0 {
			r.refresh.set(p, now)
		}
		return
	case gatekeeperv1.RefreshStatus_REFRESH_STATUS_STOPPING:
		p.drain = 0
		p.refused = r.stop(p, res.GetStop(), res.GetMessage())
		p.answerAll(p.refused)
		return
	case gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST:
		r.lost(p, res)
		return
	}
	if res.GetMessage() != "" {
		r.trouble = errors.New(res.GetMessage())
	}
	r.refresh.set(p, now+jitter(min(max(p.belief.duration/40, minBackoff/2), maxBackoff)))
}

// answer releases the waiters whose call came before the attempt was sent. The caller holds the renewer's mutex.
func (p *Permit) answer(sent time.Duration) {
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

// noticed takes notices. A notice to stop ends the context; refreshes go on, for they may pass until a drain is over.
// When the notice was sent is not known, only that it was after the answer by which the permit is counted: an answer
// that was given after the order to stop would have said so, and come first.
func (r *renewer) noticed(notices []*gatekeeperv1.TokenResult) {
	if len(notices) == 0 {
		return
	}
	defer r.reportTaken()
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
			r.drained(p, n)
			if p.drain > 0 && !p.asked { // its answer says more exactly for how long
				now := r.clock.Now()
				r.refresh.set(p, now)
				r.serving.ringBy(now, now)
			}
		case gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST:
			r.lost(p, n)
		}
	}
}

// unanswered takes back a frame that will not be answered: its attempts are over, and its permits due.
func (r *renewer) unanswered(f *frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range f.permits {
		p.asked = false
		if !p.ended {
			r.refresh.set(p, f.sent)
		}
	}
}

// everythingDue begins a new stream: it must name every token, or it brings no notices of it.
func (r *renewer) everythingDue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams++
	r.forget = nil // they were followed by the old stream only
	now := r.clock.Now()
	for _, p := range r.permits {
		if p.refused == nil && p.at[byRefresh] > now {
			r.refresh.set(p, now)
		}
	}
}

// failed notes why a stream failed.
func (r *renewer) failed(address string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = fmt.Errorf("%s: %s", address, plainText(err))
}

// shortest is the shortest duration of all permits.
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
