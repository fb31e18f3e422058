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
	cfg         Config
	log         *slog.Logger
	listeners   Listeners
	machine     *fsm.Machine
	node        *consensus.Node
	batcher     *batcher.Batcher
	keeper      *keeper.Keeper
	leaderTasks *leaderTasks
	jwts        *oidc.Verifier // nil if JWTs are not accepted
	api         *api.API
	grpc        *grpc.Server
	web         *web         // nil if off
	admin       *http.Server // nil if off

	// closers lists the functions that close the components, in opening order.
	closers []func(context.Context) error
	running sync.WaitGroup // goroutines started by this package
	stop    chan struct{}  // closed when those goroutines must stop

	closing  sync.Once
	closeErr error // set within closing

	mu   sync.Mutex // guards err and the closing of done
	err  error
	done chan struct{}
}

func (s *Server) member() member { return member{s.node, s.leaderTasks} }

// Ready waits until this server leads and has declared its Definitions, or follows a leader. It returns an error if ctx
// ends first, and ErrClosed, joined with any fault, if the server stops.
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

// Done returns a channel that is closed when the server has stopped, after Close or a fault. Close must be called in
// either case.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns the fault that stopped the server. It is nil while the server is running and after a normal Close.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// closeDone closes Done. Only the first call has an effect.
func (s *Server) closeDone(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
	default:
		s.err = err
		close(s.done)
	}
}

// fail stops serving after a fault, since this server must not continue. It drains clients immediately and closes Done,
// which notifies the embedding program.
func (s *Server) fail(err error) {
	s.log.Error("stopping after a fault", slog.Any("error", err))
	s.api.Drain()
	s.closeDone(err)
}

// APIAddress returns the address on which the API listens, with the actual port.
func (s *Server) APIAddress() string { return address(s.listeners.API) }

// PeerAddress returns the address on which the server listens for other members, with the actual port.
func (s *Server) PeerAddress() string { return address(s.listeners.Peer) }

// HTTPAddress returns the address of the dashboard and the JSON API, with the actual port. It is empty if they are off.
func (s *Server) HTTPAddress() string { return address(s.listeners.HTTP) }

// AdminAddress returns the address that serves metrics, health checks and profiles, with the actual port. It is empty
// if they are off.
func (s *Server) AdminAddress() string { return address(s.listeners.Admin) }

// ClusterID returns the id of this server's cluster, "seed.incarnation" in hexadecimal.
func (s *Server) ClusterID() string { return s.node.ClusterID().String() }
