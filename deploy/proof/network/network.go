// Package network puts proxies in front of servers. The proxies can delay, interrupt and break connections, in each
// direction separately. They require no privileges.
package network

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Link is one direction of the path between two endpoints.
type Link struct{ From, To string }

// State is the state of a link. The zero State is a working link.
type State struct {
	// Down stops all data. As with TCP, data sent in the meantime arrives when the link is up again, unless the
	// connection was closed.
	Down bool
	// Delay is added to all data, plus a random fraction of Jitter.
	Delay, Jitter time.Duration
	// Loss is the fraction of data, from 0 to 1, that is delayed by Resend, as if it had been lost and resent.
	Loss float64
	// Rate is the bandwidth in bytes per second. Data that exceeds it is dropped. 0 means unlimited. Proxies do not
	// support it.
	Rate int
}

// Resend is how long TCP takes to detect a loss and resend the data.
const Resend = 200 * time.Millisecond

// Network is a set of proxies and the states of the links between their endpoints. It is safe for concurrent use.
type Network struct {
	done chan struct{} // closed by Close
	wg   sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	links     map[Link]State
	redirects map[string]string // targets of the endpoints whose addresses are redirected
	changed   chan struct{}     // closed when any link changes
	random    *rand.Rand
	closers   map[io.Closer]Link // listeners, and connections with the link along which they were dialed
	closed    bool
}

// New returns a network in which every link works. The seed determines jitter and loss.
func New(seed uint64) *Network {
	return &Network{
		done:      make(chan struct{}),
		links:     map[Link]State{},
		redirects: map[string]string{},
		changed:   make(chan struct{}),
		random:    rand.New(rand.NewPCG(seed, 0)),
		closers:   map[io.Closer]Link{},
	}
}

// Can reports whether this network supports a link state.
func (n *Network) Can(s State) bool { return s.Rate == 0 }

// Set sets a link's state.
func (n *Network) Set(l Link, s State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[l] = s
	close(n.changed)
	n.changed = make(chan struct{})
}

// Redirect redirects an endpoint's address to a different target, as if its name had been reassigned. Existing
// connections stay open. An empty target restores the original address.
func (n *Network) Redirect(to, target string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if target == "" {
		delete(n.redirects, to)
		return
	}
	n.redirects[to] = target
}

// target returns the current target of an endpoint's address.
func (n *Network) target(to, original string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if other, ok := n.redirects[to]; ok {
		return other
	}
	return original
}

// Heal restores every link and every address.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.links)
	clear(n.redirects)
	close(n.changed)
	n.changed = make(chan struct{})
}

// Reset breaks every connection that was dialed along the link.
func (n *Network) Reset(l Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c, link := range n.closers {
		if conn, ok := c.(*net.TCPConn); ok && link == l {
			_ = conn.SetLinger(0)
			conn.Close()
		}
	}
}

// Close closes all proxies and connections and waits until they are closed.
func (n *Network) Close() {
	n.mu.Lock()
	n.closed = true
	for c := range n.closers {
		c.Close()
	}
	n.mu.Unlock()
	close(n.done)
	n.wg.Wait()
}

// register adds c to the closers. If the network is already closed, it closes c and returns false.
func (n *Network) register(c io.Closer, l Link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		c.Close()
		return false
	}
	n.closers[c] = l
	return true
}

func (n *Network) unregister(c io.Closer) {
	c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.closers, c)
}

// state returns the link's state and a channel that is closed when any link changes.
func (n *Network) state(l Link) (State, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[l], n.changed
}

// randomDelay returns a random delay for a piece of data on a link in the given state.
func (n *Network) randomDelay(s State) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := s.Delay
	if s.Jitter > 0 {
		d += time.Duration(n.random.Int64N(int64(s.Jitter)))
	}
	if s.Loss > 0 && n.random.Float64() < s.Loss {
		d += Resend
	}
	return d
}
