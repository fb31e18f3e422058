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

// callTimeout bounds each call to the server, in the test's time. It is long because test machines can be busy.
const callTimeout = 30 * time.Second

// The addresses of the in-memory listeners. On real time, the server advertises its TCP address instead of virtualAPI.
const (
	virtualAPI  = "gktest:7420"
	virtualPeer = "gktest:7421"
)

// Server is a Gatekeeper server for tests. It is safe for concurrent use, but methods that take a testing.TB must be
// called from the test's goroutine, because they end the test on failure.
type Server struct {
	memory       *gatekeeper.Memory
	log          *slog.Logger
	virtual      bool
	tcp          net.Listener // nil on virtual time
	endpointLink *link        // shared by the clients that dial Endpoint
	ops          *client.Client
	opsLink      *link // not affected by switches
	running      sync.WaitGroup

	changing sync.Mutex // held while the server starts or stops

	mu       sync.Mutex // guards everything below
	server   *gatekeeper.Server
	listener *memListener // accepts connections; nil while the server is stopped
	links    map[*client.Client]*link
	closed   bool
}

// Start starts a server for the duration of a test. It defines semaphores with the given names and default settings;
// see Define for other settings. In a testing/synctest bubble the server runs on virtual time.
func Start(t testing.TB, names ...string) *Server {
	t.Helper()
	s, err := open(logTo(t, slog.LevelError), names)
	if err != nil {
		t.Fatalf("gktest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.shutdown(); err != nil {
			t.Errorf("gktest: %v", err)
		}
	})
	return s
}

// NewServer starts a server on loopback without a test, for examples and TestMain. It panics if the server does not
// start. Call Close to stop it.
func NewServer(names ...string) *Server {
	s, err := open(slog.New(slog.DiscardHandler), names)
	if err != nil {
		panic(fmt.Sprintf("gktest: %v", err))
	}
	return s
}

// Close stops the server. A server created by Start is closed at the end of its test.
func (s *Server) Close() {
	if err := s.shutdown(); err != nil {
		panic(fmt.Sprintf("gktest: %v", err))
	}
}

// Endpoint returns the loopback address for clients that were not created by Dial. It does not change on Restart.
// Endpoint panics on virtual time, because a goroutine waiting on a socket stops the bubble's clock.
func (s *Server) Endpoint() string {
	if s.virtual {
		panic("gktest: a server on virtual time has no endpoint: use Dial")
	}
	return s.tcp.Addr().String()
}

func open(log *slog.Logger, names []string) (*Server, error) {
	s := &Server{memory: gatekeeper.NewMemory(), log: log, virtual: inBubble(), links: make(map[*client.Client]*link)}
	s.endpointLink, s.opsLink = newLink(s.connect), newLink(s.connect)
	if err := s.open(names); err != nil {
		return nil, errors.Join(err, s.shutdown())
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
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
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

// inBubble reports whether the caller is running in a testing/synctest bubble. Package synctest has no function that
// reports this.
func inBubble() (yes bool) {
	defer func() { yes = recover() == nil }()
	synctest.Wait()
	return true
}

// start opens the server with the data in memory.
func (s *Server) start() error {
	api, peers := newMemListener(virtualAPI), newMemListener(virtualPeer) // no peers connect
	advertise := virtualAPI
	if s.tcp != nil {
		advertise = s.tcp.Addr().String()
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	var profile gatekeeper.Profile // if left empty, the server becomes the leader immediately
	if s.virtual {
		profile = gatekeeper.ProfileDefault // fewer heartbeats per virtual hour
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
	s.server, s.listener = server, api
	s.mu.Unlock()
	return server.Ready(ctx)
}

// stop stops the server. To its clients this looks like a crash, because they are not notified.
func (s *Server) stop() error {
	s.mu.Lock()
	server, links := s.server, s.allLinks()
	s.server, s.listener = nil, nil
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	for _, l := range links {
		l.closeServerEnds()
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return server.Close(ctx)
}

// shutdown stops everything. Further calls do nothing.
func (s *Server) shutdown() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	links, alreadyClosed := s.allLinks(), s.closed
	s.closed = true
	s.mu.Unlock()
	if alreadyClosed {
		return nil
	}
	if s.ops != nil {
		_ = s.ops.Close() // it always returns nil
	}
	err := s.stop()
	if s.tcp != nil {
		err = errors.Join(err, s.tcp.Close())
	}
	s.running.Wait() // before the links are killed, because accept opens connections through one of them
	for _, l := range links {
		l.kill()
	}
	return err
}

// allLinks returns the links to break when the server stops. The caller holds mu.
func (s *Server) allLinks() []*link {
	return slices.AppendSeq([]*link{s.endpointLink, s.opsLink}, maps.Values(s.links))
}

// connect passes a connection to the server.
func (s *Server) connect(c net.Conn) error {
	s.mu.Lock()
	d := s.listener
	s.mu.Unlock()
	if d == nil {
		return errStopped
	}
	return d.connect(c)
}

// accept passes TCP connections to the server. The port stays the same across restarts.
func (s *Server) accept() {
	for {
		conn, err := s.tcp.Accept()
		if err != nil {
			return
		}
		if s.endpointLink.join(conn) != nil {
			_ = conn.Close() // the server is stopped: end the client's connection
		}
	}
}
