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

// Config is what a Layer needs.
type Config struct {
	Cluster    string // the cluster id, equal on all members
	ID         string // this member's id
	APIAddress string // what to tell peers
	Folder     string // drawn when this member's data folder was made
	// Advertise is the address by which peers reach Listener.
	Advertise string
	Listener  net.Listener
	// Dial makes a connection to an address. Default: TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	TLS  certs.Files
	// Timeout bounds one introduction, TLS included. Default 2 s.
	Timeout time.Duration
	// MaxIntroductions is how many connections may be in their introduction. Default 128.
	MaxIntroductions int
	Logger           *slog.Logger
	// Level is the newest feature level that this member supports, sent to peers.
	Level uint32
	// WallClock shows the time that this member states to peers. Default: time.Now.
	WallClock func() time.Time
	// Held is set while this member has no cluster yet. It returns the id that the member has stored so far, or "".
	// Peers are refused.
	Held func() string
	// Asked answers a member that starts for the first time; an error refuses it, and is the reason that it gets.
	// Default: this member is of Cluster.
	// Notes of this member itself, and for another one, do not get here.
	Asked func(Note) (Note, error)
	// Meet gets what a peer of this cluster stated; an error refuses it.
	Meet func(Statement) error
	// Succeeds reports whether a cluster id is of a later life of the cluster that had the other one. Default: none is.
	Succeeds func(later, earlier string) bool
	// Succeeded is called, with what was said, when a later life of this cluster runs: this server must not continue.
	// Only the answer of a member that this side dialed gets here.
	Succeeded func(reason string)
	// Claimed is called when somebody who connected claims to be of a later life of this cluster. Anybody can claim
	// that: the members must be asked.
	Claimed func()
	// Rejected, when set, is called for each accepted connection that was closed without having been introduced.
	Rejected func()
}

// Statement is what a peer of this cluster states of itself.
type Statement struct {
	ID, APIAddress string
	Folder         string // drawn when its data folder was made
	Level          uint32 // the newest feature level that it supports
	// Proved: this side dialed the member, at the address where the cluster knows it, or the peer showed a certificate
	// of the cluster's authority. Else anybody who knows the cluster's id may have stated it.
	Proved bool
	// Ahead is how far its wall clock is ahead of this member's, when this side dialed it and it said so; else nil.
	Ahead *time.Duration
}

// Layer is a raft.StreamLayer whose connections are introduced. Its addresses are those that Target makes.
type Layer struct {
	cfg      Config
	ready    chan net.Conn
	open     context.Context // ends when the layer is closed
	close    context.CancelFunc
	accepter sync.WaitGroup
	waiting  *introductions
	tls      *tlsfiles.Latest // for Config.TLS

	mu         sync.Mutex // guards conns and lastLogged
	conns      map[*conn]struct{}
	lastLogged map[string]time.Time // when a line was last logged about a peer
}

var _ raft.StreamLayer = (*Layer)(nil)

// New starts accepting on cfg.Listener.
func New(cfg Config) *Layer {
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Second
	}
	if cfg.MaxIntroductions == 0 {
		cfg.MaxIntroductions = 128
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
	if cfg.Succeeded == nil {
		cfg.Succeeded = func(string) {}
	}
	if cfg.Claimed == nil {
		cfg.Claimed = func() {}
	}
	open, cancel := context.WithCancel(context.Background())
	l := &Layer{
		cfg:        cfg,
		ready:      make(chan net.Conn),
		open:       open,
		close:      cancel,
		waiting:    newIntroductions(cfg.MaxIntroductions),
		tls:        tlsfiles.Unread(cfg.TLS.Peer),
		conns:      make(map[*conn]struct{}),
		lastLogged: make(map[string]time.Time),
	}
	l.accepter.Go(l.accept)
	return l
}

// Target is the address of a member for Dial: Raft's transport passes addresses only, but the dialer must know whom it
// means.
func Target(id raft.ServerID, address raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(id) + "|" + address
}

// Accept returns the next connection that was introduced.
func (l *Layer) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case <-l.open.Done():
		return nil, net.ErrClosed
	}
}

// Dial connects to a member, introduces this one, and makes sure that it is that member which answers. Names are
// resolved at each call.
func (l *Layer) Dial(target raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	id, address, ok := strings.Cut(string(target), "|")
	if !ok {
		return nil, fmt.Errorf("peer: dial %q: the member id is missing", target)
	}
	ctx, cancel := context.WithTimeout(l.open, min(timeout, l.cfg.Timeout))
	defer cancel()
	c, err := l.connect(ctx, id, address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	if err := l.introduce(c, id, address, deadline); err != nil {
		c.Close()
		l.tell(id, "cannot talk to a peer", "peer", id, "address", address, "error", err)
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

// Close stops accepting and closes every connection, those that Raft's transport holds too: it would leave the accepted
// ones open.
func (l *Layer) Close() error {
	l.close()
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

// Addr is the advertised address.
func (l *Layer) Addr() net.Addr { return advertised(l.cfg.Advertise) }

type advertised string

func (a advertised) Network() string { return "tcp" }
func (a advertised) String() string  { return string(a) }

// conn is a connection that Close of its layer closes too.
type conn struct {
	net.Conn          // raw, or TLS over it; changed only by the goroutine that introduces the connection
	raw      net.Conn // what others close
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

// maxTold bounds about how many peers, and hosts of strangers, a line is logged within a minute.
const maxTold = 128

// tell logs about a peer, or the host of a stranger, at most once a minute: Raft tries again many times a second.
func (l *Layer) tell(about, msg string, args ...any) {
	now := time.Now()
	l.mu.Lock()
	last, seen := l.lastLogged[about]
	silent := seen && now.Sub(last) < time.Minute
	if !silent {
		for who, when := range l.lastLogged { // forget strangers
			if now.Sub(when) >= time.Minute {
				delete(l.lastLogged, who)
			}
		}
		if silent = len(l.lastLogged) >= maxTold; !silent {
			l.lastLogged[about] = now
		}
	}
	l.mu.Unlock()
	if silent {
		l.cfg.Logger.Debug(msg, args...)
		return
	}
	l.cfg.Logger.Warn(msg, args...)
}
