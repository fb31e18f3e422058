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
	// unrunnable is for the Runners of the Client.
	unrunnable unrunnable
	// seen is the newest revision of the cluster in any answer; 0: none yet.
	seen atomic.Uint64
	// submitting counts the submissions that wait because no server answers.
	submitting atomic.Int64

	// ctx ends with Close, and with it whatever runs in the background.
	ctx        context.Context //nolint:containedctx // the client's own life
	cancel     context.CancelFunc
	background sync.WaitGroup
	checks     sync.WaitGroup // of the endpoints' clusters; end with ctx

	mu     sync.Mutex // guards closed
	closed bool
}

// Dial returns a Client of the cluster at endpoints: all its members, or one address of a load balancer, as host:port;
// the port may be left out. No endpoints mean those of GK_ENDPOINTS, or DefaultEndpoint. Connections are made when they
// are needed, so an error is one of the options, or of ctx; what hinders a connection, as a certificate, is an error of
// the calls.
//
// Before the first acquisition or change, the endpoints are asked which cluster they belong to; see WrongClusterError.
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

// Close ends the belief in every permit that is still held, with ErrClosed, and returns when nothing of the Client runs
// any more. It releases none of them, since their jobs may still run: they expire at the servers. Release permits
// before.
func (c *Client) Close() error {
	c.renewer.close()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.background.Wait() // last words, each bounded
	c.cancel()
	c.checks.Wait()
	c.router.close()
	return nil
}

// inBackground runs f unless the Client is closed, and reports whether it does. Close waits for it.
func (c *Client) inBackground(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.background.Go(f)
	}
	return !c.closed
}

// Permits is the API's PermitService, with calls repeated as the package comment says. Semaphore is the way to hold a
// permit; this is for tools. Its errors are those of this package.
func (c *Client) Permits() gatekeeperv1.PermitServiceClient {
	return gatekeeperv1.NewPermitServiceClient(caller{c})
}

// Definitions is the API's DefinitionService, with calls repeated as the package comment says. An edit is repeated
// after an unknown outcome only if it carries a request id; see NewRequestID.
func (c *Client) Definitions() gatekeeperv1.DefinitionServiceClient {
	return gatekeeperv1.NewDefinitionServiceClient(caller{c})
}

// Operator is the API's OperatorService: the journal, undo, firings, known and denied callers, and the calls that Move,
// Pause, Resume, Cordon, Uncordon and Preview make. A change is repeated after an unknown outcome only if it carries a
// request id; see NewRequestID.
func (c *Client) Operator() gatekeeperv1.OperatorServiceClient {
	return gatekeeperv1.NewOperatorServiceClient(caller{c})
}

// Auth is the API's AuthService: who the caller is, what it may do, and the bindings and bearer tokens of all callers.
// Servers that authenticate nobody have no bindings, and let everybody do everything. A change is not repeated after an
// unknown outcome: ListBindings shows whether it was made.
func (c *Client) Auth() gatekeeperv1.AuthServiceClient {
	return gatekeeperv1.NewAuthServiceClient(caller{c})
}

// Cluster is the API's ClusterService. GetStatus is answered by whichever member is reached; see Members.
func (c *Client) Cluster() gatekeeperv1.ClusterServiceClient {
	return gatekeeperv1.NewClusterServiceClient(caller{c})
}
