package api

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// registrar is a context that counts who waits for its end.
type registrar struct {
	context.Context
	waiting int
}

func (r *registrar) Value(any) any         { return nil } // so that no context takes it for the one it stands for
func (r *registrar) Done() <-chan struct{} { return make(chan struct{}) }

func (r *registrar) AfterFunc(func()) (stop func() bool) {
	r.waiting++
	return func() bool { r.waiting--; return true }
}

// A stream lives for days: whatever a call leaves behind would be there until its end.
func TestMultiplex_CallIsOver_LeavesNothingWithItsStream(t *testing.T) {
	for name, timeout := range map[string]*durationpb.Duration{"without a timeout": nil, "with one": durationpb.New(time.Hour)} {
		stream := &registrar{Context: t.Context()}
		c := &heldCall{NumberedCall: &gatekeeperv1.NumberedCall{Timeout: timeout}, received: time.Now()}
		_, cancel := c.within(stream)
		if stream.waiting != 1 {
			t.Errorf("%s: %d contexts wait for the end of the stream while the call goes on", name, stream.waiting)
		}
		cancel()
		if stream.waiting != 0 {
			t.Errorf("%s: %d contexts wait for the end of the stream when the call is over", name, stream.waiting)
		}
	}
}

// halfClosed is a stream on which nothing more comes.
type halfClosed struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // it is what a stream has
}

func (s halfClosed) Context() context.Context                         { return s.ctx }
func (s halfClosed) Recv() (*gatekeeperv1.MultiplexRequest, error)    { return nil, io.EOF }
func (s halfClosed) Send(*gatekeeperv1.MultiplexResponse) (err error) { return nil }

// A client that has said that it asks nothing more still waits for answers. When it is gone there is nobody to grant to.
func TestMultiplex_HalfClosed_AndThenTheClientIsGone_EndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := newMultiplex(context.WithoutCancel(ctx), nil, nil)
		defer m.give()
		m.work.Go(func() { <-m.ctx.Done() })
		ended := make(chan error, 1)
		go func() { ended <- m.run(halfClosed{ctx: ctx}, nil) }()
		synctest.Wait()
		if m.ctx.Err() != nil || len(ended) > 0 {
			t.Fatal("its calls ended with its last word")
		}
		cancel()
		synctest.Wait()
		if !errors.Is(m.ctx.Err(), context.Canceled) || len(ended) == 0 {
			t.Error("its calls go on")
			m.give()
		}
	})
}
