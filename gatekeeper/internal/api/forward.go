package api

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// HopHeader carries the id of the member that forwarded a call. It is frozen.
const HopHeader = "gatekeeper-hop"

// HopToHeader carries the intended leader's name, which is unique among all servers. The leader's address may since
// have been reassigned to another server, and a different cluster's leader would grant permits that it does not manage.
// It is frozen.
const HopToHeader = "gatekeeper-hop-to"

// ClusterHeader carries the id of a cluster. Each response and stream carries the id of the server's cluster. A call
// may specify the intended cluster by id or seed. A server in another cluster, or in an earlier incarnation of the
// specified one, refuses the call. It is frozen.
const ClusterHeader = "gatekeeper-cluster"

// Settings for keepalive and dialing on connections to the leader. Pings must be at least minClientPingInterval apart.
const (
	hopPingInterval = 10 * time.Second
	hopPingTimeout  = 3 * time.Second
	hopDialTimeout  = 2 * time.Second
	hopMaxBackoff   = time.Second
	// maxHopMessage bounds the leader's responses. Pages end at pageBytes, and no other response has more than 10,000
	// elements.
	maxHopMessage = 64 << 20
)

// errLeadershipChanged is returned for calls forwarded to a leader whose leadership has ended.
var errLeadershipChanged = errors.New("leadership changed after the call was forwarded")

// forwarder forwards calls to the leader over one connection per term.
type forwarder struct {
	id         string
	cluster    string        // of this member
	leaderWait time.Duration // Config.LeaderWait
	consensus  Consensus
	metrics    Metrics
	creds      credentials.TransportCredentials // for hops
	dial       []grpc.DialOption                // in addition to the options that every hop uses
	methods    map[string]*method
	// authorizeCall refuses a call executed on this server if the caller has no role for the method.
	authorizeCall func(ctx context.Context, fullMethod string) error
	// auditCall writes the outcome of a call executed on this server to the audit log.
	auditCall func(ctx context.Context, fullMethod string, req, reply any, err error)
	// whileAuthorized returns a context that is cancelled when the caller loses its role for the method. Only the
	// leader checks a forwarded stream, because this server's bindings may be stale.
	whileAuthorized func(ctx context.Context, fullMethod string) (context.Context, func())

	mu      sync.Mutex // guards hop, members and closed
	hop     *hop
	members map[string]*hop // connections to members by id, for calls that each member answers itself
	closed  bool
}

// hop is a connection to a leader or to another member. In the latter case leader holds that member's id, address and
// name.
type hop struct {
	leader consensus.Leader
	conn   *grpc.ClientConn
	done   context.Context //nolint:containedctx // ends with the leadership, as far as this server knows
	cancel context.CancelFunc
}

func newForwarder(cfg *Config, creds credentials.TransportCredentials, methods map[string]*method) *forwarder {
	f := &forwarder{
		id: cfg.ID, cluster: cfg.Consensus.ClusterID().String(), leaderWait: cfg.LeaderWait, consensus: cfg.Consensus, metrics: cfg.Metrics,
		creds: creds, methods: methods, members: make(map[string]*hop),
	}
	f.auditCall = func(context.Context, string, any, any, error) {}
	if cfg.Dial != nil {
		f.dial = append(f.dial, grpc.WithContextDialer(cfg.Dial))
	}
	return f
}

// unary executes the call locally or forwards it.
func (f *forwarder) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := f.checkDestination(ctx); err != nil {
		return nil, err
	}
	m := f.methods[info.FullMethod]
	for wait := (leaderWait{forwarder: f}); ; {
		if m == nil || m.servedLocally(req) || f.isLeader() {
			err := f.authorizeCall(ctx, info.FullMethod)
			var reply any
			if err == nil {
				reply, err = handler(ctx, req)
			}
			f.auditCall(ctx, info.FullMethod, req, reply, err)
			return reply, err
		}
		if c := callerIn(ctx); m.direct && c != nil && c.member {
			err := notMember()
			f.auditCall(ctx, info.FullMethod, req, nil, err)
			return nil, err
		}
		reply, err := f.forwardUnary(ctx, info.FullMethod, req)
		if err == nil {
			return reply, nil
		}
		if !wait.retry(ctx, m, err) {
			return nil, err
		}
	}
}

// forwardUnary forwards a unary call to the leader.
func (f *forwarder) forwardUnary(ctx context.Context, fullMethod string, req any) (proto.Message, error) {
	h, err := f.hopToLeader(ctx)
	if err != nil {
		return nil, err
	}
	f.metrics.Forwarded(fullMethod)
	out, cancel := h.outgoing(ctx, f.id)
	defer cancel()
	var reached peer.Peer
	m := f.methods[fullMethod]
	reply := m.newReply()
	if err := h.conn.Invoke(out, fullMethod, req, reply, grpc.Peer(&reached)); err != nil {
		err = f.explain(ctx, h, m, &reached, err)
		if m.inferReply != nil && errors.Is(err, errLeadershipChanged) {
			if reply := m.inferReply(req, h.leader, f.consensus.Leader()); reply != nil {
				return reply, nil
			}
		}
		return nil, err
	}
	return reply, nil
}

// stream serves the stream locally or forwards it.
func (f *forwarder) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := ss.Context()
	if err := f.checkDestination(ctx); err != nil {
		return err
	}
	m := f.methods[info.FullMethod]
	serveLocally := func() (err error) {
		defer func() { f.auditCall(ctx, info.FullMethod, nil, nil, err) }()
		if err = f.authorizeCall(ctx, info.FullMethod); err != nil {
			return err
		}
		ctx, done := f.whileAuthorized(ctx, info.FullMethod)
		defer done()
		return cancellationError(ctx, handler(srv, &contextStream{ss, ctx}))
	}
	for wait := (leaderWait{forwarder: f}); ; {
		if m == nil || m.servedLocally(nil) || f.isLeader() {
			return serveLocally()
		}
		h, err := f.hopToLeader(ctx)
		if err != nil && m.leaderFirst {
			return serveLocally()
		}
		if err == nil {
			var opened bool
			if opened, err = f.forwardStream(ss, h, info.FullMethod); opened {
				return err
			}
		}
		if !wait.retry(ctx, m, err) {
			return err
		}
	}
}

// forwardStream forwards a stream to the leader until it ends. opened is false if the stream to the leader could not be
// opened. In that case, nothing has been read from ss.
func (f *forwarder) forwardStream(ss grpc.ServerStream, h *hop, fullMethod string) (opened bool, err error) {
	ctx, m := ss.Context(), f.methods[fullMethod]
	f.metrics.Forwarded(fullMethod)
	out, cancel := h.outgoing(ctx, f.id)
	defer cancel()
	var reached peer.Peer
	leader, err := h.conn.NewStream(out, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, fullMethod, grpc.Peer(&reached))
	if err != nil {
		return false, f.explain(ctx, h, m, &reached, err)
	}
	clientErr, leaderErr := relay(ss, leader, m, cancel)
	ss.SetTrailer(leader.Trailer())
	switch {
	case clientErr != nil:
		return true, clientErr
	case leaderErr != nil:
		return true, f.explain(ctx, h, m, &reached, leaderErr)
	}
	return true, nil
}

// contextStream is a stream with a different context.
type contextStream struct {
	grpc.ServerStream
	ctx context.Context //nolint:containedctx // a stream returns its context
}

func (s *contextStream) Context() context.Context { return s.ctx }

// relay copies messages in both directions until the stream ends. It returns the error of the side that ended it. A
// goroutine forwards the client's messages. It exits when the client's stream ends, right after the caller returns.
func relay(client grpc.ServerStream, leader grpc.ClientStream, m *method, cancel func()) (clientErr, leaderErr error) {
	failed := make(chan error, 1)
	go func() {
		for {
			msg := m.newRequest()
			err := client.RecvMsg(msg)
			switch {
			case errors.Is(err, io.EOF):
				_ = leader.CloseSend() // its error is always nil
				return
			case err != nil: // the client disconnected or sent an invalid message
				failed <- err
				cancel()
				return
			case leader.SendMsg(msg) != nil:
				return // the other direction gets the error
			}
		}
	}()
	for {
		msg := m.newReply()
		if err := leader.RecvMsg(msg); err != nil {
			select {
			case clientErr = <-failed:
				return clientErr, nil
			default:
			}
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return nil, err
		}
		if err := client.SendMsg(msg); err != nil {
			return err, nil
		}
	}
}

// checkDestination refuses a call intended for another cluster or forwarded to the wrong server.
func (f *forwarder) checkDestination(ctx context.Context) error {
	if cluster := metadata.ValueFromIncomingContext(ctx, ClusterHeader); len(cluster) > 0 && !f.belongsTo(cluster[0]) {
		return &wrongClusterError{cluster[0], f.cluster}
	}
	to := metadata.ValueFromIncomingContext(ctx, HopToHeader)
	if len(to) == 0 {
		return nil
	}
	if name := f.consensus.Name(); name != "" && to[0] != name {
		return &misdirectedError{to[0], name}
	}
	return nil
}

// belongsTo reports whether this server belongs to the named cluster, in the same incarnation or a later one.
func (f *forwarder) belongsTo(cluster string) bool {
	if cluster == f.cluster || strings.HasPrefix(f.cluster, cluster+".") {
		return true
	}
	requested, err := consensus.ParseClusterID(cluster)
	return err == nil && f.consensus.ClusterID().Succeeds(requested)
}

// isLeader reports whether this server is the leader, as far as it knows.
func (f *forwarder) isLeader() bool { return f.consensus.Leader().ID == f.id }

// hopToLeader returns the connection to the leader. It fails if this call has already been forwarded once or if the
// leader is unknown.
func (f *forwarder) hopToLeader(ctx context.Context) (*hop, error) {
	leader := f.consensus.Leader()
	if from := metadata.ValueFromIncomingContext(ctx, HopHeader); len(from) > 0 {
		if from[0] == f.id {
			return nil, &hopError{leader}
		}
		return nil, &consensus.NotLeaderError{Leader: leader}
	}
	if leader.ID == "" {
		return nil, &consensus.NotLeaderError{}
	}
	if leader.APIAddress == "" {
		return nil, &unreachableError{leader, errors.New("its API address is not known yet")}
	}
	return f.open(leader)
}

// open returns the connection to a leader. If the current connection's term is newer, it returns that connection
// instead.
func (f *forwarder) open(leader consensus.Leader) (*hop, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, ErrShuttingDown
	case f.hop != nil && (f.hop.leader == leader || f.hop.leader.Term > leader.Term):
		return f.hop, nil
	}
	h, err := f.connect(leader)
	if err != nil {
		return nil, err
	}
	f.drop()
	f.hop = h
	return h, nil
}

// toMember returns the connection to a member, leader or not. It is kept until the member's address or name changes.
func (f *forwarder) toMember(m consensus.Member) (*hop, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := consensus.Leader{ID: m.ID, APIAddress: m.APIAddress, Name: m.Name}
	old := f.members[m.ID]
	switch {
	case f.closed:
		return nil, ErrShuttingDown
	case old != nil && old.leader == to:
		return old, nil
	}
	h, err := f.connect(to)
	if err != nil {
		return nil, err
	}
	old.close()
	f.members[m.ID] = h
	return h, nil
}

// connect creates a connection to a server.
func (f *forwarder) connect(leader consensus.Leader) (*hop, error) {
	// passthrough: the name is resolved again at each dial.
	conn, err := grpc.NewClient("passthrough:///"+leader.APIAddress, append(slices.Clip(f.dial),
		grpc.WithTransportCredentials(f.creds),
		grpc.WithDisableRetry(), // the caller retries; a retry by the hop might repeat a change
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxHopMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: hopPingInterval, Timeout: hopPingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: hopMaxBackoff},
			MinConnectTimeout: hopDialTimeout,
		}),
	)...)
	if err != nil {
		return nil, &unreachableError{leader, err}
	}
	h := &hop{leader: leader, conn: conn}
	h.done, h.cancel = context.WithCancel(context.Background())
	return h, nil
}

// follow closes the connection to the leader when a new leader or term becomes known. If no leader is known, it leaves
// the connection open, because the old leader may still be leading and only this server may have lost contact.
func (f *forwarder) follow(leader consensus.Leader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if leader.ID != "" && f.hop != nil && f.hop.leader != leader && f.hop.leader.Term <= leader.Term {
		f.drop()
	}
}

// drop closes the connection to the leader. The caller must hold mu.
func (f *forwarder) drop() {
	f.hop.close()
	f.hop = nil
}

// close cancels pending calls and closes the connection. It does nothing on a nil hop.
func (h *hop) close() {
	if h == nil {
		return
	}
	h.cancel()
	_ = h.conn.Close() // fails only if it is already closed
}

func (f *forwarder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.drop()
	for _, h := range f.members {
		h.close()
	}
}

// outgoing returns the context for a forwarded call. It carries the caller's deadline and headers plus the hop headers,
// and is cancelled when the leadership ends.
func (h *hop) outgoing(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	md := metadata.MD{}
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		for key, values := range in {
			if forwardsHeader(key) {
				md[key] = values
			}
		}
	}
	callerIn(ctx).setHeaders(md)
	md.Set(HopHeader, id)
	md.Delete(HopToHeader)
	if h.leader.Name != "" {
		md.Set(HopToHeader, h.leader.Name)
	}
	out, cancel := context.WithCancel(metadata.NewOutgoingContext(ctx, md))
	stop := context.AfterFunc(h.done, cancel)
	return out, func() { stop(); cancel() }
}

// forwardsHeader reports whether a header is forwarded. Transport headers are not: each hop sets its own.
func forwardsHeader(key string) bool {
	switch key {
	case "content-type", "user-agent", "te", "host", "connection", certificateHeader:
		return false
	}
	return !strings.HasPrefix(key, ":") && !strings.HasPrefix(key, "grpc-")
}

// explain returns the error for a failed forwarded call. An error from the leader is returned unchanged. For a
// connection error, the result depends on whether the call was sent over a connection. If it was not, the leader cannot
// have executed it.
func (f *forwarder) explain(ctx context.Context, h *hop, m *method, reached *peer.Peer, err error) error {
	s := status.Convert(err)
	switch {
	case reasonOf(s) != "":
		return err
	case ctx.Err() != nil && (m.changesNothing || !errors.Is(context.Cause(ctx), ErrShuttingDown)):
		return ctx.Err()
	case ctx.Err() != nil:
		return &brokenHopError{h.leader, ErrShuttingDown} // the leader may already have answered
	case reached.Addr == nil:
		return &unreachableError{h.leader, errors.New(s.Message())}
	case h.done.Err() != nil && m.changesNothing:
		return &consensus.NotLeaderError{Leader: f.consensus.Leader()}
	case h.done.Err() != nil:
		return &brokenHopError{h.leader, errLeadershipChanged}
	case s.Code() != codes.Unavailable:
		return err
	case m.changesNothing:
		return &unreachableError{h.leader, errors.New(s.Message())}
	}
	return &brokenHopError{h.leader, errors.New(s.Message())}
}
