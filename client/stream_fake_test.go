package client

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Multiplex answers each call by the hook of the call of its own, unless the test says otherwise.
func (s *server) Multiplex(stream gatekeeperv1.PermitService_MultiplexServer) error {
	if f := get(s, func(s *server) func(gatekeeperv1.PermitService_MultiplexServer) error { return s.multiplex }); f != nil {
		return f(stream)
	}
	if get(s, func(s *server) bool { return s.cut }) {
		return errDown
	}
	s.set(func(s *server) { s.muxStreams++ })
	ctx, cancel := context.WithCancel(stream.Context())
	c := &carrying{server: s, stream: stream, cancels: make(map[uint64]context.CancelFunc)}
	defer c.work.Wait()
	defer cancel()
	for {
		frame, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			c.work.Wait()
			return nil
		}
		if err != nil {
			return err
		}
		if len(frame.GetCalls())+len(frame.GetCancel()) == 0 {
			c.send(nil)
		}
		for _, call := range frame.GetCalls() {
			c.begin(ctx, call)
		}
		for _, number := range frame.GetCancel() {
			c.cancel(number)
		}
	}
}

// carrying is one stream of a fake server.
type carrying struct {
	server *server
	stream gatekeeperv1.PermitService_MultiplexServer
	work   sync.WaitGroup

	mu      sync.Mutex // guards cancels, and sending
	cancels map[uint64]context.CancelFunc
}

func (c *carrying) begin(ctx context.Context, call *gatekeeperv1.NumberedCall) {
	ctx, cancel := context.WithCancel(ctx)
	if call.GetTimeout() != nil {
		ctx, cancel = context.WithTimeout(ctx, call.GetTimeout().AsDuration())
	}
	c.mu.Lock()
	c.cancels[call.GetNumber()] = cancel
	c.mu.Unlock()
	c.work.Go(func() {
		defer cancel()
		a := &gatekeeperv1.NumberedAnswer{Number: call.GetNumber()}
		var err error
		switch q := call.GetCall().(type) {
		case *gatekeeperv1.NumberedCall_TryAcquire:
			var r *gatekeeperv1.TryAcquireResponse
			r, err = c.server.TryAcquire(ctx, q.TryAcquire)
			a.Answer = &gatekeeperv1.NumberedAnswer_TryAcquire{TryAcquire: r}
		case *gatekeeperv1.NumberedCall_Release:
			var r *gatekeeperv1.ReleaseResponse
			r, err = c.server.Release(ctx, q.Release)
			a.Answer = &gatekeeperv1.NumberedAnswer_Release{Release: r}
		}
		if err != nil {
			s := status.Convert(err).Proto()
			a.Answer = &gatekeeperv1.NumberedAnswer_Error{Error: &gatekeeperv1.CallError{Code: s.GetCode(), Message: s.GetMessage(), Details: s.GetDetails()}}
		}
		c.send(a)
	})
}

func (c *carrying) cancel(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.cancels[number]; cancel != nil {
		cancel()
	}
}

func (c *carrying) send(a *gatekeeperv1.NumberedAnswer) {
	r := new(gatekeeperv1.MultiplexResponse)
	if a != nil {
		r.Answers = append(r.Answers, a)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.stream.Send(r) // a stream that has ended needs none
}
