package network

import (
	"io"
	"net"
	"time"
)

// Identify determines which endpoint dialed a new connection. It returns the endpoint's name and any bytes it read.
type Identify func(io.Reader) (name string, read []byte, err error)

// Always identifies every connection as dialed by the given endpoint.
func Always(name string) Identify {
	return func(io.Reader) (string, []byte, error) { return name, nil, nil }
}

// Proxy listens on a free loopback address and forwards each connection to target, the address of the endpoint named by
// to. It returns the loopback address. The proxy is closed with the network.
func (n *Network) Proxy(to, target string, identify Identify) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	if !n.register(l, Link{}) {
		return "", net.ErrClosed
	}
	n.wg.Go(func() {
		defer n.unregister(l)
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			n.wg.Go(func() { n.serve(in.(*net.TCPConn), to, target, identify) })
		}
	})
	return l.Addr().String(), nil
}

// serve forwards a connection until either side closes it.
func (n *Network) serve(in *net.TCPConn, to, target string, identify Identify) {
	if !n.register(in, Link{}) {
		return
	}
	defer n.unregister(in)
	from, read, err := identify(in)
	if err != nil {
		return
	}
	link := Link{from, to}
	if !n.register(in, link) {
		return
	}
	if !n.awaitLink(link, time.Now()) {
		return
	}
	conn, err := net.Dial("tcp", n.target(to, target))
	if err != nil {
		_ = in.SetLinger(0) // reset the connection, as an unreachable target would
		return
	}
	out := conn.(*net.TCPConn)
	if !n.register(out, link) {
		return
	}
	defer n.unregister(out)
	if _, err := out.Write(read); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	for _, flow := range []struct {
		from, to *net.TCPConn
		link     Link
	}{{in, out, link}, {out, in, Link{to, from}}} {
		n.wg.Go(func() {
			n.pump(flow.to, flow.from, flow.link)
			ended <- struct{}{}
		})
	}
	<-ended
	in.Close()
	out.Close()
	<-ended
}

// chunk is data in transit.
type chunk struct {
	bytes []byte
	due   time.Time
}

// pump forwards data in order. Each piece is sent when it is due and the link is up.
func (n *Network) pump(to io.Writer, from io.Reader, l Link) {
	flow := make(chan chunk, 64)
	n.wg.Go(func() {
		defer close(flow)
		for {
			buffer := make([]byte, 32<<10)
			count, err := from.Read(buffer)
			if count > 0 {
				s, _ := n.state(l)
				select {
				case flow <- chunk{buffer[:count], time.Now().Add(n.randomDelay(s))}:
				case <-n.done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for p := range flow {
		if !n.awaitLink(l, p.due) {
			break
		}
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	if c, ok := from.(io.Closer); ok {
		c.Close() // unblocks the reader
	}
	for range flow { // discard data in transit
	}
}

// awaitLink waits until the due time is reached and the link is up. It returns false if the network is closed first.
func (n *Network) awaitLink(l Link, due time.Time) bool {
	if wait := time.Until(due); wait > 0 {
		select {
		case <-time.After(wait):
		case <-n.done:
			return false
		}
	}
	for {
		s, changed := n.state(l)
		if !s.Down {
			return true
		}
		select {
		case <-changed:
		case <-n.done:
			return false
		}
	}
}
