package client

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxCalls is the most calls of a frame; servers take no more.
	maxCalls = 1024
	// maxCarried is the most bytes of text in a call that is carried. What is larger is none that servers accept, or slows others down.
	maxCarried = 16 << 10
	// maxFrame is about where a frame of calls ends, and callBytes what a call has beside its texts. Servers take four times as much.
	maxFrame  = 1 << 20
	callBytes = 256
	// idleMuxStream is how long a stream without calls is kept, about.
	idleMuxStream = 30 * time.Second
)

// muxStream is one open stream.
type muxStream struct {
	stream gatekeeperv1.PermitService_MultiplexClient
	peer   *peer.Peer
	wake   chan struct{} // holds a token when there is something to send

	encoding sync.Mutex // held while messages of callers are read

	mu     sync.Mutex // guards all below
	number uint64
	queued []*carriedCall
	sent   map[uint64]*carriedCall
	given  []uint64 // calls that were given up after they were sent
	used   bool     // since it was looked at
	ended  bool     // no call is taken on any more

	retired bool // the writer is to end the stream when all is sent
}

// carriedCall is a call on its way. Whoever takes it out of queued or sent tells its caller what became of it.
type carriedCall struct {
	message  *gatekeeperv1.NumberedCall
	size     int       // of message, about
	deadline time.Time // zero: none

	number uint64 // 0 while it is queued; guarded by muxStream.mu

	told   chan struct{} // closed, or holds a token, once what follows is set
	answer *gatekeeperv1.NumberedAnswer
	err    error
}

// errUntouched is the fate of a call of which certainly nothing was done: it is to be made in another way.
var errUntouched = errors.New("the stream ended before the call was taken on")

func newMuxStream(stream gatekeeperv1.PermitService_MultiplexClient, at *peer.Peer) *muxStream {
	return &muxStream{stream: stream, peer: at, wake: make(chan struct{}, 1), sent: make(map[uint64]*carriedCall)}
}

// carried tells whether a call can be carried, and its size: if a server would read it as it is meant, and nothing of it concerns gRPC.
func carried(ctx context.Context, args, reply any, opts []grpc.CallOption) (size int, can bool) {
	switch m := args.(type) {
	case *gatekeeperv1.TryAcquireRequest:
		if _, can = reply.(*gatekeeperv1.TryAcquireResponse); can {
			size, can = plainRequest(m)
		}
	case *gatekeeperv1.ReleaseRequest:
		if _, can = reply.(*gatekeeperv1.ReleaseResponse); can && m != nil {
			id := m.GetIdentity()
			size, can = plainTexts(id.GetGroup(), id.GetAcquirer(), id.GetHolderId())
		}
	}
	if !can {
		return 0, false
	}
	for _, o := range opts {
		switch o.(type) {
		case grpc.PeerCallOption, grpc.StaticMethodCallOption: // the latter is in every call of a generated stub
		default:
			return 0, false
		}
	}
	_, headers := metadata.FromOutgoingContext(ctx)
	return size, !headers
}

// plainRequest tells whether a request is of a common size, which it returns, and can be encoded: one that cannot must not stop those of
// others.
func plainRequest(m *gatekeeperv1.TryAcquireRequest) (size int, plain bool) {
	if m == nil {
		return 0, false
	}
	id := m.GetIdentity()
	size, plain = plainTexts(m.GetSemaphore(), id.GetGroup(), id.GetAcquirer(), id.GetHolderId(), m.GetRequestId(), m.GetFiring().GetName())
	for k, v := range m.GetMetadata() {
		more, valid := plainTexts(k, v)
		size += more - callBytes
		plain = plain && valid && size <= maxCarried+callBytes
	}
	return size, plain
}

// plainTexts is the size of a call with these texts, about, and whether it is common and they can be encoded.
func plainTexts(texts ...string) (size int, plain bool) {
	const around = 4 // tag, length, and half an entry's
	plain = true
	for _, s := range texts {
		size += around + len(s)
		plain = plain && size <= maxCarried && utf8.ValidString(s)
	}
	return size + callBytes, plain
}

// call makes a call on the stream. done is false when it is to be made in another way.
func (s *muxStream) call(ctx context.Context, args any, size int, reply any, opts []grpc.CallOption) (done bool, err error) {
	c := &carriedCall{message: new(gatekeeperv1.NumberedCall), size: size, told: make(chan struct{}, 1)}
	switch m := args.(type) {
	case *gatekeeperv1.TryAcquireRequest:
		c.message.Call = &gatekeeperv1.NumberedCall_TryAcquire{TryAcquire: m}
	case *gatekeeperv1.ReleaseRequest:
		c.message.Call = &gatekeeperv1.NumberedCall_Release{Release: m}
	}
	c.deadline, _ = ctx.Deadline()
	if !s.queue(c) {
		return false, nil
	}
	sent := true
	select {
	case <-c.told:
		if c.err != nil {
			s.encoded() // the stream may have ended meanwhile
		}
		if c.err == errUntouched { //nolint:errorlint // our own, as it is
			return false, nil
		}
		err = c.read(reply)
	case <-ctx.Done():
		sent = s.giveUp(c)
		err = status.FromContextError(ctx.Err()).Err()
	}
	for _, o := range opts {
		if p, ok := o.(grpc.PeerCallOption); ok && sent && s.peer != nil {
			*p.PeerAddr = *s.peer
		}
	}
	return true, err
}

// queue leaves a call to the writer, unless the stream has ended.
func (s *muxStream) queue(c *carriedCall) bool {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	s.queued = append(s.queued, c)
	s.mu.Unlock()
	s.signal()
	return true
}

func (s *muxStream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// giveUp ends the waiting for a call, and tells whether it was sent. When it returns nobody reads the caller's message any more.
func (s *muxStream) giveUp(c *carriedCall) (sent bool) {
	s.mu.Lock()
	sent = c.number != 0
	switch {
	case !sent:
		s.queued = slices.DeleteFunc(s.queued, func(q *carriedCall) bool { return q == c })
	case s.sent[c.number] == c:
		delete(s.sent, c.number)
		s.given = append(s.given, c.number)
	}
	s.mu.Unlock()
	if sent {
		s.signal()
		s.encoded()
	}
	return sent
}

// encoded returns when the writer, which may be at it, does not read any caller's message that was sent before.
func (s *muxStream) encoded() {
	s.encoding.Lock()
	defer s.encoding.Unlock()
}

// read takes the answer over into the caller's message.
func (c *carriedCall) read(reply any) error {
	if c.err != nil {
		return c.err
	}
	switch answer := c.answer.GetAnswer().(type) {
	case *gatekeeperv1.NumberedAnswer_TryAcquire:
		if out, ok := reply.(*gatekeeperv1.TryAcquireResponse); ok {
			out.Outcome = answer.TryAcquire.GetOutcome()
			return nil
		}
	case *gatekeeperv1.NumberedAnswer_Release:
		if out, ok := reply.(*gatekeeperv1.ReleaseResponse); ok {
			out.Released, out.Message, out.Revision = answer.Release.GetReleased(), answer.Release.GetMessage(), answer.Release.GetRevision()
			return nil
		}
	case *gatekeeperv1.NumberedAnswer_Error:
		if e := answer.Error; e.GetCode() != int32(codes.OK) {
			return status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err()
		}
	}
	return errNonsense
}

// write sends what has gathered, again and again, and ends the stream when nothing gathers for long, by calling end if it has to be at once.
func (s *muxStream) write(ctx context.Context, end func()) {
	look := time.NewTicker(idleMuxStream)
	defer look.Stop()
	for {
		select {
		case <-s.wake:
		case <-look.C:
			if s.idle() {
				_ = s.stream.CloseSend() // its error is always nil
				return
			}
			continue
		case <-ctx.Done():
			return
		}
		// Whoever is about to call does so first: then one frame is enough for all.
		runtime.Gosched()
		for {
			more, err := s.send()
			if errors.Is(err, io.EOF) {
				return // the reader hears why
			}
			if err != nil {
				s.fail(err)
				end()
				return
			}
			if !more {
				break
			}
		}
		if s.isRetired() {
			_ = s.stream.CloseSend() // its error is always nil
			return
		}
	}
}

// send sends one frame of what has gathered. It returns false when there is nothing.
func (s *muxStream) send() (bool, error) {
	s.encoding.Lock()
	frame := s.gather()
	if frame == nil {
		s.encoding.Unlock()
		return false, nil
	}
	// Encoding is one thing and sending another, which takes as long as the server likes: no caller that is gone waits for that.
	encoded := new(grpc.PreparedMsg)
	err := encoded.Encode(s.stream, frame)
	s.encoding.Unlock()
	if err != nil {
		return false, err
	}
	return true, s.stream.SendMsg(encoded)
}

// gather takes what is to be sent next; nil: nothing is.
func (s *muxStream) gather() *gatekeeperv1.MultiplexRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queued) == 0 && len(s.given) == 0 {
		return nil
	}
	s.used = true
	n, size := 0, 0
	for n < min(len(s.queued), maxCalls) && (n == 0 || size+s.queued[n].size <= maxFrame) {
		size += s.queued[n].size
		n++
	}
	frame := &gatekeeperv1.MultiplexRequest{Calls: make([]*gatekeeperv1.NumberedCall, 0, n)}
	for _, c := range s.queued[:n] {
		s.number++
		c.number = s.number
		c.message.Number = c.number
		if !c.deadline.IsZero() {
			c.message.Timeout = durationpb.New(max(time.Until(c.deadline), 1))
		}
		s.sent[c.number] = c
		frame.Calls = append(frame.Calls, c.message)
	}
	rest := copy(s.queued, s.queued[n:])
	clear(s.queued[rest:])
	s.queued = s.queued[:rest]
	n = min(len(s.given), maxCalls)
	frame.Cancel = append(frame.Cancel, s.given[:n]...)
	s.given = append(s.given[:0], s.given[n:]...)
	return frame
}

// retire takes no more calls on, and ends the stream when those that were are sent.
func (s *muxStream) retire() {
	s.mu.Lock()
	s.ended, s.retired = true, true
	s.mu.Unlock()
	s.signal()
}

func (s *muxStream) isRetired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retired
}

// idle tells whether there was nothing to do for a while: then no call is taken on any more.
func (s *muxStream) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = s.ended || !s.used && len(s.queued) == 0 && len(s.sent) == 0
	s.used = false
	return s.ended
}

// read takes answers until the stream ends.
func (s *muxStream) read() {
	for {
		r, err := s.stream.Recv()
		if err != nil {
			s.fail(err)
			return
		}
		s.answered(r)
	}
}

// answered tells callers.
func (s *muxStream) answered(r *gatekeeperv1.MultiplexResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range r.GetAnswers() {
		if c := s.sent[a.GetNumber()]; c != nil {
			delete(s.sent, a.GetNumber())
			c.tell(a, nil)
		}
	}
	if r.Taken == nil {
		return
	}
	s.ended = true
	for number, c := range s.sent {
		if number > r.GetTaken() {
			delete(s.sent, number)
			c.tell(nil, errUntouched)
		}
	}
}

func (c *carriedCall) tell(answer *gatekeeperv1.NumberedAnswer, err error) {
	c.answer, c.err = answer, err
	c.told <- struct{}{}
}

// fail ends the stream. What was sent and not answered may have been done or not.
func (s *muxStream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, c := range s.queued {
		c.tell(nil, errUntouched)
	}
	s.queued = nil
	for _, c := range s.sent {
		c.tell(nil, unknown(err))
	}
	clear(s.sent)
}

// unknown is what a call failed by whose stream has ended: never more certain than that.
func unknown(err error) error {
	if errors.Is(err, io.EOF) {
		return errNoAnswer
	}
	if v := judge(err); !v.final && !v.undone {
		return err
	}
	return status.Error(codes.Unavailable, "the stream ended on which the call was made: "+status.Convert(err).Message())
}
