package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// clusterHeader carries a cluster id: in a response, the id of the server's cluster; in a request, the id that the
// client expects. A server in a different cluster refuses the call without carrying it out.
const clusterHeader = "gatekeeper-cluster"

const (
	// checkTimeout bounds how long the first change waits for an endpoint to report its cluster.
	checkTimeout = time.Second
	// recheckInterval is how often the endpoints are checked again in the background.
	recheckInterval = time.Minute
)

// ErrWrongCluster matches every WrongClusterError.
var ErrWrongCluster = errors.New("the servers belong to different clusters")

// WrongClusterError reports that an endpoint does not belong to the cluster that the Client is bound to. Two clusters
// grant permits for semaphores with the same name independently, so both could grant a permit to the same job. The
// Client makes no acquisitions or changes until all endpoints belong to one cluster. It keeps its permits alive on the
// cluster that granted them.
type WrongClusterError struct {
	// Endpoint is the address of the server that responded, and Cluster is its cluster.
	Endpoint, Cluster string
	// Bound is the cluster that the Client is bound to. BoundBy is the endpoint whose response bound it, or empty if
	// WithCluster did.
	Bound, BoundBy string
}

func (e *WrongClusterError) Error() string {
	by := "as configured"
	if e.BoundBy != "" {
		by = "by " + e.BoundBy
	}
	text := fmt.Sprintf("%s belongs to cluster %s, but this client is bound to cluster %s (%s): specify endpoints of a single cluster", e.Endpoint, e.Cluster, e.Bound, by)
	if seedOf(e.Cluster) == seedOf(e.Bound) {
		text = fmt.Sprintf("%s belongs to cluster %s, which was later recovered as %s: remove this endpoint", e.Endpoint, e.Cluster, e.Bound)
	}
	return text
}

// Is reports whether target is ErrWrongCluster.
func (e *WrongClusterError) Is(target error) bool { return target == ErrWrongCluster }

// WithCluster binds the Client to a cluster. id is the cluster id shown by `gkctl status`, or its part before the dot,
// called the seed. Servers in other clusters then refuse the Client's calls. GK_CLUSTER has the same effect. Without
// either, the first response binds the Client.
func WithCluster(id string) Option {
	return dialOption(func(s *settings) error {
		if seedOf(id) == "" {
			return fmt.Errorf("WithCluster %q: specify a cluster id as shown by `gkctl status`", id)
		}
		s.cluster = id
		return nil
	})
}

func seedOf(id string) string {
	seed, _, _ := strings.Cut(id, ".")
	return seed
}

// incarnationOf returns the incarnation in a cluster id, or 0 if the id is only a seed. Each recovery increases the
// incarnation.
func incarnationOf(id string) uint64 {
	_, suffix, _ := strings.Cut(id, ".")
	n, _ := strconv.ParseUint(suffix, 16, 64) // 0 if it is invalid
	return n
}

// binding records the cluster that a Client is bound to.
type binding struct {
	to    atomic.Pointer[boundTo] // nil: not bound yet
	wrong atomic.Pointer[WrongClusterError]

	check   chan struct{} // a semaphore: only one goroutine at a time checks the endpoints
	checked atomic.Bool
}

// boundTo is immutable.
type boundTo struct {
	id string
	by string // the endpoint whose response bound the Client; empty if WithCluster did
}

func newBinding(id string) *binding {
	b := &binding{check: make(chan struct{}, 1)}
	if id != "" {
		b.to.Store(&boundTo{id: id})
	}
	return b
}

// withExpectedCluster adds the id of the expected cluster to the headers of a call.
func (b *binding) withExpectedCluster(ctx context.Context) context.Context {
	if to := b.to.Load(); to != nil {
		return metadata.AppendToOutgoingContext(ctx, clusterHeader, to.id)
	}
	return ctx
}

// observe processes the cluster id sent by a server. It binds the Client if it is not bound yet. If the cluster was
// recovered, it binds the Client to the new incarnation, but never to an older one.
func (b *binding) observe(endpoint, id string) error {
	for id != "" { // empty: not a Gatekeeper server
		to := b.to.Load()
		next := &boundTo{id: id, by: endpoint}
		switch {
		case to == nil:
		case to.id == id:
			return nil
		case seedOf(to.id) == seedOf(id) && incarnationOf(id) >= incarnationOf(to.id):
			next.by = to.by
		default:
			return to.wrong(endpoint, id)
		}
		if b.to.CompareAndSwap(to, next) {
			return nil
		}
	}
	return nil
}

func (to *boundTo) wrong(endpoint, id string) *WrongClusterError {
	return &WrongClusterError{Endpoint: endpoint, Cluster: id, Bound: to.id, BoundBy: to.by}
}

// checkHeader processes a response's header. If the server refused the call because it belongs to another cluster,
// checkHeader returns a WrongClusterError.
func (b *binding) checkHeader(endpoint string, md metadata.MD, err error) error {
	if err != nil {
		if s, ok := status.FromError(err); ok {
			if i := info(s); i.GetReason() == reasonWrongCluster {
				return b.to.Load().wrong(endpoint, i.GetMetadata()["cluster"]) // only a call that named a cluster fails this way
			}
		}
	}
	if ids := md.Get(clusterHeader); len(ids) > 0 {
		if wrong := b.observe(endpoint, ids[0]); wrong != nil {
			return wrong
		}
	}
	return err
}

// interceptors returns options that send the cluster id with each call to an address and check it in each response.
func (b *binding) interceptors(address string) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			var md metadata.MD
			err := call(b.withExpectedCluster(ctx), method, req, reply, cc, append(slices.Clip(opts), grpc.Header(&md))...)
			return b.checkHeader(address, md, err)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			s, err := open(b.withExpectedCluster(ctx), desc, cc, method, opts...)
			if err != nil {
				return nil, b.checkHeader(address, nil, err)
			}
			return &boundStream{ClientStream: s, binding: b, address: address}, nil
		}),
	}
}

// boundStream checks the server's cluster when the first message arrives and converts a refusal to a WrongClusterError.
type boundStream struct {
	grpc.ClientStream
	binding *binding
	address string
	checked bool // used only by the goroutine that receives
}

func (s *boundStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if s.checked && err == nil {
		return nil
	}
	s.checked = true
	md, _ := s.Header() // available after a message
	return s.binding.checkHeader(s.address, md, err)
}

// requireOneCluster returns an error if the endpoints belong to more than one cluster. Before the first acquisition or
// change, it queries all of them, waiting at most checkTimeout. The endpoints are then rechecked periodically in the
// background.
func (c *Client) requireOneCluster(ctx context.Context) error {
	b := c.router.binding
	if len(c.router.endpoints) > 1 && !b.checked.Load() {
		select {
		case b.check <- struct{}{}:
			c.firstCheck(ctx)
			<-b.check
		case <-ctx.Done(): // the call fails with ctx's error
		}
	}
	if wrong := b.wrong.Load(); wrong != nil {
		return wrong
	}
	return nil
}

// firstCheck checks all endpoints unless they have been checked before. It then starts the background checks. Only one
// goroutine at a time may call it.
func (c *Client) firstCheck(ctx context.Context) {
	b := c.router.binding
	if b.checked.Load() {
		return
	}
	c.queryClusters(ctx)
	if ctx.Err() != nil {
		return
	}
	b.checked.Store(true)
	c.checks.Go(func() {
		for sleep(c.ctx, recheckInterval) {
			c.queryClusters(c.ctx)
		}
	})
}

// queryClusters queries every endpoint for its cluster and records whether they differ.
func (c *Client) queryClusters(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var wrong *WrongClusterError
	for _, s := range c.queryAll(ctx, new(gatekeeperv1.GetStatusRequest), c.router.addresses()) {
		if e, ok := errors.AsType[*WrongClusterError](s.Err); ok {
			wrong = e
			continue
		}
		c.observe(s.Status.GetRevision())
	}
	c.router.binding.wrong.Store(wrong)
}
