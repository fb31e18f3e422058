package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// minConcurrent is how many calls must be on their way at once before a stream is opened for them. One caller alone never has one.
	minConcurrent = 2
	// openAgain is how long no stream is opened after one could not be, and openOlder after a server did not know of it: one day it may.
	openAgain = time.Second
	openOlder = time.Minute
)

// multiplexer carries the calls of many goroutines to one address on a stream that they share, when there is one. It only makes calls
// cheaper: while no stream is open, and when one ends before a call was entrusted to it, calls go on their own. So whatever hinders a
// connection is told by a call of its own, as ever.
type multiplexer struct {
	conn    *grpc.ClientConn
	timeout time.Duration   // of the first answer
	ctx     context.Context //nolint:containedctx // ends with close
	cancel  context.CancelFunc
	running sync.WaitGroup

	inFlight atomic.Int32              // calls that could be carried, whichever way they went
	current  atomic.Pointer[muxStream] // nil: none is open

	mu      sync.Mutex // guards what follows, and adding to running
	opening bool       // a stream is being opened, or is open
	rests   time.Time  // no stream is opened before
	closed  bool
}

func newMultiplexer(conn *grpc.ClientConn, timeout time.Duration) *multiplexer {
	m := &multiplexer{conn: conn, timeout: timeout}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// close ends the stream, and returns when nothing of it runs any more.
func (m *multiplexer) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.running.Wait()
}

// Invoke makes a unary call, on the stream if that can be.
func (l *link) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if l.shared == nil {
		return l.ClientConn.Invoke(ctx, method, args, reply, opts...)
	}
	size, can := carried(ctx, args, reply, opts)
	if !can {
		return l.ClientConn.Invoke(ctx, method, args, reply, opts...)
	}
	callers := l.shared.inFlight.Add(1)
	defer l.shared.inFlight.Add(-1)
	if stream := l.shared.current.Load(); stream != nil {
		if done, err := stream.call(ctx, args, size, reply, opts); done {
			return err
		}
	} else if callers >= minConcurrent {
		l.shared.open()
	}
	return l.ClientConn.Invoke(ctx, method, args, reply, opts...)
}

// open opens a stream in the background, unless there is one, or should be none now.
func (m *multiplexer) open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.opening || time.Now().Before(m.rests) {
		return
	}
	m.opening = true
	m.running.Go(m.serve)
}

// leave ends the use of the stream that is open, if there is one. What was entrusted to it is answered.
func (m *multiplexer) leave() {
	if stream := m.current.Swap(nil); stream != nil {
		stream.retire()
	}
}

// serve opens a stream and serves it until it ends.
func (m *multiplexer) serve() {
	err := m.stream()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opening = false
	switch {
	case err == nil:
	case status.Code(err) == codes.Unimplemented:
		m.rests = time.Now().Add(openOlder)
	default:
		m.rests = time.Now().Add(openAgain)
	}
}

// stream returns an error if no stream came about, and nil when one has ended.
func (m *multiplexer) stream() error {
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	silence := time.AfterFunc(m.timeout, cancel)
	defer silence.Stop()
	stream, err := gatekeeperv1.NewPermitServiceClient(m.conn).Multiplex(ctx)
	if err != nil {
		return err
	}
	// The answer to an empty frame says that whoever decides has the stream, over whatever way.
	if err := stream.Send(&gatekeeperv1.MultiplexRequest{}); err != nil {
		_, err = stream.Recv()
		return err
	}
	hello, err := stream.Recv()
	if err != nil {
		return err
	}
	if hello.Taken != nil { // it ends already, and will take nothing on
		return errNoAnswer
	}
	if !silence.Stop() {
		return context.DeadlineExceeded
	}
	at, _ := peer.FromContext(stream.Context())
	shared := newMuxStream(stream, at)
	m.current.Store(shared)
	var writing sync.WaitGroup
	writing.Go(func() { shared.write(ctx, cancel) })
	shared.read()
	m.current.Store(nil)
	cancel()
	writing.Wait()
	return nil
}
