package client

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

const (
	// pingInterval and pingTimeout detect a connection that was cut silently. Servers allow a ping every 5 s.
	pingInterval = 10 * time.Second
	pingTimeout  = 5 * time.Second
	// connectTimeout bounds one attempt to connect, including TLS.
	connectTimeout = 3 * time.Second
	// maxMessage bounds the size of received messages. No server response is larger.
	maxMessage = 64 << 20
	// hintCooldown is how long an address from a hint is avoided after it could not be reached. Behind a load balancer,
	// such an address may be reachable only from inside the network.
	hintCooldown = 10 * time.Second
)

// router decides where to send a call. All calls go to the same target, which changes when it fails or when a server
// reports a different leader. Connections are made lazily, one per address.
type router struct {
	endpoints      []string
	options        []grpc.DialOption
	tls            *tlsfiles.Latest // nil: plain text
	timeout        time.Duration    // of one attempt
	unbatched      bool             // do not batch calls
	binding        *binding
	tlsEstablished atomic.Bool // data has been received from a server over TLS

	mu      sync.Mutex // guards everything below
	conns   map[string]*link
	target  string
	next    int                  // index of the endpoint that rotate will choose next
	term    uint64               // of the newest hint that was followed
	names   map[string]string    // the names of servers whose addresses come from hints
	retryAt map[string]time.Time // when failed addresses from hints may be tried again
	closed  bool
}

// link is a connection to an address.
type link struct {
	*grpc.ClientConn
	handshakes *handshakes // nil: plain text
	batches    *coalescer  // nil: no batches
}

func newRouter(s *settings) *router {
	r := &router{
		endpoints: s.endpoints,
		tls:       s.tls,
		timeout:   s.attemptTimeout,
		unbatched: s.unbatched,
		binding:   newBinding(s.cluster),
		conns:     make(map[string]*link),
		next:      rand.N(len(s.endpoints)), // spreads clients over the members
		names:     make(map[string]string),
		retryAt:   make(map[string]time.Time),
		options: append([]grpc.DialOption{
			grpc.WithDisableRetry(), // the client retries, because only it knows which calls are safe to repeat
			grpc.WithDisableServiceConfig(),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout}),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           grpcbackoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
				MinConnectTimeout: connectTimeout,
			}),
		}, s.grpc...),
	}
	if s.bearer != nil {
		r.options = append(r.options, grpc.WithPerRPCCredentials(s.bearer))
	}
	r.rotate()
	return r
}

// rotate moves the target to the next endpoint. The caller holds mu, or is newRouter.
func (r *router) rotate() {
	r.target = r.endpoints[r.next]
	r.next = (r.next + 1) % len(r.endpoints)
}

// pick returns the address to call now.
func (r *router) pick() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.target
}

// conn returns the shared connection to an address.
func (r *router) conn(address string) (*link, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if c, ok := r.conns[address]; ok {
		return c, nil
	}
	c, err := r.dial(address)
	if err != nil {
		return nil, err
	}
	if !r.unbatched {
		c.batches = newCoalescer(c.ClientConn, r.timeout)
	}
	r.conns[address] = c
	return c, nil
}

// dial returns a new connection, which the caller must close.
func (r *router) dial(address string) (*link, error) {
	l := new(link)
	creds := insecure.NewCredentials()
	if r.tls != nil {
		l.handshakes = newHandshakes(address, r.tls, &r.tlsEstablished)
		creds = l.handshakes
	}
	options := append([]grpc.DialOption{grpc.WithTransportCredentials(creds)}, r.options...)
	options = append(options, r.binding.interceptors(address)...)
	if !slices.Contains(r.endpoints, address) {
		options = append(options, r.leaderHeaderOptions(address)...)
	}
	var err error
	l.ClientConn, err = grpc.NewClient(address, options...)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// leaderHeader contains the name of the expected server. If another server, perhaps in another cluster, now has the
// address, it refuses the call.
const leaderHeader = "gatekeeper-hop-to"

// leaderHeaderOptions returns options that add the name of the expected server to each call at an address from a hint.
func (r *router) leaderHeaderOptions(address string) []grpc.DialOption {
	withLeaderName := func(ctx context.Context) context.Context {
		r.mu.Lock()
		defer r.mu.Unlock()
		if name := r.names[address]; name != "" {
			return metadata.AppendToOutgoingContext(ctx, leaderHeader, name)
		}
		return ctx
	}
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return call(withLeaderName(ctx), method, req, reply, cc, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return open(withLeaderName(ctx), desc, cc, method, opts...)
		}),
	}
}

// failed records that an address did not serve a call, so that other calls try a different one. If many calls fail
// together, only the first moves the target.
func (r *router) failed(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.endpoints, address) {
		r.retryAt[address] = time.Now().Add(hintCooldown)
	}
	if r.target == address {
		r.rotate()
	}
}

// follow processes a hint, sent by the server at from, that another server is the leader. It reports whether that
// leader is now the target. If the term of a hint is older than that of the last hint followed, the hint is ignored,
// because its sender is behind.
func (r *router) follow(from string, hint leaderHint) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hint.address == "" || hint.address == from || hint.term < r.term || time.Now().Before(r.retryAt[hint.address]) {
		return false
	}
	r.term, r.target = hint.term, hint.address
	if !slices.Contains(r.endpoints, hint.address) {
		r.names[hint.address] = hint.name
	}
	return true
}

// forget makes the router accept hints from any term again. It is called after a round in which all endpoints failed:
// the cluster may have been restored or recreated, so its terms may have restarted.
func (r *router) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.term = 0
}

// addresses returns all endpoints, as configured.
func (r *router) addresses() []string { return slices.Clone(r.endpoints) }

func (r *router) close() {
	r.mu.Lock()
	r.closed = true
	conns := r.conns
	r.conns = nil
	r.mu.Unlock()
	for _, c := range conns {
		if c.batches != nil {
			c.batches.close()
		}
		_ = c.Close() // fails only if it is already closed
	}
}
