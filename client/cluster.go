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

// clusterHeader names the cluster: that of the server in its answers, and in requests the one that the client means. A
// server of another cluster refuses the call and does nothing.
const clusterHeader = "gatekeeper-cluster"

const (
	// askEach bounds how long the first change waits for an endpoint to name its cluster.
	askEach = time.Second
	// askAgain is how often the endpoints are asked again in the background.
	askAgain = time.Minute
)

// ErrWrongCluster is what every WrongClusterError is.
var ErrWrongCluster = errors.New("servers of two clusters")

// WrongClusterError says that an endpoint belongs to another cluster than the one that the Client is bound to. Permits
// of one name are independent in two clusters, so both could grant the same job. Nothing is acquired or changed until
// the endpoints agree; permits that are held are kept alive where they were granted.
type WrongClusterError struct {
	// Endpoint is the server that answered, and Cluster is its cluster.
	Endpoint, Cluster string
	// Bound is the cluster that the Client is bound to. BoundBy is the endpoint whose answer bound it; empty for
	// WithCluster.
	Bound, BoundBy string
}

func (e *WrongClusterError) Error() string {
	by := "as configured"
	if e.BoundBy != "" {
		by = "by " + e.BoundBy
	}
	text := fmt.Sprintf("%s belongs to cluster %s, but this client is bound to cluster %s (%s): give the endpoints of one cluster only", e.Endpoint, e.Cluster, e.Bound, by)
	if seedOf(e.Cluster) == seedOf(e.Bound) {
		text = fmt.Sprintf("%s belongs to an earlier life of the cluster, %s, which was recovered since as %s: remove this endpoint", e.Endpoint, e.Cluster, e.Bound)
	}
	return text
}

// Is makes errors.Is(err, ErrWrongCluster) true.
func (e *WrongClusterError) Is(target error) bool { return target == ErrWrongCluster }

// WithCluster binds the Client to a cluster, by the id that `gkctl status` shows or by its part before the point, the
// seed. Servers of other clusters refuse its calls. GK_CLUSTER does the same. Without it, the first answer binds the
// Client.
func WithCluster(id string) Option {
	return dialOption(func(s *settings) error {
		if seedOf(id) == "" {
			return fmt.Errorf("WithCluster %q: give a cluster id, as `gkctl status` shows it", id)
		}
		s.cluster = id
		return nil
	})
}

func seedOf(id string) string {
	seed, _, _ := strings.Cut(id, ".")
	return seed
}

// incarnationOf is the life of the cluster that an id names; 0 when it names the seed alone.
func incarnationOf(id string) uint64 {
	_, life, _ := strings.Cut(id, ".")
	n, _ := strconv.ParseUint(life, 16, 64) // 0 for what cannot be read
	return n
}

// binding is the cluster that a Client is bound to.
type binding struct {
	to    atomic.Pointer[boundTo] // nil: none yet
	wrong atomic.Pointer[WrongClusterError]

	check   chan struct{} // holds a token during a check of all endpoints: one at a time
	checked atomic.Bool
}

// boundTo is immutable.
type boundTo struct {
	id string
	by string // the endpoint whose answer bound the Client; empty for WithCluster
}

func newBinding(id string) *binding {
	b := &binding{check: make(chan struct{}, 1)}
	if id != "" {
		b.to.Store(&boundTo{id: id})
	}
	return b
}

// meant adds the cluster that is meant to a call's headers.
func (b *binding) meant(ctx context.Context) context.Context {
	if to := b.to.Load(); to != nil {
		return metadata.AppendToOutgoingContext(ctx, clusterHeader, to.id)
	}
	return ctx
}

// saw takes in the cluster that a server belongs to. It binds the Client if nothing did before, and follows a recovered
// cluster to its next life, but never back.
func (b *binding) saw(endpoint, id string) error {
	for id != "" { // else it is not a server of ours
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

// header takes in the header of an answer, and explains the refusal of a server of another cluster.
func (b *binding) header(endpoint string, md metadata.MD, err error) error {
	if err != nil {
		if s, ok := status.FromError(err); ok {
			if i := info(s); i.GetReason() == reasonWrongCluster {
				return b.to.Load().wrong(endpoint, i.GetMetadata()["cluster"]) // only a call that named a cluster is refused so
			}
		}
	}
	if ids := md.Get(clusterHeader); len(ids) > 0 {
		if wrong := b.saw(endpoint, ids[0]); wrong != nil {
			return wrong
		}
	}
	return err
}

// interceptors name the cluster in each call at an address, and check it in each answer.
func (b *binding) interceptors(address string) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			var md metadata.MD
			err := call(b.meant(ctx), method, req, reply, cc, append(slices.Clip(opts), grpc.Header(&md))...)
			return b.header(address, md, err)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			s, err := open(b.meant(ctx), desc, cc, method, opts...)
			if err != nil {
				return nil, b.header(address, nil, err)
			}
			return &boundStream{ClientStream: s, binding: b, address: address}, nil
		}),
	}
}

// boundStream checks the cluster of the server with the first message, and explains a refusal.
type boundStream struct {
	grpc.ClientStream
	binding *binding
	address string
	checked bool // by the one goroutine that receives
}

func (s *boundStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if s.checked && err == nil {
		return nil
	}
	s.checked = true
	md, _ := s.Header() // after a message it is there
	return s.binding.header(s.address, md, err)
}

// oneCluster returns an error when the endpoints belong to more than one cluster. Before the first acquisition or
// change it asks all of them, each for askEach at most; those that do not answer are asked again in the background.
func (c *Client) oneCluster(ctx context.Context) error {
	b := c.router.binding
	if len(c.router.endpoints) > 1 && !b.checked.Load() {
		select {
		case b.check <- struct{}{}:
			c.firstCheck(ctx)
			<-b.check
		case <-ctx.Done(): // the call fails with that
		}
	}
	if wrong := b.wrong.Load(); wrong != nil {
		return wrong
	}
	return nil
}

// firstCheck checks all endpoints unless that was done, and begins to check them in the background. One caller at a
// time.
func (c *Client) firstCheck(ctx context.Context) {
	b := c.router.binding
	if b.checked.Load() {
		return
	}
	c.askClusters(ctx)
	if ctx.Err() != nil {
		return
	}
	b.checked.Store(true)
	c.checks.Go(func() {
		for sleep(c.ctx, askAgain) {
			c.askClusters(c.ctx)
		}
	})
}

// askClusters asks every endpoint for its cluster and notes whether they differ.
func (c *Client) askClusters(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askEach)
	defer cancel()
	var wrong *WrongClusterError
	for _, s := range c.askAll(ctx, new(gatekeeperv1.GetStatusRequest), c.router.addresses()) {
		if e, ok := errors.AsType[*WrongClusterError](s.Err); ok {
			wrong = e
			continue
		}
		c.saw(s.Status.GetRevision())
	}
	c.router.binding.wrong.Store(wrong)
}
