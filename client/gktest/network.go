package gktest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Partition cuts off the given clients, or all clients if none are given. Calls and streams hang, connections do not
// break, and new ones cannot be opened. Data sent in the meantime is held back and arrives after Heal. It may have no
// effect if its sender has closed the connection by then, as a client does after a few seconds without a response.
func (s *Server) Partition(t testing.TB, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksFor(t, clients) {
		l.partition()
	}
}

// Heal ends a Partition. Data that was held back arrives.
func (s *Server) Heal(t testing.TB, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksFor(t, clients) {
		l.heal()
	}
}

// SlowDown delays all data from the server to the given clients, or to all clients if none are given, by d. A d of 0
// removes the delay, including for data in transit. Data from clients is not delayed, so a d longer than every timeout
// simulates a network that works in one direction only.
func (s *Server) SlowDown(t testing.TB, d time.Duration, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksFor(t, clients) {
		l.slowDown(d)
	}
}

// Disconnect breaks the connections of the given clients, or of all clients if none are given. Both sides see it
// immediately, responses in transit are lost, and clients can reconnect.
func (s *Server) Disconnect(t testing.TB, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksFor(t, clients) {
		l.disconnect()
	}
}

// Crash kills a client as if its process had died: its connections break, and it stops sending. Its permits are not
// released, so they become free only when they expire. Goroutines cannot be killed; jobs see their context cancelled
// with client.ErrClosed.
func (s *Server) Crash(t testing.TB, c *client.Client) {
	t.Helper()
	for _, l := range s.linksFor(t, []*client.Client{c}) {
		l.kill()
	}
	_ = c.Close() // it returns no errors
}

func (s *Server) linksFor(t testing.TB, clients []*client.Client) []*link {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(clients) == 0 {
		return slices.AppendSeq([]*link{s.endpointLink}, maps.Values(s.links))
	}
	links := make([]*link, 0, len(clients))
	for _, c := range clients {
		l := s.links[c]
		if l == nil {
			t.Fatal("gktest: this client was not created by Dial on this server")
		}
		links = append(links, l)
	}
	return links
}

// Stop stops the server, which is the only member and therefore the leader, as a crash would: connections break without
// notice, and new ones are refused until Restart. The server keeps everything it has acknowledged.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.stop(); err != nil {
		t.Fatalf("gktest: stop: %v", err)
	}
}

// Restart starts the server again with its data. It calls Stop first if necessary, and returns once the server is the
// leader. Like every new leader, the server renews every permit for its full duration.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.stop(); err != nil {
		t.Fatalf("gktest: restart: %v", err)
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		t.Fatal("gktest: restart: the server is closed")
	}
	if err := s.start(); err != nil {
		t.Fatalf("gktest: restart: %v", err)
	}
}
