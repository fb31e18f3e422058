package gateway

import (
	"io"
	"net/netip"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	// maxBodies limits the total size of the bodies of all requests in progress, in bytes. Bodies are read before the
	// callers are identified, so without this limit, anyone who can reach the port could exhaust the memory.
	maxBodies = 64 << 20
	// maxBodiesPerAddress limits a single address's share, so that it cannot block other addresses.
	maxBodiesPerAddress = maxBodies / 4
	// bodiesRetry is how long a client should wait before it retries. A slow body can occupy memory for seconds.
	bodiesRetry = 2 * time.Second
)

// bodies counts the bytes of all bodies in memory. The zero value is ready to use.
type bodies struct {
	mu       sync.Mutex // guards the fields below
	all      int
	bySource map[netip.Prefix]int // by address
}

// take counts n bytes from an address, unless they exceed a limit. It reports whether it counted them.
func (b *bodies) take(source netip.Prefix, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all+n > maxBodies || b.bySource[source]+n > maxBodiesPerAddress {
		return false
	}
	if b.bySource == nil {
		b.bySource = make(map[netip.Prefix]int)
	}
	b.all += n
	b.bySource[source] += n
	return true
}

func (b *bodies) free(source netip.Prefix, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all -= n
	if b.bySource[source] -= n; b.bySource[source] == 0 {
		delete(b.bySource, source)
	}
}

// countedBody is a body whose bytes are counted from when they are read until free is called.
type countedBody struct {
	io.ReadCloser
	counter *bodies
	source  netip.Prefix
	held    int
}

// Read fails with RESOURCE_EXHAUSTED if a limit is exceeded.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && !b.counter.take(b.source, n) {
		return 0, bodyLimitError()
	}
	b.held += n
	return n, err
}

func (b *countedBody) free() {
	if b.held > 0 {
		b.counter.free(b.source, b.held)
	}
}

func bodyLimitError() error {
	text := "the total size of all request bodies in progress exceeds the limit: retry this request in a moment"
	s, err := status.New(codes.ResourceExhausted, text).WithDetails(
		&errdetails.ErrorInfo{Reason: reasonNotAppended},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(bodiesRetry)},
	)
	if err != nil {
		return status.Error(codes.ResourceExhausted, text)
	}
	return s.Err()
}
