package api

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxCalls is the most calls of one frame, and the most answers. It is frozen: clients fill frames up to it.
	maxCalls = 1024
	// maxHeldCalls is the most calls of one stream that are in work, or whose answers the client has not taken yet. What it sends beyond
	// that waits in its connection's flow control. It is above what one connection may have in work by default, so that admission
	// refuses first, and says so.
	maxHeldCalls = 2 * maxCalls
)

// multiplex is one stream that carries many calls.
//
// One goroutine receives. The carrier begins what it has received, and whoever has answers hands them to the one that sends, or is the
// one if nobody does: then it sends what comes meanwhile, too. The handler's own only waits for the end.
type multiplex struct {
	api        *API
	connection any // to admission
	carrier    carrier
	send       func(*gatekeeperv1.MultiplexResponse) error
	ctx        context.Context //nolint:containedctx // that of all calls: it ends when nobody can be answered any more
	give       context.CancelFunc
	received   chan error     // holds what the receiver ended with
	work       sync.WaitGroup // everything that may send

	mu      sync.Mutex // guards all below
	freed   *sync.Cond // there is more room, or none is wanted any more
	calls   map[uint64]*heldCall
	held    int    // calls that were taken on, and whose answers were not sent
	last    uint64 // number of the last call that was taken on
	stopped bool   // nothing is taken on any more
	answers outbox
}

// carrier sees to it that calls are answered.
type carrier interface {
	// carry begins the calls of a frame. The receiver waits for it.
	carry(calls []*heldCall)
	// cancel gives calls up that were begun before. Those that are answered already are not meant.
	cancel(numbers []uint64)
	// greet sees to it that an empty frame is answered.
	greet()
}

// heldCall is one call from its receipt to its answer.
type heldCall struct {
	*gatekeeperv1.NumberedCall
	method   string // of the call of its own that it stands for
	received time.Time
	admitted *admission.Call

	cancel context.CancelFunc // nil before it is on its own; guarded by multiplex.mu
	given  bool               // the caller gave it up; guarded by multiplex.mu

	begun  bool // it is answered, or will be; only here's goroutine touches it
	passed bool // on to the leader; guarded by onward.passing
}

// Multiplex carries many calls on one stream.
func (s *permitService) Multiplex(stream grpc.BidiStreamingServer[gatekeeperv1.MultiplexRequest, gatekeeperv1.MultiplexResponse]) error {
	// A server that drains still answers what it has taken on, as it does with calls of their own.
	m := newMultiplex(context.WithoutCancel(stream.Context()), s.API, stream.Send)
	defer context.AfterFunc(m.ctx, m.wake)()
	defer m.give()
	if s.forward.leading() {
		return m.serveHere(s, stream)
	}
	return m.passOn(s.forward, stream)
}

func newMultiplex(ctx context.Context, a *API, send func(*gatekeeperv1.MultiplexResponse) error) *multiplex {
	m := &multiplex{api: a, connection: connectionOf(ctx), send: send, received: make(chan error, 1), calls: make(map[uint64]*heldCall)}
	m.freed = sync.NewCond(&m.mu)
	m.ctx, m.give = context.WithCancel(ctx)
	return m
}

// run receives until the client ends the stream, which is no error, or until over or the server's draining does, which is one: then
// the client is told which calls were not taken on. What was taken on is answered, if there is anybody to be told.
func (m *multiplex) run(stream grpc.BidiStreamingServer[gatekeeperv1.MultiplexRequest, gatekeeperv1.MultiplexResponse], over <-chan error) error {
	go m.receive(stream.Recv)
	// When the client has half-closed nobody receives who would see that it is gone.
	defer context.AfterFunc(stream.Context(), func() {
		if !errors.Is(context.Cause(stream.Context()), ErrShuttingDown) {
			m.give()
		}
	})()
	var err error
	ours := false
	select {
	case err = <-m.received:
		if errors.Is(err, io.EOF) {
			err = nil
		}
	case err = <-over:
		ours = true
	case <-stream.Context().Done():
		err = context.Cause(stream.Context())
		ours = errors.Is(err, ErrShuttingDown)
	}
	m.stop()
	if err != nil && !ours {
		m.give() // what is in work ends as calls do whose caller is gone
	}
	m.work.Wait()
	if ours && m.ctx.Err() == nil {
		if err := m.send(&gatekeeperv1.MultiplexResponse{Taken: &m.last}); err != nil {
			return err
		}
	}
	return err
}

// stop sees to it that nothing is taken on any more.
func (m *multiplex) stop() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.freed.Broadcast()
}

// wake lets the receiver see that the calls' context has ended.
func (m *multiplex) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freed.Broadcast()
}

// receive reads frames until there are no more. It may be blocked in recv when the handler returns, which ends it.
func (m *multiplex) receive(recv func() (*gatekeeperv1.MultiplexRequest, error)) {
	for {
		message, err := recv()
		received := time.Now() // first of all: the callers count from before it
		if err == nil {
			err = m.take(message, received)
		}
		if err == nil {
			continue
		}
		m.received <- err
		if !errors.Is(err, io.EOF) {
			m.give()
		}
		return
	}
}

// take takes a frame on. With an error, which ends the stream, nothing of it is done.
func (m *multiplex) take(message *gatekeeperv1.MultiplexRequest, received time.Time) error {
	if n := len(message.GetCalls()); n > maxCalls {
		return invalid("calls", strconv.Itoa(n)+" calls", "must be at most "+strconv.Itoa(maxCalls)+" calls")
	}
	if n := len(message.GetCancel()); n > maxHeldCalls {
		return invalid("cancel", strconv.Itoa(n)+" numbers", "must be at most "+strconv.Itoa(maxHeldCalls)+" numbers")
	}
	calls, taken, err := m.hold(message.GetCalls(), received)
	if err != nil || !taken {
		return err // what is not taken on the client learns by its number
	}
	defer m.work.Done()
	switch {
	case len(calls) > 0:
		m.carrier.carry(calls)
	case len(message.GetCancel()) == 0:
		m.carrier.greet()
	}
	m.carrier.cancel(message.GetCancel())
	return nil
}

// hold waits for room and takes calls on. If it has, the caller says when they are begun, by m.work.Done.
func (m *multiplex) hold(calls []*gatekeeperv1.NumberedCall, received time.Time) ([]*heldCall, bool, error) {
	values := make([]heldCall, len(calls)) // one allocation for all of them
	held := make([]*heldCall, len(calls))
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.last // nobody else changes it
	for i, c := range calls {
		if c.GetNumber() <= last {
			return nil, false, invalid(at("calls", i)+".number", decimal(c.GetNumber()), "must be above "+decimal(last)+": numbers rise from call to call")
		}
		last = c.GetNumber()
		values[i] = heldCall{NumberedCall: c, method: methodOf(c), received: received}
		held[i] = &values[i]
	}
	for m.held+len(calls) > maxHeldCalls && !m.stopped && m.ctx.Err() == nil {
		m.freed.Wait()
	}
	if m.stopped || m.ctx.Err() != nil {
		return nil, false, nil
	}
	m.last = last
	m.held += len(calls)
	for _, c := range held {
		m.calls[c.GetNumber()] = c
	}
	m.work.Add(1) // under the lock: nothing is added once it is stopped
	return held, true, nil
}

// methodOf is the full name of the method that a call stands for; that of Multiplex itself when it is one that this server does not know.
func methodOf(c *gatekeeperv1.NumberedCall) string {
	switch c.GetCall().(type) {
	case *gatekeeperv1.NumberedCall_TryAcquire:
		return gatekeeperv1.PermitService_TryAcquire_FullMethodName
	case *gatekeeperv1.NumberedCall_Release:
		return gatekeeperv1.PermitService_Release_FullMethodName
	case *gatekeeperv1.NumberedCall_Refresh:
		return gatekeeperv1.PermitService_Refresh_FullMethodName
	}
	return gatekeeperv1.PermitService_Multiplex_FullMethodName
}

// admit lets a call in, as one of its own, or returns the error that refuses it.
func (m *multiplex) admit(c *heldCall) error {
	if c.GetCall() == nil {
		return unknownCall()
	}
	call, err := m.api.cfg.Admission.Open(kindOf(c.method), m.connection)
	if err != nil {
		m.api.overloads.note(m.ctx, m.api.cfg.Logger, err, admission.Identity{})
		return err
	}
	c.admitted = call
	return m.api.work(m.ctx, call, c.GetTryAcquire())
}

// answered counts a call, ends it, and returns the answer.
func (m *multiplex) answered(c *heldCall, answer *gatekeeperv1.NumberedAnswer, err error) *gatekeeperv1.NumberedAnswer {
	c.admitted.End()
	if err := m.api.ended(m.ctx, c.method, c.received, err); err != nil {
		answer = &gatekeeperv1.NumberedAnswer{Answer: &gatekeeperv1.NumberedAnswer_Error{Error: toCallError(err)}}
	}
	answer.Number = c.GetNumber()
	return answer
}
