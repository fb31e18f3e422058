package network

import (
	"io"
	"net"
	"time"
)

// Who identifies the dialing endpoint of a new connection. It returns the endpoint's name and the bytes it had to read.
type Who func(io.Reader) (name string, read []byte, err error)

// Always identifies every connection as dialed by the given endpoint.
func Always(name string) Who {
	return func(io.Reader) (string, []byte, error) { return name, nil, nil }
}

// Proxy listens on a free loopback address and forwards each connection to target, the address of the endpoint named by
// to. It returns the loopback address. The proxy is closed with the network.
func (n *Network) Proxy(to, target string, who Who) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	if !n.keep(l, Link{}) {
		return "", net.ErrClosed
	}
	n.wg.Go(func() {
		defer n.forget(l)
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			n.wg.Go(func() { n.serve(in.(*net.TCPConn), to, target, who) })
		}
	})
	return l.Addr().String(), nil
}

// serve forwards a connection until either side closes it.
func (n *Network) serve(in *net.TCPConn, to, target string, who Who) {
	if !n.keep(in, Link{}) {
		return
	}
	defer n.forget(in)
	from, read, err := who(in)
	if err != nil {
		return
	}
	link := Link{from, to}
	if !n.keep(in, link) {
		return
	}
	if !n.passable(link, time.Now()) {
		return
	}
	conn, err := net.Dial("tcp", n.target(to, target))
	if err != nil {
		_ = in.SetLinger(0) // reset the connection, as an unreachable target would
		return
	}
	out := conn.(*net.TCPConn)
	if !n.keep(out, link) {
		return
	}
	defer n.forget(out)
	if _, err := out.Write(read); err != nil {
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range []struct {
		from, to *net.TCPConn
		link     Link
	}{{in, out, link}, {out, in, Link{to, from}}} {
		n.wg.Go(func() {
			n.pump(way.to, way.from, way.link)
			ended <- struct{}{}
		})
	}
	<-ended
	in.Close()
	out.Close()
	<-ended
}

// piece is data in transit.
type piece struct {
	bytes []byte
	due   time.Time
}

// pump forwards data in order. Each piece is sent when it is due and the link is up.
func (n *Network) pump(to io.Writer, from io.Reader, l Link) {
	way := make(chan piece, 64)
	n.wg.Go(func() {
		defer close(way)
		for {
			buffer := make([]byte, 32<<10)
			count, err := from.Read(buffer)
			if count > 0 {
				s, _ := n.state(l)
				select {
				case way <- piece{buffer[:count], time.Now().Add(n.late(s))}:
				case <-n.done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for p := range way {
		if !n.passable(l, p.due) {
			break
		}
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	if c, ok := from.(io.Closer); ok {
		c.Close() // unblocks the reader
	}
	for range way { // discard data in transit
	}
}

// passable waits until the due time is reached and the link is up. It returns false if the network is closed first.
func (n *Network) passable(l Link, due time.Time) bool {
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
