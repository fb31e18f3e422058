// Package ports finds loopback ports for tests that close a listener and open another one at the same address.
package ports

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// The kernel draws the ports of listeners at port 0 and of outgoing connections from 32768 up (ip_local_port_range). It never
// draws these, so a test that has closed one gets it back, whatever runs beside it.
const (
	first = 10_000
	last  = 32_000
	each  = 200 // the ports of one process, before it reaches into those of the next
)

var next atomic.Int64

func init() { next.Store(int64(os.Getpid()) * each) }

// Listen returns a listener at a port of its own, which the test closes or hands on.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	for range last - first {
		port := first + int(next.Add(1)%(last-first))
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return l
		}
	}
	t.Fatal("no loopback port is free")
	return nil
}

// Address returns an address that nothing listens at.
func Address(t testing.TB) string {
	t.Helper()
	l := Listen(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}
