package gatekeeper

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// deafConn hears nothing any more once it was made deaf. What it says still arrives.
type deafConn struct {
	net.Conn
	deaf <-chan struct{}

	closing sync.Once
	closed  chan struct{}
}

func (c *deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.deaf:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *deafConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// The answer to a grant is lost with the stream that was to carry it. Either the same request finds the permit, or it was given back: it
// is not held for nobody.
func TestMultiplex_BreaksBeforeAGrantIsDelivered_TheRequestFindsIt_OrItIsFree(t *testing.T) {
	t.Parallel()
	leader, followers := leaderOf(t, cluster(t, "gk1", "gk2", "gk3"))
	for where, s := range map[string]*Server{"leader": leader, "follower": followers[0]} {
		t.Run(where, func(t *testing.T) {
			name := "job-" + where
			deaf := make(chan struct{})
			broken := callerOf(t, s, grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
					if err != nil {
						return nil, err
					}
					return &deafConn{Conn: conn, deaf: deaf, closed: make(chan struct{})}, nil
				}))
			c := callerOf(t, leader)
			c.create(t, name)
			stream, err := broken.Multiplex(bounded(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.Send(new(gatekeeperv1.MultiplexRequest)); err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
			close(deaf)
			ask := &gatekeeperv1.TryAcquireRequest{Semaphore: name, Identity: &gatekeeperv1.Identity{Acquirer: "app1"}, RequestId: "once"}
			call := &gatekeeperv1.NumberedCall{Number: 1, Call: &gatekeeperv1.NumberedCall_TryAcquire{TryAcquire: ask}}
			if err := stream.Send(&gatekeeperv1.MultiplexRequest{Calls: []*gatekeeperv1.NumberedCall{call}}); err != nil {
				t.Fatal(err)
			}
			var token uint64
			eventually(t, func() bool {
				for p := range leader.machine.State().Holders(name) {
					token = p.Token
				}
				return token != 0
			})
			_ = broken.conn.Close()

			// The client library repeats it so.
			a, err := c.TryAcquire(bounded(t), ask)
			if status.Code(err) == codes.FailedPrecondition { // it has ended: its grant was given back
				c.grant(t, name, "app2")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g := a.GetGrant(); g.GetPermit().GetToken() != token || !g.GetRefreshed() || g.GetWaited().AsDuration() != 0 {
				t.Fatalf("the repeat is answered by %v, want the permit of token %d, refreshed", a, token)
			}
			if d := c.try(t, name, "app2").GetDenial(); d.GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
				t.Errorf("another one: %v", d)
			}
			c.release(t, a.GetGrant().GetPermit())
			c.grant(t, name, "app2")
		})
	}
}
