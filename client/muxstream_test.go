package client

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// mostOfAFrame is what servers take in one message.
const mostOfAFrame = 4 << 20

// One frame that is too large would end the stream, and nobody on it would know what became of his call.
func TestMuxStream_LargeCalls_AreSentInFramesThatServersTake(t *testing.T) {
	l := newMuxStream(nil, nil)
	small := make(map[string]string)
	for i := range maxCarried / 8 {
		small[fmt.Sprintf("%06d", i)] = ""
	}
	const each = maxCalls
	for i := range 2 * each {
		m := &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Metadata: map[string]string{"k": strings.Repeat("v", maxCarried-100)}}
		if i%2 == 1 {
			m.Metadata = small
		}
		size, ok := plainRequest(m)
		if ok {
			l.queue(&carriedCall{message: &gatekeeperv1.NumberedCall{Call: &gatekeeperv1.NumberedCall_TryAcquire{TryAcquire: m}}, size: size})
		}
	}
	gathered, queued := uint64(0), uint64(len(l.queued))
	if queued < each {
		t.Fatalf("%d calls are carried", queued)
	}
	for frame := l.gather(); frame != nil; frame = l.gather() {
		if size := proto.Size(frame); size > mostOfAFrame || len(frame.GetCalls()) == 0 {
			t.Fatalf("a frame of %d calls has %d bytes", len(frame.GetCalls()), size)
		}
		for _, c := range frame.GetCalls() {
			if gathered++; c.GetNumber() != gathered {
				t.Fatalf("call %d comes after %d", c.GetNumber(), gathered-1)
			}
		}
	}
	if gathered != queued {
		t.Errorf("%d calls of %d were sent", gathered, queued)
	}
}

// The caller may change his message as soon as he has his answer, whatever it is.
func TestMuxStream_EndsWhileAFrameIsEncoded_NobodyHearsOfItBefore(t *testing.T) {
	l := newMuxStream(nil, nil)
	heard := make(chan error, 1)
	go func() {
		_, err := l.call(t.Context(), new(gatekeeperv1.TryAcquireRequest), 0, new(gatekeeperv1.TryAcquireResponse), nil)
		heard <- err
	}()
	<-l.wake
	l.encoding.Lock() // as the writer does
	l.gather()
	l.fail(status.Error(codes.Unavailable, "reset"))
	for range 10_000 {
		runtime.Gosched()
	}
	if len(heard) > 0 {
		t.Error("the caller goes on while his message is read")
	}
	l.encoding.Unlock()
	if err := <-heard; status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
}

// What cannot be encoded is never to come so far. If it does, its stream is ended, so that another one can be opened.
func TestMuxStream_CannotBeEncoded_EndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"})
		w.openLines(c, []string{endpoint("a")})
		conn, _ := c.router.conn(endpoint("a"))
		bad := &gatekeeperv1.TryAcquireRequest{Semaphore: "\xff"}
		done, err := conn.shared.current.Load().call(t.Context(), bad, 1, new(gatekeeperv1.TryAcquireResponse), nil)
		if !done || err == nil {
			t.Errorf("done: %v, %v", done, err)
		}
		synctest.Wait()
		if conn.shared.current.Load() != nil {
			t.Error("the stream is kept, and carries nothing")
		}
		w.openLines(c, []string{endpoint("a")})
		if conn.shared.current.Load() == nil {
			t.Error("no other stream was opened")
		}
	})
}

// A server that ends a stream at once, because it does not lead yet, has taken nothing on: no call is entrusted to it.
func TestMultiplex_ServerEndsTheStreamAtOnce_NothingIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"})
		a := w.servers["a"]
		a.tryAcquire = grants(7, time.Minute)
		end := make(chan struct{})
		a.multiplex = func(stream gatekeeperv1.PermitService_MultiplexServer) error {
			if err := stream.Send(&gatekeeperv1.MultiplexResponse{Taken: new(uint64(0))}); err != nil {
				return err
			}
			<-end
			return refused(codes.Unavailable, reasonNoLeader)
		}
		w.openLines(c, []string{endpoint("a")})
		asked := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_, err := c.Permits().TryAcquire(ctx, new(gatekeeperv1.TryAcquireRequest)) // without an id: no repeat is safe
			asked <- err
		}()
		synctest.Wait()
		close(end)
		if err := <-asked; err != nil || errors.Is(err, ErrOutcomeUnknown) {
			t.Error(err)
		}
	})
}
