package gktest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// within bounds what the test asks of the server, on the test's time. It is long because machines that test are busy.
const within = 30 * time.Second

// Where the server says it is, on virtual time.
const (
	virtualAPI  = "gktest:7420"
	virtualPeer = "gktest:7421"
)

// Server is a Gatekeeper server for tests. Its methods may be called from any goroutine; those that take a testing.TB
// end the test when they fail, so they are called on the test's own.
type Server struct {
	memory  *gatekeeper.Memory
	log     *slog.Logger
	virtual bool
	tcp     net.Listener // nil on virtual time
	outside *link        // of clients that dial Endpoint
	ops     *client.Client
	opsLink *link // no switch acts on it
	running sync.WaitGroup

	changing sync.Mutex // held while the server starts or stops

	mu     sync.Mutex // guards what follows
	server *gatekeeper.Server
	door   *door // where connections come in; nil while the server is stopped
	links  map[*client.Client]*link
	closed bool
}

// Start starts a server for the time of a test, with definitions of those names that say nothing else; see Define for
// others. In a bubble of testing/synctest it runs on virtual time.
func Start(t testing.TB, names ...string) *Server {
	t.Helper()
	s, err := open(logTo(t, slog.LevelError), names)
	if err != nil {
		t.Fatalf("gktest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("gktest: %v", err)
		}
	})
	return s
}

// NewServer starts a server on loopback, without a test: for examples, and for TestMain. It panics when it cannot.
// Close ends it.
func NewServer(names ...string) *Server {
	s, err := open(slog.New(slog.DiscardHandler), names)
	if err != nil {
		panic(fmt.Sprintf("gktest: %v", err))
	}
	return s
}

// Close ends the server. One of Start is closed with its test.
func (s *Server) Close() {
	if err := s.end(); err != nil {
		panic(fmt.Sprintf("gktest: %v", err))
	}
}

// Endpoint is where clients that the server does not know reach it, on loopback. It stays the same over Restart. On
// virtual time there is none, and it panics: goroutines that wait for a socket stop the bubble's clock.
func (s *Server) Endpoint() string {
	if s.virtual {
		panic("gktest: on virtual time a server has no endpoint: use Dial")
	}
	return s.tcp.Addr().String()
}

func open(log *slog.Logger, names []string) (*Server, error) {
	s := &Server{memory: gatekeeper.NewMemory(), log: log, virtual: inBubble(), links: make(map[*client.Client]*link)}
	s.outside, s.opsLink = newLink(s.enter), newLink(s.enter)
	if err := s.open(names); err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

func (s *Server) open(names []string) (err error) {
	if !s.virtual {
		if s.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return err
		}
		s.running.Go(s.accept)
	}
	if err := s.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	s.ops, err = client.Dial(ctx, endpoints(), s.opsLink.options("ops@gktest", s.log)...)
	if err != nil {
		return err
	}
	definitions := make([]*gatekeeperv1.Definition, len(names))
	for i, name := range names {
		definitions[i] = &gatekeeperv1.Definition{Name: name}
	}
	_, err = s.ops.Declare(ctx, definitions...)
	return err
}

// inBubble says whether the caller runs in a bubble of testing/synctest, which nothing else shows.
func inBubble() (yes bool) {
	defer func() { yes = recover() == nil }()
	synctest.Wait()
	return true
}

// start opens the server on what it has in memory.
func (s *Server) start() error {
	api, peers := newDoor(virtualAPI), newDoor(virtualPeer) // no peer ever comes
	advertise := virtualAPI
	if s.tcp != nil {
		advertise = s.tcp.Addr().String()
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var profile gatekeeper.Profile // leads at once
	if s.virtual {
		profile = gatekeeper.ProfileDefault // an hour has fewer heartbeats to live through
	}
	server, err := gatekeeper.Open(ctx, gatekeeper.Config{
		Memory:    s.memory,
		Listeners: gatekeeper.Listeners{API: api, Peer: peers}, AdvertiseAPI: advertise, AdvertisePeer: virtualPeer,
		Profile: profile, Logger: s.log,
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.server, s.door = server, api
	s.mu.Unlock()
	return server.Ready(ctx)
}

// stop ends the server as a crash would, as far as its clients can see: it notifies none of them.
func (s *Server) stop() error {
	s.mu.Lock()
	server, links := s.server, s.allLinks()
	s.server, s.door = nil, nil
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	for _, l := range links {
		l.serverGone()
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return server.Close(ctx)
}

// end ends everything; the second time nothing.
func (s *Server) end() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	links, again := s.allLinks(), s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	if s.ops != nil {
		_ = s.ops.Close() // it has no errors
	}
	err := s.stop()
	if s.tcp != nil {
		err = errors.Join(err, s.tcp.Close())
	}
	s.running.Wait() // before the links: it makes connections through one of them
	for _, l := range links {
		l.kill()
	}
	return err
}

// allLinks are the links to break when the server is gone. The caller holds mu.
func (s *Server) allLinks() []*link {
	return slices.AppendSeq([]*link{s.outside, s.opsLink}, maps.Values(s.links))
}

// enter is how a connection comes to the server.
func (s *Server) enter(c net.Conn) error {
	s.mu.Lock()
	d := s.door
	s.mu.Unlock()
	if d == nil {
		return errStopped
	}
	return d.enter(c)
}

// accept carries connections of TCP to the server, which is behind the same port however often it was restarted.
func (s *Server) accept() {
	for {
		conn, err := s.tcp.Accept()
		if err != nil {
			return
		}
		if s.outside.join(conn) != nil {
			_ = conn.Close() // nobody listens: the client sees its connection end
		}
	}
}
