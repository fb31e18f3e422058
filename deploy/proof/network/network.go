// Package network puts proxies in front of servers, so that what goes between them can be held up, slowed down and
// broken, in each direction separately. It needs no privileges.
package network

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Link is one direction between two ends.
type Link struct{ From, To string }

// State is how a link is. The zero State is a good one.
type State struct {
	// Down: nothing gets through. What was sent meanwhile arrives when the link is up again, unless its connection was
	// given up: as TCP does it.
	Down bool
	// Delay is added to everything, and up to Jitter more.
	Delay, Jitter time.Duration
	// Loss is the part of what is sent, 0 to 1, that has to be sent again, which takes Resend.
	Loss float64
	// Rate is how many bytes get through in a second, and what is too much is lost; 0 is as many as there are. Proxies
	// know no such links.
	Rate int
}

// Resend is how long TCP takes to notice that something was lost.
const Resend = 200 * time.Millisecond

// Network is a set of proxies and the states of the links between their ends. It may be used from many goroutines.
type Network struct {
	done chan struct{} // closed by Close
	wg   sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	links   map[Link]State
	leads   map[string]string // an end whose address leads to another target
	changed chan struct{}     // closed when a link has changed
	random  *rand.Rand
	closers map[io.Closer]Link // listeners and connections; of a connection, who dialed whom
	closed  bool
}

// New returns a network in which every link is good. The seed decides what is late and lost.
func New(seed uint64) *Network {
	return &Network{
		done:    make(chan struct{}),
		links:   map[Link]State{},
		leads:   map[string]string{},
		changed: make(chan struct{}),
		random:  rand.New(rand.NewPCG(seed, 0)),
		closers: map[io.Closer]Link{},
	}
}

// Can says whether links can be in this state here.
func (n *Network) Can(s State) bool { return s.Rate == 0 }

// Set sets a link's state.
func (n *Network) Set(l Link, s State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[l] = s
	close(n.changed)
	n.changed = make(chan struct{})
}

// Lead lets the addresses of an end lead to another target from now on, as a name does that was given away; connections
// that there are stay. An empty target is the end's own.
func (n *Network) Lead(to, target string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if target == "" {
		delete(n.leads, to)
		return
	}
	n.leads[to] = target
}

// target is where an end's addresses lead now.
func (n *Network) target(to, own string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if other, ok := n.leads[to]; ok {
		return other
	}
	return own
}

// Heal makes every link good, and every address lead to its own.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.links)
	clear(n.leads)
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

// Close ends all proxies and connections and waits until they have.
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

// keep remembers what Close has to close. It says false when that was over already.
func (n *Network) keep(c io.Closer, l Link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		c.Close()
		return false
	}
	n.closers[c] = l
	return true
}

func (n *Network) forget(c io.Closer) {
	c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.closers, c)
}

// state is the link's state, and what is closed when any has changed.
func (n *Network) state(l Link) (State, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[l], n.changed
}

// late is how much later something arrives on a link in this state.
func (n *Network) late(s State) time.Duration {
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
