package sim

import (
	"io"
	"net"
	"os"
	"time"
)

// conn is one end of a connection. It uses no goroutines: sent data is queued at the receiver until it is due.
type conn struct {
	net    *network
	host   *host
	remote addr
	wake   chan struct{} // has capacity 1

	// The network's mutex guards the fields below.
	peer     *conn
	in       []packet
	closed   bool // closed by this end
	broken   bool
	deadline time.Time
}

// packet holds the data from one write. A packet without data marks the end of the stream.
type packet struct {
	data []byte
	due  time.Time
}

func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// abort breaks this end of the connection immediately. The caller must hold the network's mutex.
func (c *conn) abort() {
	c.broken, c.in = true, nil
	delete(c.net.conns, c)
	c.signal()
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		n, wait, changed, err := c.tryRead(p)
		if n > 0 || err != nil {
			return n, err
		}
		var due <-chan time.Time
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-c.wake:
		case <-changed:
		case <-due:
		}
	}
}

// tryRead reads data that is due. If no data is due, it returns the maximum time to wait, where 0 means no limit, and a
// channel that is closed when the network changes.
func (c *conn) tryRead(p []byte) (n int, wait time.Duration, changed <-chan struct{}, err error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	now := time.Now()
	switch {
	case c.closed:
		return 0, 0, nil, net.ErrClosed
	case c.broken:
		return 0, 0, nil, errReset
	case !c.deadline.IsZero() && !now.Before(c.deadline):
		return 0, 0, nil, os.ErrDeadlineExceeded
	}
	if !c.deadline.IsZero() {
		wait = c.deadline.Sub(now)
	}
	if len(c.in) == 0 || !c.net.isOpen(c.peer.host, c.host) {
		return 0, wait, c.net.changed, nil
	}
	head := &c.in[0]
	if left := head.due.Sub(now); left > 0 {
		if wait == 0 || left < wait {
			wait = left
		}
		return 0, wait, c.net.changed, nil
	}
	if head.data == nil {
		return 0, 0, nil, io.EOF
	}
	n = copy(p, head.data)
	if head.data = head.data[n:]; len(head.data) == 0 {
		c.in = c.in[1:]
	}
	return n, 0, nil, nil
}

func (c *conn) Write(p []byte) (int, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case c.broken:
		return 0, errReset
	}
	if len(p) > 0 {
		c.send(append([]byte(nil), p...))
	}
	return len(p), nil
}

// send sends a packet. Packets arrive in order. The caller must hold the network's mutex.
func (c *conn) send(data []byte) {
	to := c.peer
	if to.broken || to.closed {
		return
	}
	due := time.Now().Add(c.net.nextDelay(link{c.host.machine, to.host.machine}))
	if n := len(to.in); n > 0 && to.in[n-1].due.After(due) {
		due = to.in[n-1].due
	}
	to.in = append(to.in, packet{data, due})
	to.signal()
}

func (c *conn) Close() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	if !c.broken {
		c.send(nil)
	}
	c.closed, c.in = true, nil
	delete(c.net.conns, c)
	c.signal()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return addr(c.host.machine) }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *conn) SetReadDeadline(t time.Time) error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	c.deadline = t
	c.signal()
	return nil
}

// SetWriteDeadline does nothing, because a write never blocks.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
