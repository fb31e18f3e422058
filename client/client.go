package client

import (
	"context"
	"sync"
	"sync/atomic"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Client is a connection to a cluster. Its methods may be called from any goroutine.
type Client struct {
	settings *settings
	router   *router
	renewer  *renewer
	// loggedDenials is shared by the Client's Runners.
	loggedDenials loggedDenials
	// seen is the newest cluster revision in any response. It is 0 before the first response.
	seen atomic.Uint64
	// submitting counts the submissions waiting because no server is responding.
	submitting atomic.Int64

	// ctx is cancelled by Close, which stops all background work.
	ctx        context.Context //nolint:containedctx // the lifetime of the Client
	cancel     context.CancelFunc
	background sync.WaitGroup
	checks     sync.WaitGroup // background cluster checks; they stop when ctx ends

	mu     sync.Mutex // guards closed
	closed bool
}

// Dial returns a Client for the cluster at endpoints. Specify all its members, or the address of a load balancer, as
// host:port; the port is optional. Without endpoints, Dial uses those in GK_ENDPOINTS, or DefaultEndpoint. Dial does
// not connect yet, so it returns only errors about its arguments and environment. Connection problems, such as a
// rejected certificate, are reported by later calls.
//
// Before the first acquisition or change, the Client asks the endpoints which cluster they belong to; see
// WrongClusterError.
//
// Close the Client when it is no longer needed.
func Dial(ctx context.Context, endpoints []string, opts ...Option) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := newSettings(endpoints, opts)
	if err != nil {
		return nil, err
	}
	c := &Client{settings: s, router: newRouter(s)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.renewer = newRenewer(c)
	return c, nil
}

// Close ends every permit that is still held, with ErrClosed, and returns when all of the Client's goroutines have
// stopped. It does not release the permits, because their jobs may still be running; they expire on the servers.
// Release permits before you call Close.
func (c *Client) Close() error {
	c.renewer.close()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.background.Wait() // cancellations being sent; each has a timeout
	c.cancel()
	c.checks.Wait()
	c.router.close()
	return nil
}

// inBackground runs f in a goroutine that Close waits for, unless the Client is closed. It reports whether f was
// started.
func (c *Client) inBackground(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.background.Go(f)
	}
	return !c.closed
}

// Permits returns the API's PermitService, with retries as described in the package comment. It is meant for tools; to
// hold a permit, use Semaphore. Its methods return this package's errors.
func (c *Client) Permits() gatekeeperv1.PermitServiceClient {
	return gatekeeperv1.NewPermitServiceClient(caller{c})
}

// Definitions returns the API's DefinitionService, with retries as described in the package comment. An edit whose
// outcome is unknown is retried only if it carries a request id; see NewRequestID.
func (c *Client) Definitions() gatekeeperv1.DefinitionServiceClient {
	return gatekeeperv1.NewDefinitionServiceClient(caller{c})
}

// Operator returns the API's OperatorService: the journal, undo, firings, known and denied callers, and the calls made
// by Move, Pause, Resume, Cordon, Uncordon and Preview. A change whose outcome is unknown is retried only if it carries
// a request id; see NewRequestID.
func (c *Client) Operator() gatekeeperv1.OperatorServiceClient {
	return gatekeeperv1.NewOperatorServiceClient(caller{c})
}

// Auth returns the API's AuthService: the caller's identity and permissions, and the bindings and bearer tokens of all
// callers. Servers without authentication have no bindings and allow every call. A change whose outcome is unknown is
// not retried: ListBindings shows whether it was made.
func (c *Client) Auth() gatekeeperv1.AuthServiceClient {
	return gatekeeperv1.NewAuthServiceClient(caller{c})
}

// Cluster returns the API's ClusterService. GetStatus is answered by whichever member the call reaches; see Members.
func (c *Client) Cluster() gatekeeperv1.ClusterServiceClient {
	return gatekeeperv1.NewClusterServiceClient(caller{c})
}
