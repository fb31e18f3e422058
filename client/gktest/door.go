package gktest

import (
	"errors"
	"net"
	"sync"
)

var errStopped = errors.New("connection refused: the test has stopped the server")

// door is a net.Listener for in-memory connections.
type door struct {
	address string
	conns   chan net.Conn
	shut    chan struct{}
	once    sync.Once
}

func newDoor(address string) *door {
	return &door{address: address, conns: make(chan net.Conn), shut: make(chan struct{})}
}

// enter passes a connection to Accept. It returns an error if the door is closed.
func (d *door) enter(c net.Conn) error {
	select {
	case d.conns <- c:
		return nil
	case <-d.shut:
		return errStopped
	}
}

// Accept returns the next connection.
func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.shut:
		return nil, net.ErrClosed
	}
}

// Close prevents further connections.
func (d *door) Close() error {
	d.once.Do(func() { close(d.shut) })
	return nil
}

// Addr returns the address that the server advertises.
func (d *door) Addr() net.Addr { return address(d.address) }

type address string

func (a address) Network() string { return "memory" }
func (a address) String() string  { return string(a) }
