// Package ports finds loopback ports that stay free between the time they are chosen and the time a server listens on
// them.
package ports

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// The kernel allocates ports for listeners on port 0 and for outgoing connections from 32768 up (ip_local_port_range),
// so it never allocates any of these. Each process starts at a different port and wraps around.
const (
	first  = 10_000
	last   = 32_000
	stride = 200 // distance between the first ports of two processes with consecutive ids
)

var next atomic.Int64 //nolint:gochecknoglobals // ports are shared by the whole process

func init() { next.Store(int64(os.Getpid()) * stride) }

// Listen returns a listener on a loopback port that only this process uses.
func Listen() (net.Listener, error) {
	for range last - first {
		port := first + int(next.Add(1)%(last-first))
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no loopback port between %d and %d is free", first, last)
}

// Free returns n loopback addresses (host:port) with no listener.
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
