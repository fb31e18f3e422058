package gktest

import (
	"errors"
	"net"
	"sync"
)

var errStopped = errors.New("connection refused: the test has stopped the server")

// memListener is a net.Listener for in-memory connections.
type memListener struct {
	address string
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newMemListener(address string) *memListener {
	return &memListener{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// connect passes a connection to Accept. It returns an error if the listener is closed.
func (d *memListener) connect(c net.Conn) error {
	select {
	case d.conns <- c:
		return nil
	case <-d.closed:
		return errStopped
	}
}

// Accept returns the next connection.
func (d *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close prevents further connections.
func (d *memListener) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

// Addr returns the address that the server advertises.
func (d *memListener) Addr() net.Addr { return address(d.address) }

type address string

func (a address) Network() string { return "memory" }
func (a address) String() string  { return string(a) }
