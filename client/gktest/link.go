package gktest

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// link is the network between one client and the server. It relays every connection so that it can hold data back. As
// on a real network, neither side notices. Data and connection closures arrive once the link is healed.
type link struct {
	connect func(net.Conn) error // passes the server its end of a connection

	mu      sync.Mutex // guards everything below
	healed  chan struct{}
	delay   time.Duration // for data from the server
	changed chan struct{} // closed when delay changes
	wires   map[*wire]struct{}
	dead    bool
	running sync.WaitGroup
}

// wire is one connection.
type wire struct {
	client, server net.Conn // the link's ends of the pipes to the two sides
	gone           chan struct{}
	once           sync.Once
}

// chunk holds the data of one read. A chunk without data marks the end of the connection.
type chunk struct {
	data      []byte
	sent, due time.Time
}

const (
	chunkSize = 32 << 10
	// window is the maximum number of chunks in transit in one direction. When it is reached, the sender blocks, as it
	// would with a slow peer.
	window = 256
)

var errDead = errors.New("no route to host: the test has stopped this client")

func newLink(connect func(net.Conn) error) *link {
	l := &link{connect: connect, healed: make(chan struct{}), changed: make(chan struct{}), wires: make(map[*wire]struct{})}
	close(l.healed)
	return l
}

// dial opens a connection to the server. While the link is partitioned, it blocks, as if there were no response.
func (l *link) dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	delay := l.delay
	l.mu.Unlock()
	if err := l.pass(ctx.Done(), time.Now().Add(delay)); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	ours, client := net.Pipe()
	if err := l.join(ours); err != nil {
		return nil, err
	}
	return client, nil
}

// join connects client, the link's end of a connection, to the server.
func (l *link) join(client net.Conn) error {
	ours, server := net.Pipe()
	w := &wire{client: client, server: ours, gone: make(chan struct{})}
	l.mu.Lock()
	if l.dead {
		l.mu.Unlock()
		return errDead
	}
	l.wires[w] = struct{}{}
	l.running.Add(1)
	l.mu.Unlock()
	go l.relay(w)
	if err := l.connect(server); err != nil {
		w.cut()
		return err
	}
	return nil
}

// relay relays both directions of a connection until both are closed.
func (l *link) relay(w *wire) {
	defer l.running.Done()
	var directions sync.WaitGroup
	directions.Go(func() { l.relayOneWay(w, w.client, w.server, func() time.Duration { return 0 }) })
	directions.Go(func() { l.relayOneWay(w, w.server, w.client, l.currentDelay) })
	directions.Wait()
	w.cut()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wires, w)
}

// relayOneWay relays data from one end to the other, with the delay in force when the data is sent.
func (l *link) relayOneWay(w *wire, from, to net.Conn, currentDelay func() time.Duration) {
	sent := make(chan chunk, window)
	var reading sync.WaitGroup
	reading.Go(func() { w.read(from, sent, currentDelay) })
	defer reading.Wait()
	for c := range sent {
		if l.arrive(w.gone, c, currentDelay) != nil || l.pass(w.gone, time.Time{}) != nil {
			continue // the connection is broken: nothing more arrives
		}
		if c.data == nil {
			_ = to.Close() // it may already be closed
		} else {
			_, _ = to.Write(c.data) // fails if the other end is closed; the other direction relays the closure
		}
	}
}

// read reads data from the sender so that the sender does not block.
func (w *wire) read(from net.Conn, sent chan<- chunk, currentDelay func() time.Duration) {
	defer close(sent)
	put := func(data []byte) (ok bool) {
		now := time.Now()
		select {
		case sent <- chunk{data, now, now.Add(currentDelay())}:
			return true
		case <-w.gone:
			return false
		}
	}
	for {
		buf := make([]byte, chunkSize)
		n, err := from.Read(buf)
		if n > 0 && !put(buf[:n]) {
			return
		}
		if err != nil {
			put(nil)
			return
		}
	}
}

var errGone = errors.New("gone")

// arrive waits until a chunk is due. If the delay is reduced in the meantime, the shorter delay applies.
func (l *link) arrive(gone <-chan struct{}, c chunk, currentDelay func() time.Duration) error {
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		due := c.due
		if now := c.sent.Add(currentDelay()); now.Before(due) {
			due = now
		}
		wait := time.Until(due)
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-gone:
			timer.Stop()
			return errGone
		}
		timer.Stop()
	}
}

// pass waits until due, and then until the link is no longer partitioned. It returns an error once gone is closed or
// the link is dead.
func (l *link) pass(gone <-chan struct{}, due time.Time) error {
	if wait := time.Until(due); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-gone:
			return errGone
		}
	}
	for {
		l.mu.Lock()
		healed, dead := l.healed, l.dead
		l.mu.Unlock()
		if dead {
			return errDead
		}
		select {
		case <-gone:
			return errGone
		default:
		}
		select {
		case <-healed:
			l.mu.Lock()
			open := l.healed == healed
			l.mu.Unlock()
			if open {
				return nil
			}
		case <-gone:
			return errGone
		}
	}
}

// cut breaks the connection at both ends.
func (w *wire) cut() {
	w.once.Do(func() {
		close(w.gone)
		_ = w.client.Close() // both may already be closed
		_ = w.server.Close()
	})
}

func (l *link) currentDelay() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.delay
}

func (l *link) slowDown(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *link) partition() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.healed:
		if !l.dead {
			l.healed = make(chan struct{})
		}
	default: // already partitioned
	}
}

func (l *link) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.healed:
	default:
		close(l.healed)
	}
}

// disconnect breaks every connection.
func (l *link) disconnect() {
	for _, w := range l.openWires() {
		w.cut()
	}
}

// closeServerEnds closes the server's ends. The clients notice once all data sent earlier has arrived.
func (l *link) closeServerEnds() {
	for _, w := range l.openWires() {
		_ = w.server.Close() // it may already be closed
	}
}

func (l *link) openWires() []*wire {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.wires))
}

// kill breaks every connection and prevents new ones. It returns once all of the link's goroutines have exited.
func (l *link) kill() {
	l.mu.Lock()
	l.dead = true
	l.mu.Unlock()
	l.heal() // unblocks dials
	l.disconnect()
	l.running.Wait()
}
