package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// network connects hosts in memory, in the bubble's time. As on a real network, an interruption goes unnoticed: data
// sent in the meantime arrives when the network recovers, unless its sender has given up by then.
type network struct {
	mu          sync.Mutex // guards the fields below, and every host and conn
	doors       map[string]*door
	closedLinks map[link]int           // number of faults that keep a link closed
	slow        map[link]time.Duration // delay that a fault adds to a link
	loss        map[link]float64       // fraction of packets that must be retransmitted
	conns       map[*conn]struct{}
	luck        *rand.Rand
	changed     chan struct{} // closed and replaced whenever a link opens
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
	// again is the delay before a lost packet is retransmitted.
	again = 200 * time.Millisecond
)

var (
	errRefused = errors.New("connection refused")
	errReset   = errors.New("connection reset by peer")
	errDown    = errors.New("this machine is down")
)

func newNetwork(luck *rand.Rand) *network {
	return &network{
		doors: make(map[string]*door), closedLinks: make(map[link]int), slow: make(map[link]time.Duration), loss: make(map[link]float64),
		conns: make(map[*conn]struct{}), luck: luck, changed: make(chan struct{}),
	}
}

// stir wakes all goroutines waiting for a link to open. The caller must hold mu.
func (n *network) stir() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// open reports whether a link currently carries data. The caller must hold mu.
func (n *network) open(from, to *host) bool {
	return from.paused == 0 && to.paused == 0 && n.closedLinks[link{from.machine, to.machine}] == 0
}

// takes returns the time that the next packet on a link takes. The caller must hold mu.
func (n *network) takes(w link) time.Duration {
	d := latency + n.slow[w]
	for p := n.loss[w]; p > 0 && n.luck.Float64() < p; {
		d += again
	}
	return d
}

// cut closes links until the returned function is called.
func (n *network) cut(ways []link) (heal func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range ways {
		n.closedLinks[w]++
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, w := range ways {
			n.closedLinks[w]--
		}
		n.stir()
	}
}

// worsen makes links slow or lossy until the returned function is called.
func (n *network) worsen(ways []link, slow time.Duration, loss float64) (heal func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range ways {
		n.slow[w], n.loss[w] = slow, loss
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, w := range ways {
			delete(n.slow, w)
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
		n.stir()
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
			c.break_()
		case c.peer.host == h && notifyPeers:
			c.break_()
		}
	}
	n.stir()
}

// reset breaks the connections between two machines. Both sides notice.
func (n *network) reset(a, b string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		if c.host.machine == a && c.peer.host.machine == b || c.host.machine == b && c.peer.host.machine == a {
			c.break_()
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
		d, changed := n.doors[address], n.changed
		if d == nil {
			n.mu.Unlock()
			return nil, errRefused
		}
		if n.open(h, d.host) && n.open(d.host, h) {
			local, remote := n.join(h, d.host, address)
			n.mu.Unlock()
			select {
			case d.conns <- remote:
				return local, nil
			case <-d.shut:
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
	local = &conn{net: n, host: from, remote: name(address), wake: make(chan struct{}, 1)}
	remote = &conn{net: n, host: to, remote: name(from.machine), wake: make(chan struct{}, 1)}
	local.peer, remote.peer = remote, local
	n.conns[local], n.conns[remote] = struct{}{}, struct{}{}
	return local, remote
}

// listen opens a listener on h.
func (n *network) listen(h *host, address string) *door {
	d := &door{net: n, host: h, address: address, conns: make(chan net.Conn), shut: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.doors[address] = d
	return d
}

// door is a net.Listener.
type door struct {
	net     *network
	host    *host
	address string
	conns   chan net.Conn
	shut    chan struct{}
	once    sync.Once
}

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.shut:
		return nil, net.ErrClosed
	}
}

func (d *door) Close() error {
	d.once.Do(func() {
		close(d.shut)
		d.net.mu.Lock()
		defer d.net.mu.Unlock()
		if d.net.doors[d.address] == d {
			delete(d.net.doors, d.address)
		}
		d.net.stir()
	})
	return nil
}

func (d *door) Addr() net.Addr { return name(d.address) }

type name string

func (n name) Network() string { return "memory" }
func (n name) String() string  { return string(n) }
