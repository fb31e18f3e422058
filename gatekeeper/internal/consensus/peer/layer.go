package peer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// Config configures a Layer.
type Config struct {
	Cluster    string // the cluster id, the same on all members
	ID         string // this member's id
	APIAddress string // sent to peers
	DataDir    string // the number generated when this member's data directory was created
	// Advertise is the address at which peers reach Listener.
	Advertise string
	Listener  net.Listener
	// Dial connects to an address. Default: TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	TLS  certs.Files
	// Timeout limits one handshake, TLS included. Default 2 s.
	Timeout time.Duration
	// MaxPendingHandshakes is the maximum number of pending handshakes. Default 128.
	MaxPendingHandshakes int
	Logger               *slog.Logger
	// Level is the newest feature level that this member supports, sent to peers.
	Level uint32
	// WallClock returns the time that this member reports to peers. Default: time.Now.
	WallClock func() time.Time
	// HeldID is set while this member does not belong to a cluster yet. It returns the id that the member has already
	// stored, or "". While it is set, all hello handshakes are refused.
	HeldID func() string
	// AnswerNote answers a member that is starting for the first time. An error refuses that member and is sent as the
	// reason. By default, the answer states that this member belongs to Cluster. It is not called for notes from this
	// member itself, or for notes addressed to another member.
	AnswerNote func(Note) (Note, error)
	// CheckPeer is called with the statement of a peer of this cluster. An error refuses the peer.
	CheckPeer func(Statement) error
	// Succeeds reports whether the cluster id later belongs to a later incarnation of the cluster with the id earlier.
	// By default it returns false.
	Succeeds func(later, earlier string) bool
	// OnSuccessor is called with the peer's reason when a later incarnation of this cluster is running, so this server
	// must stop. It is called only for answers from members that this side has dialed.
	OnSuccessor func(reason string)
	// OnClaim is called when an incoming peer claims to belong to a later incarnation of this cluster. Anyone can claim
	// that, so the members must be dialed.
	OnClaim func()
	// OnReject, if set, is called for each accepted connection that was closed without a completed handshake.
	OnReject func()
}

// Statement is what a peer of this cluster reports about itself.
type Statement struct {
	ID, APIAddress string
	DataDir        string // the number generated when its data directory was created
	Level          uint32 // the newest feature level that it supports
	// Verified means that this side dialed the member at its address in the cluster's configuration, or that the peer
	// presented a certificate issued by the cluster's authority. Otherwise, anyone who knows the cluster's id may have
	// made the statement.
	Verified bool
	// Ahead is how far the peer's wall clock is ahead of this member's. It is nil unless this side dialed the peer and
	// the peer reported its clock.
	Ahead *time.Duration
}

// Layer is a raft.StreamLayer whose connections have completed the handshake. Dial takes addresses in the format that
// Target returns.
type Layer struct {
	cfg      Config
	ready    chan net.Conn
	ctx      context.Context // ends when the layer is closed
	cancel   context.CancelFunc
	accepter sync.WaitGroup
	pending  *pendingHandshakes
	tls      *tlsfiles.Latest // for Config.TLS

	mu         sync.Mutex // guards conns and lastLogged
	conns      map[*conn]struct{}
	lastLogged map[string]time.Time // by peer or host, when a warning was last logged
}

var _ raft.StreamLayer = (*Layer)(nil)

// New returns a Layer that accepts connections on cfg.Listener.
func New(cfg Config) *Layer {
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Second
	}
	if cfg.MaxPendingHandshakes == 0 {
		cfg.MaxPendingHandshakes = 128
	}
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "tcp", address)
		}
	}
	if cfg.WallClock == nil {
		cfg.WallClock = time.Now
	}
	if cfg.Succeeds == nil {
		cfg.Succeeds = func(string, string) bool { return false }
	}
	if cfg.OnSuccessor == nil {
		cfg.OnSuccessor = func(string) {}
	}
	if cfg.OnClaim == nil {
		cfg.OnClaim = func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Layer{
		cfg:        cfg,
		ready:      make(chan net.Conn),
		ctx:        ctx,
		cancel:     cancel,
		pending:    newPendingHandshakes(cfg.MaxPendingHandshakes),
		tls:        tlsfiles.NewUnread(cfg.TLS.Peer),
		conns:      make(map[*conn]struct{}),
		lastLogged: make(map[string]time.Time),
	}
	l.accepter.Go(l.accept)
	return l
}

// Target returns the address of a member for Dial. Raft's transport passes only addresses, but the dialer must also
// know which member it expects.
func Target(id raft.ServerID, address raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(id) + "|" + address
}

// Accept returns the next connection that has completed the handshake.
func (l *Layer) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Dial connects to a member, performs the handshake, and makes sure that the expected member answers. Names are
// resolved on every call.
func (l *Layer) Dial(target raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	id, address, ok := strings.Cut(string(target), "|")
	if !ok {
		return nil, fmt.Errorf("peer: dial %q: the member id is missing", target)
	}
	ctx, cancel := context.WithTimeout(l.ctx, min(timeout, l.cfg.Timeout))
	defer cancel()
	c, err := l.connect(ctx, id, address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	if err := l.introduce(c, id, address, deadline); err != nil {
		c.Close()
		l.warnRateLimited(id, "cannot connect to a peer", "peer", id, "address", address, "error", err)
		return nil, fmt.Errorf("peer: dial %s at %s: %w", id, address, err)
	}
	return c, nil
}

func (l *Layer) connect(ctx context.Context, id, address string) (*conn, error) {
	raw, err := l.cfg.Dial(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("peer: dial %s: %w", id, err)
	}
	return l.track(raw)
}

// Close stops accepting and closes every connection, including those held by Raft's transport, which would leave the
// accepted ones open.
func (l *Layer) Close() error {
	l.cancel()
	err := l.cfg.Listener.Close()
	l.mu.Lock()
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	for c := range conns {
		c.raw.Close()
	}
	l.accepter.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Addr returns the advertised address.
func (l *Layer) Addr() net.Addr { return advertised(l.cfg.Advertise) }

type advertised string

func (a advertised) Network() string { return "tcp" }
func (a advertised) String() string  { return string(a) }

// conn is a connection that its layer's Close also closes.
type conn struct {
	net.Conn          // raw, or TLS over it; changed only by the handshake goroutine
	raw      net.Conn // the connection that other goroutines close
	layer    *Layer
}

func (c *conn) Close() error {
	c.layer.mu.Lock()
	delete(c.layer.conns, c)
	c.layer.mu.Unlock()
	return c.Conn.Close()
}

func (l *Layer) track(raw net.Conn) (*conn, error) {
	c := &conn{Conn: raw, raw: raw, layer: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	l.conns[c] = struct{}{}
	return c, nil
}

// maxWarned limits the number of peers and other hosts about which warnings are logged within a minute.
const maxWarned = 128

// warnRateLimited logs a warning about a peer or another host at most once a minute, because Raft retries many times
// per second.
func (l *Layer) warnRateLimited(key, msg string, args ...any) {
	now := time.Now()
	l.mu.Lock()
	last, seen := l.lastLogged[key]
	suppress := seen && now.Sub(last) < time.Minute
	if !suppress {
		for who, when := range l.lastLogged { // forget old warnings
			if now.Sub(when) >= time.Minute {
				delete(l.lastLogged, who)
			}
		}
		if suppress = len(l.lastLogged) >= maxWarned; !suppress {
			l.lastLogged[key] = now
		}
	}
	l.mu.Unlock()
	if suppress {
		l.cfg.Logger.Debug(msg, args...)
		return
	}
	l.cfg.Logger.Warn(msg, args...)
}
