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
	// idleLine is how long a stream without calls is kept, about.
	idleLine = 30 * time.Second
)

// line is one open stream.
type line struct {
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

	number uint64 // 0 while it is queued; guarded by line.mu

	told   chan struct{} // closed, or holds a token, once what follows is set
	answer *gatekeeperv1.NumberedAnswer
	err    error
}

// errUntouched is the fate of a call of which certainly nothing was done: it is to be made in another way.
var errUntouched = errors.New("the stream ended before the call was taken on")

func newLine(stream gatekeeperv1.PermitService_MultiplexClient, at *peer.Peer) *line {
	return &line{stream: stream, peer: at, wake: make(chan struct{}, 1), sent: make(map[uint64]*carriedCall)}
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
func (l *line) call(ctx context.Context, args any, size int, reply any, opts []grpc.CallOption) (done bool, err error) {
	c := &carriedCall{message: new(gatekeeperv1.NumberedCall), size: size, told: make(chan struct{}, 1)}
	switch m := args.(type) {
	case *gatekeeperv1.TryAcquireRequest:
		c.message.Call = &gatekeeperv1.NumberedCall_TryAcquire{TryAcquire: m}
	case *gatekeeperv1.ReleaseRequest:
		c.message.Call = &gatekeeperv1.NumberedCall_Release{Release: m}
	}
	c.deadline, _ = ctx.Deadline()
	if !l.queue(c) {
		return false, nil
	}
	sent := true
	select {
	case <-c.told:
		if c.err != nil {
			l.encoded() // the stream may have ended meanwhile
		}
		if c.err == errUntouched { //nolint:errorlint // our own, as it is
			return false, nil
		}
		err = c.read(reply)
	case <-ctx.Done():
		sent = l.giveUp(c)
		err = status.FromContextError(ctx.Err()).Err()
	}
	for _, o := range opts {
		if p, ok := o.(grpc.PeerCallOption); ok && sent && l.peer != nil {
			*p.PeerAddr = *l.peer
		}
	}
	return true, err
}

// queue leaves a call to the writer, unless the stream has ended.
func (l *line) queue(c *carriedCall) bool {
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return false
	}
	l.queued = append(l.queued, c)
	l.mu.Unlock()
	l.signal()
	return true
}

func (l *line) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// giveUp ends the waiting for a call, and tells whether it was sent. When it returns nobody reads the caller's message any more.
func (l *line) giveUp(c *carriedCall) (sent bool) {
	l.mu.Lock()
	sent = c.number != 0
	switch {
	case !sent:
		l.queued = slices.DeleteFunc(l.queued, func(q *carriedCall) bool { return q == c })
	case l.sent[c.number] == c:
		delete(l.sent, c.number)
		l.given = append(l.given, c.number)
	}
	l.mu.Unlock()
	if sent {
		l.signal()
		l.encoded()
	}
	return sent
}

// encoded returns when the writer, which may be at it, does not read any caller's message that was sent before.
func (l *line) encoded() {
	l.encoding.Lock()
	defer l.encoding.Unlock()
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
func (l *line) write(ctx context.Context, end func()) {
	look := time.NewTicker(idleLine)
	defer look.Stop()
	for {
		select {
		case <-l.wake:
		case <-look.C:
			if l.idle() {
				_ = l.stream.CloseSend() // its error is always nil
				return
			}
			continue
		case <-ctx.Done():
			return
		}
		// Whoever is about to call does so first: then one frame is enough for all.
		runtime.Gosched()
		for {
			more, err := l.send()
			if errors.Is(err, io.EOF) {
				return // the reader hears why
			}
			if err != nil {
				l.fail(err)
				end()
				return
			}
			if !more {
				break
			}
		}
		if l.isRetired() {
			_ = l.stream.CloseSend() // its error is always nil
			return
		}
	}
}

// send sends one frame of what has gathered. It returns false when there is nothing.
func (l *line) send() (bool, error) {
	l.encoding.Lock()
	frame := l.gather()
	if frame == nil {
		l.encoding.Unlock()
		return false, nil
	}
	// Encoding is one thing and sending another, which takes as long as the server likes: no caller that is gone waits for that.
	encoded := new(grpc.PreparedMsg)
	err := encoded.Encode(l.stream, frame)
	l.encoding.Unlock()
	if err != nil {
		return false, err
	}
	return true, l.stream.SendMsg(encoded)
}

// gather takes what is to be sent next; nil: nothing is.
func (l *line) gather() *gatekeeperv1.MultiplexRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queued) == 0 && len(l.given) == 0 {
		return nil
	}
	l.used = true
	n, size := 0, 0
	for n < min(len(l.queued), maxCalls) && (n == 0 || size+l.queued[n].size <= maxFrame) {
		size += l.queued[n].size
		n++
	}
	frame := &gatekeeperv1.MultiplexRequest{Calls: make([]*gatekeeperv1.NumberedCall, 0, n)}
	for _, c := range l.queued[:n] {
		l.number++
		c.number = l.number
		c.message.Number = c.number
		if !c.deadline.IsZero() {
			c.message.Timeout = durationpb.New(max(time.Until(c.deadline), 1))
		}
		l.sent[c.number] = c
		frame.Calls = append(frame.Calls, c.message)
	}
	rest := copy(l.queued, l.queued[n:])
	clear(l.queued[rest:])
	l.queued = l.queued[:rest]
	n = min(len(l.given), maxCalls)
	frame.Cancel = append(frame.Cancel, l.given[:n]...)
	l.given = append(l.given[:0], l.given[n:]...)
	return frame
}

// retire takes no more calls on, and ends the stream when those that were are sent.
func (l *line) retire() {
	l.mu.Lock()
	l.ended, l.retired = true, true
	l.mu.Unlock()
	l.signal()
}

func (l *line) isRetired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retired
}

// idle tells whether there was nothing to do for a while: then no call is taken on any more.
func (l *line) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = l.ended || !l.used && len(l.queued) == 0 && len(l.sent) == 0
	l.used = false
	return l.ended
}

// read takes answers until the stream ends.
func (l *line) read() {
	for {
		r, err := l.stream.Recv()
		if err != nil {
			l.fail(err)
			return
		}
		l.answered(r)
	}
}

// answered tells callers.
func (l *line) answered(r *gatekeeperv1.MultiplexResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range r.GetAnswers() {
		if c := l.sent[a.GetNumber()]; c != nil {
			delete(l.sent, a.GetNumber())
			c.tell(a, nil)
		}
	}
	if r.Taken == nil {
		return
	}
	l.ended = true
	for number, c := range l.sent {
		if number > r.GetTaken() {
			delete(l.sent, number)
			c.tell(nil, errUntouched)
		}
	}
}

func (c *carriedCall) tell(answer *gatekeeperv1.NumberedAnswer, err error) {
	c.answer, c.err = answer, err
	c.told <- struct{}{}
}

// fail ends the stream. What was sent and not answered may have been done or not.
func (l *line) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for _, c := range l.queued {
		c.tell(nil, errUntouched)
	}
	l.queued = nil
	for _, c := range l.sent {
		c.tell(nil, unknown(err))
	}
	clear(l.sent)
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
