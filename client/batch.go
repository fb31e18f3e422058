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
	// minConcurrent is how many goroutines must be requesting permits before requests are sent in batches.
	minConcurrent = 3
	// maxBatch is the maximum number of requests in a batch; servers reject larger batches.
	maxBatch = 1024
	// maxBatchBytes is the maximum size of a batch, unless its first request alone is larger. Servers accept batches
	// four times as large.
	maxBatchBytes = 1 << 20
	// maxRequestBytes is the maximum size of a request in a batch. A larger request would delay the others.
	maxRequestBytes = 16 << 10
	// maxDenied is the maximum number of semaphores recorded as denied.
	maxDenied = 10_000
	// batchCooldown is how long batching is disabled after a batch has failed; unsupportedCooldown applies if the
	// server does not support batches.
	batchCooldown       = time.Second
	unsupportedCooldown = time.Minute
)

// coalescer sends requests for permits in batches. The response to a batch contains only denials and errors, and a
// batch makes no changes on the servers. All other requests, and those in a failed batch, are sent again individually
// as TryAcquire calls. Because a grant costs this second call, a request is batched only if the last request for its
// semaphore was denied. One batch is in flight at a time while the next one is being collected.
type coalescer struct {
	conn    *grpc.ClientConn
	timeout time.Duration   // for one batch
	ctx     context.Context //nolint:containedctx // cancelled by close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu            sync.Mutex // guards everything below and calls to running.Add
	callers       int        // goroutines requesting a permit now, in a batch or alone
	denied        map[string]bool
	next          []*batched
	sending       bool
	disabledUntil time.Time // no batches are sent before this time
}

// batched is a request in a batch, or waiting for one.
type batched struct {
	ctx     context.Context                     //nolint:containedctx // the caller's
	encoded []byte                              // as a field of the batch
	result  chan *gatekeeperv1.TryAcquireResult // buffered; receives nil if the request must be sent individually
}

func newCoalescer(conn *grpc.ClientConn, timeout time.Duration) *coalescer {
	b := &coalescer{conn: conn, timeout: timeout, denied: make(map[string]bool)}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// close cancels the batch in flight and waits for the sending goroutine to stop.
func (b *coalescer) close() {
	b.mu.Lock()
	b.cancel()
	b.mu.Unlock()
	b.running.Wait()
}

// Invoke makes a unary call. It sends a TryAcquire in a batch if a denial is likely, unless the call has headers or
// options that a batch does not support.
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
		if done, err := l.batches.submit(ctx, m, out); done {
			return err
		}
	}
	return l.ClientConn.Invoke(ctx, method, args, reply, opts...)
}

// plainOptions reports whether a batch supports the options. It ignores grpc.Peer, which is used only to classify
// failures.
func plainOptions(opts []grpc.CallOption) bool {
	for _, o := range opts {
		switch o.(type) {
		case grpc.PeerCallOption, grpc.StaticMethodCallOption: // generated stubs add the latter to every call
		default:
			return false
		}
	}
	return true
}

// enter counts a caller and reports whether it should join a batch.
func (b *coalescer) enter(semaphore string) (join bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers++
	return b.denied[semaphore] && b.callers >= minConcurrent && !time.Now().Before(b.disabledUntil)
}

// leave stops counting a caller and records whether its semaphore was denied.
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

// submit sends a request in a batch. done is false if the request must be sent individually.
func (b *coalescer) submit(ctx context.Context, m *gatekeeperv1.TryAcquireRequest, out *gatekeeperv1.TryAcquireResponse) (done bool, err error) {
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

// encode encodes a request as a field of a batch. It is encoded early because the caller may change it after it stops
// waiting, and because a request that cannot be encoded must not cause other callers' requests to fail.
func encode(m *gatekeeperv1.TryAcquireRequest) ([]byte, bool) {
	const requests = 1 // the field number
	size := proto.Size(m)
	if size > maxRequestBytes {
		return nil, false
	}
	field := protowire.AppendTag(make([]byte, 0, size+4), requests, protowire.BytesType)
	field, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(protowire.AppendVarint(field, uint64(size)), m)
	return field, err == nil
}

// join adds a request to the next batch. It returns false if the connection is closed.
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

// send sends one batch after another until there are no more requests.
func (b *coalescer) send() {
	for {
		runtime.Gosched() // let callers that are about to send a request join
		calls := b.take()
		if calls == nil {
			return
		}
		results, err := b.exchange(calls)
		if err != nil {
			b.disable(err)
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

// take returns the requests for the next batch. If there are none, it returns nil, and send must return.
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

// exchange sends a batch and returns the results.
func (b *coalescer) exchange(calls []*batched) ([]*gatekeeperv1.TryAcquireResult, error) {
	ctx, cancel := context.WithTimeout(b.ctx, b.timeout)
	defer cancel()
	var fields []byte
	for _, c := range calls {
		fields = append(fields, c.encoded...)
	}
	m := new(gatekeeperv1.BatchTryAcquireRequest)
	m.ProtoReflect().SetUnknown(fields) // sent as is
	r, err := gatekeeperv1.NewPermitServiceClient(b.conn).BatchTryAcquire(ctx, m)
	return r.GetResults(), err
}

// disable turns off batching temporarily after a batch has failed.
func (b *coalescer) disable(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := batchCooldown
	if status.Code(err) == codes.Unimplemented {
		d = unsupportedCooldown
	}
	b.disabledUntil = time.Now().Add(d)
}
