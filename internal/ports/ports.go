// Package ports finds loopback ports that stay free between the moment they are found and the moment a server opens
// them.
package ports

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// The kernel draws the ports of listeners at port 0 and of outgoing connections from 32768 up (ip_local_port_range),
// and never draws one of these. Each process begins at a different place and goes round.
const (
	first = 10_000
	last  = 32_000
	each  = 200 // the ports of one process, before it reaches into those of the next
)

var next atomic.Int64 //nolint:gochecknoglobals // ports belong to the process, not to a test

func init() { next.Store(int64(os.Getpid()) * each) }

// Listen returns a listener at a loopback port that only this process knows of.
func Listen() (net.Listener, error) {
	for range last - first {
		port := first + int(next.Add(1)%(last-first))
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no loopback port between %d and %d is free", first, last)
}

// Free returns n loopback addresses, host:port, at which nothing listens.
func Free(n int) ([]string, error) {
	addresses := make([]string, n)
	for i := range addresses {
		l, err := Listen()
		if err != nil {
			return nil, err
		}
		addresses[i] = l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	return addresses, nil
}
