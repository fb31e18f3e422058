package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
)

// Server is one member of a cluster. Its methods may be called from any goroutine.
type Server struct {
	cfg       Config
	log       *slog.Logger
	listeners Listeners
	machine   *fsm.Machine
	node      *consensus.Node
	batcher   *batcher.Batcher
	keeper    *keeper.Keeper
	leading   *leading
	jwts      *oidc.Verifier // nil: none are taken
	api       *api.API
	grpc      *grpc.Server
	web       *web         // nil: none
	admin     *http.Server // nil: none

	// opened are what ends each thing that was opened, in the order of opening.
	opened  []func(context.Context) error
	running sync.WaitGroup // goroutines of this package
	stop    chan struct{}  // closed when they are to end

	closing  sync.Once
	closeErr error // written within closing

	mu   sync.Mutex // guards err and the closing of done
	err  error
	done chan struct{}
}

func (s *Server) member() member { return member{s.node, s.leading} }

// Ready waits until this server leads, and has declared its Definitions, or follows a leader. It fails when ctx ends,
// and with ErrClosed or the fault when the server does.
func (s *Server) Ready(ctx context.Context) error {
	const poll = 10 * time.Millisecond
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		err := s.member().Ready()
		if err == nil && s.Err() == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w: %w", context.Cause(ctx), err)
		case <-s.Done():
			return errors.Join(ErrClosed, s.Err())
		case <-ticker.C:
		}
	}
}

// Done is closed when the server has ended: by Close, or after a fault. Close must be called either way.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is the fault that stopped the server; nil while it runs and after a plain Close.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// end closes Done. The first call counts.
func (s *Server) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
	default:
		s.err = err
		close(s.done)
	}
}

// fail is what a fault does: this server must not continue. Clients are sent away immediately; Done notifies the
// embedding program.
func (s *Server) fail(err error) {
	s.log.Error("leaving after a fault", slog.Any("error", err))
	s.api.Drain()
	s.end(err)
}

// APIAddress is where the API listens, with the real port.
func (s *Server) APIAddress() string { return address(s.listeners.API) }

// PeerAddress is where other members are served, with the real port.
func (s *Server) PeerAddress() string { return address(s.listeners.Peer) }

// HTTPAddress is where the dashboard and the JSON API are served, with the real port; empty when they are not.
func (s *Server) HTTPAddress() string { return address(s.listeners.HTTP) }

// AdminAddress is where metrics, health and profiles are served, with the real port; empty when they are not.
func (s *Server) AdminAddress() string { return address(s.listeners.Admin) }

// ClusterID is the id of the cluster to which this server belongs, "seed.incarnation" in hexadecimal.
func (s *Server) ClusterID() string { return s.node.ClusterID().String() }
