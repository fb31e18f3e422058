package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// network is an in-memory network in virtual time. As on a real network, an interruption does not break connections:
// data sent in the meantime arrives when the network recovers, unless the sender has given up by then.
type network struct {
	mu          sync.Mutex // guards the fields below, and every host and conn
	listeners   map[string]*memListener
	closedLinks map[link]int           // number of faults that keep a link closed
	extraDelay  map[link]time.Duration // delay that a fault adds to a link
	loss        map[link]float64       // fraction of packets that must be retransmitted
	conns       map[*conn]struct{}
	rng         *rand.Rand
	changed     chan struct{} // closed and replaced when a link opens, a host dies or a listener closes
}

// link is one direction between two machines.
type link struct{ from, to string }

// host is one incarnation of a machine. After a crash, the machine gets a new host.
type host struct {
	machine string
	dead    bool
	paused  int // number of faults that keep it from sending and receiving
}

const (
	// latency is the latency of every link.
	latency = time.Millisecond
	// retransmitDelay is the delay before a lost packet is retransmitted.
	retransmitDelay = 200 * time.Millisecond
)

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset by peer")
	errDown    = errors.New("this machine is down")
)

func newNetwork(rng *rand.Rand) *network {
	return &network{
		listeners: make(map[string]*memListener), closedLinks: make(map[link]int), extraDelay: make(map[link]time.Duration), loss: make(map[link]float64),
		conns: make(map[*conn]struct{}), rng: rng, changed: make(chan struct{}),
	}
}

// wakeAll wakes all goroutines waiting for the network to change. The caller must hold mu.
func (n *network) wakeAll() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// isOpen reports whether a link currently carries data. The caller must hold mu.
func (n *network) isOpen(from, to *host) bool {
	return from.paused == 0 && to.paused == 0 && n.closedLinks[link{from.machine, to.machine}] == 0
}

// nextDelay returns the delay of the next packet on a link. The caller must hold mu.
func (n *network) nextDelay(w link) time.Duration {
	d := latency + n.extraDelay[w]
	for p := n.loss[w]; p > 0 && n.rng.Float64() < p; {
		d += retransmitDelay
	}
	return d
}

// cut closes links until the returned function is called.
func (n *network) cut(links []link) (heal func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range links {
		n.closedLinks[w]++
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, w := range links {
			n.closedLinks[w]--
		}
		n.wakeAll()
	}
}

// degrade makes links slow or lossy until the returned function is called.
func (n *network) degrade(links []link, extraDelay time.Duration, loss float64) (heal func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range links {
		n.extraDelay[w], n.loss[w] = extraDelay, loss
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, w := range links {
			delete(n.extraDelay, w)
			delete(n.loss, w)
		}
	}
}

// pause keeps a host from sending and receiving until the returned function is called.
func (n *network) pause(h *host) (resume func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h.paused++
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		h.paused--
		n.wakeAll()
	}
}

// kill shuts down a host. If notifyPeers is set, its connections break for its peers too, as when a process dies.
// Otherwise its peers do not notice, as when a machine loses power.
func (n *network) kill(h *host, notifyPeers bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h.dead = true
	for c := range n.conns {
		switch {
		case c.host == h:
			c.abort()
		case c.peer.host == h && notifyPeers:
			c.abort()
		}
	}
	n.wakeAll()
}

// reset breaks the connections between two machines. Both sides notice.
func (n *network) reset(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		if c.host.machine == a && c.peer.host.machine == b || c.host.machine == b && c.peer.host.machine == a {
			c.abort()
		}
	}
}

// dial connects h to an address. It blocks while a link is closed, as if waiting for a response.
func (n *network) dial(ctx context.Context, h *host, address string) (net.Conn, error) {
	trip := time.NewTimer(2 * latency)
	defer trip.Stop()
	select {
	case <-trip.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		n.mu.Lock()
		if h.dead {
			n.mu.Unlock()
			return nil, errDown
		}
		d, changed := n.listeners[address], n.changed
		if d == nil {
			n.mu.Unlock()
			return nil, errRefused
		}
		if n.isOpen(h, d.host) && n.isOpen(d.host, h) {
			local, remote := n.join(h, d.host, address)
			n.mu.Unlock()
			select {
			case d.conns <- remote:
				return local, nil
			case <-d.done:
				_ = local.Close()
				return nil, errRefused
			case <-ctx.Done():
				_ = local.Close()
				return nil, ctx.Err()
			}
		}
		n.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join creates both ends of a connection. The caller must hold mu.
func (n *network) join(from, to *host, address string) (local, remote *conn) {
	local = &conn{net: n, host: from, remote: addr(address), wake: make(chan struct{}, 1)}
	remote = &conn{net: n, host: to, remote: addr(from.machine), wake: make(chan struct{}, 1)}
	local.peer, remote.peer = remote, local
	n.conns[local], n.conns[remote] = struct{}{}, struct{}{}
	return local, remote
}

// listen opens a listener on h.
func (n *network) listen(h *host, address string) *memListener {
	d := &memListener{net: n, host: h, address: address, conns: make(chan net.Conn), done: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[address] = d
	return d
}

// memListener is a net.Listener.
type memListener struct {
	net     *network
	host    *host
	address string
	conns   chan net.Conn
	done    chan struct{}
	once    sync.Once
}

func (d *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}

func (d *memListener) Close() error {
	d.once.Do(func() {
		close(d.done)
		d.net.mu.Lock()
		defer d.net.mu.Unlock()
		if d.net.listeners[d.address] == d {
			delete(d.net.listeners, d.address)
		}
		d.net.wakeAll()
	})
	return nil
}

func (d *memListener) Addr() net.Addr { return addr(d.address) }

type addr string

func (n addr) Network() string { return "memory" }
func (n addr) String() string  { return string(n) }
