package gktest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Partition cuts clients off, all when none is given: calls and streams hang, connections do not break, and new ones
// are not made. What is sent meanwhile is kept back and arrives after Heal, unless its sender has given the connection
// up by then, as a client does after some seconds without an answer.
func (s *Server) Partition(t testing.TB, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksOf(t, clients) {
		l.partition()
	}
}

// Heal ends a Partition. What was kept back arrives now.
func (s *Server) Heal(t testing.TB, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksOf(t, clients) {
		l.heal()
	}
}

// SlowDown makes everything that the server says to clients, all when none is given, arrive d late from now on; 0 makes
// them fast again, and what is on its way arrives. What clients say arrives at once: so a d longer than any patience is
// a network that carries only one way.
func (s *Server) SlowDown(t testing.TB, d time.Duration, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksOf(t, clients) {
		l.slowDown(d)
	}
}

// Disconnect breaks the connections of clients, of all when none is given. Both sides see it at once, answers that were
// under way are lost, and clients may connect again.
func (s *Server) Disconnect(t testing.TB, clients ...*client.Client) {
	t.Helper()
	for _, l := range s.linksOf(t, clients) {
		l.disconnect()
	}
}

// Crash ends a client as the death of its process does: its connections break, nothing is said any more, and its
// permits are not released, so that others get them when they expire. Goroutines cannot be killed: jobs see their
// context end with client.ErrClosed.
func (s *Server) Crash(t testing.TB, c *client.Client) {
	t.Helper()
	for _, l := range s.linksOf(t, []*client.Client{c}) {
		l.kill()
	}
	_ = c.Close() // it has no errors
}

func (s *Server) linksOf(t testing.TB, clients []*client.Client) []*link {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(clients) == 0 {
		return slices.AppendSeq([]*link{s.outside}, maps.Values(s.links))
	}
	links := make([]*link, 0, len(clients))
	for _, c := range clients {
		l := s.links[c]
		if l == nil {
			t.Fatal("gktest: this client was not made by Dial of this server")
		}
		links = append(links, l)
	}
	return links
}

// Stop ends the server, the only one and so the leader, as a crash does: connections break without a word, and new ones
// are refused until Restart. What it had answered is kept.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.changing.Lock()
	defer s.changing.Unlock()
	if err := s.stop(); err != nil {
		t.Fatalf("gktest: stop: %v", err)
	}
}

// Restart starts the server again on what it had, after a Stop if there was none, and returns when it leads: as any new
// leader it gives every permit its full duration again.
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
