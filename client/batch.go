package client

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// minConcurrent is how many goroutines must ask at once before they ask in batches.
	minConcurrent = 3
	// maxBatch is the most requests of a batch; servers take no more.
	maxBatch = 1024
	// maxBatchBytes is the most bytes of a batch, unless its first request alone has more. Servers take four times as
	// much.
	maxBatchBytes = 1 << 20
	// maxBatched is the most bytes of a request in a batch. A larger one would slow the others down.
	maxBatched = 16 << 10
	// maxDenied is how many semaphores are remembered as denied.
	maxDenied = 10_000
	// batchRest is how long nothing goes in batches after one has failed, and olderRest if the server does not know the
	// call.
	batchRest = time.Second
	olderRest = time.Minute
)

// coalescer asks for permits in batches. A batch answers denials and errors and changes nothing, so all other requests,
// and those of a batch that has failed, are simply made again, each as a TryAcquire. To spare grants that second call,
// only semaphores that were denied last are asked for in batches. One batch is in flight at a time; meanwhile the next
// one gathers.
type coalescer struct {
	conn    *grpc.ClientConn
	timeout time.Duration   // of a batch
	ctx     context.Context //nolint:containedctx // ends with close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex // guards what follows, and adding to running
	callers int        // goroutines that ask now, whether in a batch or alone
	denied  map[string]bool
	next    []*batched
	sending bool
	rests   time.Time // nothing goes in batches before
}

// batched is a request on its way.
type batched struct {
	ctx     context.Context                     //nolint:containedctx // its caller's
	encoded []byte                              // as a field of the batch
	result  chan *gatekeeperv1.TryAcquireResult // has room for it; nil: ask alone
}

func newCoalescer(conn *grpc.ClientConn, timeout time.Duration) *coalescer {
	b := &coalescer{conn: conn, timeout: timeout, denied: make(map[string]bool)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// close ends the batch in flight, and returns when nothing runs any more.
func (b *coalescer) close() {
	b.mu.Lock()
	b.cancel()
	b.mu.Unlock()
	b.running.Wait()
}

// Invoke makes a unary call. A TryAcquire goes in a batch if that can help, unless its caller wants more of gRPC than
// its answer.
func (l *link) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	m, isTry := args.(*gatekeeperv1.TryAcquireRequest)
	out, isReply := reply.(*gatekeeperv1.TryAcquireResponse)
	_, headers := metadata.FromOutgoingContext(ctx)
	if l.batches == nil || !isTry || !isReply || headers || !plainOptions(opts) {
		return l.ClientConn.Invoke(ctx, method, args, reply, opts...)
	}
	join := l.batches.enter(m.GetSemaphore())
	defer l.batches.leave(m.GetSemaphore(), out)
	if join {
		if done, err := l.batches.ask(ctx, m, out); done {
			return err
		}
	}
	return l.ClientConn.Invoke(ctx, method, args, reply, opts...)
}

// plainOptions reports whether a batch can do what the options ask: the peer is only asked for to judge failures.
func plainOptions(opts []grpc.CallOption) bool {
	for _, o := range opts {
		switch o.(type) {
		case grpc.PeerCallOption, grpc.StaticMethodCallOption: // the latter is in every call of a generated stub
		default:
			return false
		}
	}
	return true
}

// enter counts a caller, and says whether it should join a batch.
func (b *coalescer) enter(semaphore string) (join bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers++
	return b.denied[semaphore] && b.callers >= minConcurrent && !time.Now().Before(b.rests)
}

// leave takes note of what a caller was answered.
func (b *coalescer) leave(semaphore string, answer *gatekeeperv1.TryAcquireResponse) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers--
	switch {
	case answer.GetGrant() != nil:
		delete(b.denied, semaphore)
	case answer.GetDenial() != nil && len(b.denied) < maxDenied:
		b.denied[semaphore] = true
	}
}

// ask asks in a batch. done is false if the request must be made alone.
func (b *coalescer) ask(ctx context.Context, m *gatekeeperv1.TryAcquireRequest, out *gatekeeperv1.TryAcquireResponse) (done bool, err error) {
	encoded, ok := encode(m)
	if !ok {
		return false, nil
	}
	c := &batched{ctx: ctx, encoded: encoded, result: make(chan *gatekeeperv1.TryAcquireResult, 1)}
	if !b.join(c) {
		return false, nil
	}
	select {
	case <-ctx.Done():
		return true, status.FromContextError(ctx.Err()).Err()
	case r := <-c.result:
		if d := r.GetDenial(); d != nil {
			out.Outcome = &gatekeeperv1.TryAcquireResponse_Denial{Denial: d}
			return true, nil
		}
		e := r.GetError()
		err = status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err()
		return err != nil, err
	}
}

// encode writes a request as a field of a batch: its caller may change it as soon as it stops waiting, and a request
// that cannot be encoded must not stop those of others.
func encode(m *gatekeeperv1.TryAcquireRequest) ([]byte, bool) {
	const requests = 1 // the field's number
	size := proto.Size(m)
	if size > maxBatched {
		return nil, false
	}
	field := protowire.AppendTag(make([]byte, 0, size+4), requests, protowire.BytesType)
	field, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(protowire.AppendVarint(field, uint64(size)), m)
	return field, err == nil
}

// join adds a request to the next batch, unless the connection is closed.
func (b *coalescer) join(c *batched) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return false
	}
	b.next = append(b.next, c)
	if !b.sending {
		b.sending = true
		b.running.Go(b.send)
	}
	return true
}

// send sends batches, one after the other, until nobody has joined the next.
func (b *coalescer) send() {
	for {
		runtime.Gosched() // callers that are about to ask join first
		calls := b.take()
		if calls == nil {
			return
		}
		results, err := b.exchange(calls)
		if err != nil {
			b.rest(err)
		}
		for i, c := range calls {
			var r *gatekeeperv1.TryAcquireResult
			if i < len(results) {
				r = results[i]
			}
			c.result <- r
		}
	}
}

// take takes what goes into the next batch; nil: nothing, and send ends.
func (b *coalescer) take() []*batched {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = slices.DeleteFunc(b.next, func(c *batched) bool { return c.ctx.Err() != nil })
	n, size := 0, 0
	for n < min(len(b.next), maxBatch) && (n == 0 || size+len(b.next[n].encoded) <= maxBatchBytes) {
		size += len(b.next[n].encoded)
		n++
	}
	if n == 0 {
		b.sending = false
		return nil
	}
	calls := b.next[:n:n]
	b.next = b.next[n:]
	return calls
}

// exchange makes the call.
func (b *coalescer) exchange(calls []*batched) ([]*gatekeeperv1.TryAcquireResult, error) {
	ctx, cancel := context.WithTimeout(b.ctx, b.timeout)
	defer cancel()
	var fields []byte
	for _, c := range calls {
		fields = append(fields, c.encoded...)
	}
	m := new(gatekeeperv1.BatchTryAcquireRequest)
	m.ProtoReflect().SetUnknown(fields) // which are sent as they are
	r, err := gatekeeperv1.NewPermitServiceClient(b.conn).BatchTryAcquire(ctx, m)
	return r.GetResults(), err
}

// rest stops batches for a while after one has failed.
func (b *coalescer) rest(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := batchRest
	if status.Code(err) == codes.Unimplemented {
		d = olderRest
	}
	b.rests = time.Now().Add(d)
}
