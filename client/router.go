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
	// pingEvery and pingTimeout find a connection that is cut off without a word. Servers allow a ping every 5 s.
	pingEvery   = 10 * time.Second
	pingTimeout = 5 * time.Second
	// connectTimeout bounds one attempt to connect, TLS included.
	connectTimeout = 3 * time.Second
	// maxMessage bounds what is received: no page or answer of a server is larger.
	maxMessage = 64 << 20
	// hintRest is how long an address that a hint named and that could not be reached is not tried again. It may be one
	// that is only known inside, behind a load balancer.
	hintRest = 10 * time.Second
)

// router knows where to send a call: one target for all calls, which moves on when it fails or names the leader.
// Connections are made lazily, one per address.
type router struct {
	endpoints []string
	options   []grpc.DialOption
	tls       *tlsfiles.Latest // nil: plain text
	timeout   time.Duration    // of one attempt
	alone     bool             // each call goes alone
	binding   *binding
	through   atomic.Bool // a server was heard by TLS

	mu     sync.Mutex // guards everything below
	conns  map[string]*link
	target string
	next   int                  // the endpoint after the last one that was rotated to
	term   uint64               // of the newest hint that was followed
	names  map[string]string    // of addresses that only a hint named: which server is meant there
	rest   map[string]time.Time // hinted addresses that failed, until when they rest
	closed bool
}

// link is the connection to an address.
type link struct {
	*grpc.ClientConn
	handshakes *handshakes // nil: plain text
	batches    *coalescer  // nil: each call goes alone
}

func newRouter(s *settings) *router {
	r := &router{
		endpoints: s.endpoints,
		tls:       s.tls,
		timeout:   s.attemptTimeout,
		alone:     s.alone,
		binding:   newBinding(s.cluster),
		conns:     make(map[string]*link),
		next:      rand.N(len(s.endpoints)), // so that clients spread over the members
		names:     make(map[string]string),
		rest:      make(map[string]time.Time),
		options: append([]grpc.DialOption{
			grpc.WithDisableRetry(), // we retry: only here is it known what is safe to repeat
			grpc.WithDisableServiceConfig(),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingTimeout}),
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

// rotate moves the target to the next endpoint. The caller holds mu, or is the only one.
func (r *router) rotate() {
	r.target = r.endpoints[r.next]
	r.next = (r.next + 1) % len(r.endpoints)
}

// pick is the address to call now.
func (r *router) pick() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.target
}

// conn returns the connection to an address.
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
	if !r.alone {
		c.batches = newCoalescer(c.ClientConn, r.timeout)
	}
	r.conns[address] = c
	return c, nil
}

// dial makes a connection that belongs to the caller.
func (r *router) dial(address string) (*link, error) {
	l := new(link)
	creds := insecure.NewCredentials()
	if r.tls != nil {
		l.handshakes = newHandshakes(address, r.tls, &r.through)
		creds = l.handshakes
	}
	options := append([]grpc.DialOption{grpc.WithTransportCredentials(creds)}, r.options...)
	options = append(options, r.binding.interceptors(address)...)
	if !slices.Contains(r.endpoints, address) {
		options = append(options, r.naming(address)...)
	}
	var err error
	l.ClientConn, err = grpc.NewClient(address, options...)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// leaderHeader says which server is meant, so that another one to which its address leads by now, perhaps of another
// cluster, refuses the call.
const leaderHeader = "gatekeeper-hop-to"

// naming lets each call at an address that a hint named say which server it is meant for.
func (r *router) naming(address string) []grpc.DialOption {
	named := func(ctx context.Context) context.Context {
		r.mu.Lock()
		defer r.mu.Unlock()
		if name := r.names[address]; name != "" {
			return metadata.AppendToOutgoingContext(ctx, leaderHeader, name)
		}
		return ctx
	}
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return call(named(ctx), method, req, reply, cc, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return open(named(ctx), desc, cc, method, opts...)
		}),
	}
}

// failed notes that an address did not serve a call: others try elsewhere. Of many calls that fail together only the
// first moves the target.
func (r *router) failed(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.endpoints, address) {
		r.rest[address] = time.Now().Add(hintRest)
	}
	if r.target == address {
		r.rotate()
	}
}

// follow takes a hint that another server leads, given by the server at from, and says whether the target is now that
// leader. A hint of an older term than one that was followed is ignored: its giver lags behind.
func (r *router) follow(from string, hint leaderHint) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hint.address == "" || hint.address == from || hint.term < r.term || time.Now().Before(r.rest[hint.address]) {
		return false
	}
	r.term, r.target = hint.term, hint.address
	if !slices.Contains(r.endpoints, hint.address) {
		r.names[hint.address] = hint.name
	}
	return true
}

// forget makes hints of every term count again, after a round over all endpoints that has failed: the cluster may have
// been restored or recreated, with terms that begin again.
func (r *router) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.term = 0
}

// addresses are all endpoints, as configured.
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
		_ = c.Close() // its only error is that it was closed before
	}
}
