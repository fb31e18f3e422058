package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/metrics"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Open starts a server and returns once it is serving. Ready returns once the server can answer calls. An invalid
// configuration is reported as a *ConfigError or a *DefinitionError, before anything is written; this package's
// sentinel errors distinguish the other failures. With Join, Open waits for the cluster until ctx ends. With more than
// one server in Members and a new data directory, Open waits until all of those servers are open or being opened, so a
// process that hosts several of them must open them concurrently. ctx has no effect after Open has returned. If Open
// fails, it closes everything, including Config.Listeners.
func Open(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer func() {
		if err != nil {
			cfg.Listeners.close()
		}
	}()
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	definitions, err := convertDefinitions(cfg.Definitions)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:  cfg,
		log:  cfg.Logger.With(slog.String("id", cfg.ID)),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	if err := s.open(ctx, definitions); err != nil {
		s.closeDone(ErrClosed)
		return nil, errors.Join(err, s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// open opens the components in order, and records how to close each.
func (s *Server) open(ctx context.Context, definitions []*semaphore.Definition) error {
	cfg := &s.cfg
	if err := cfg.checkFiles(); err != nil {
		return err
	}
	credentials, err := cfg.joinCredentials()
	if err != nil {
		return err
	}
	if s.listeners, err = cfg.listen(); err != nil {
		return err
	}
	s.onClose(func(context.Context) error { s.listeners.close(); return nil })
	if err := cfg.requireAuthentication(s.listeners.addresses(), s.log); err != nil {
		return err
	}
	if s.jwts, err = cfg.openOIDC(s.log); err != nil {
		return err
	}
	if s.jwts != nil {
		s.onClose(func(context.Context) error { s.jwts.Close(); return nil })
	}

	peerAddress := advertised(cfg.AdvertisePeer, cfg.PeerAddress, cfg.Listeners.Peer, s.listeners.Peer)
	dataDir, err := cfg.prepareDataDir(ctx, peerAddress, credentials)
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error {
		if s.node != nil { // closing the node closes the directory, unless a hung disk call still needs it
			return nil
		}
		return dataDir.Close()
	})
	if err := s.agree(ctx, dataDir); err != nil {
		return err
	}
	serverMetrics, err := metrics.New(cfg.Registerer)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	s.onClose(func(context.Context) error { serverMetrics.Close(); return nil })

	s.machine = fsm.New(dataDir.ClusterID().String())
	hub := watch.New(0)
	s.machine.Subscribe(hub.Applied) // before consensus applies anything
	s.machine.Subscribe(serverMetrics.Applied)
	if err := s.openConsensus(dataDir, peerAddress, serverMetrics); err != nil {
		return err
	}
	auditLog, err := s.openAudit()
	if err != nil {
		return err
	}
	s.openKeeper(definitions, auditLog, serverMetrics)
	admissionControl, guesses := admission.New(admission.NewLimits(cfg.MaxCalls)), guessing.New(guessing.Config{})
	serverMetrics.Attach(metrics.Sources{
		State:        s.machine.State,
		Leading:      func() bool { return s.node.Role() == consensus.RoleLeader },
		Waiters:      s.keeper.WaiterCount,
		Deadlines:    s.keeper.Leases,
		Watchers:     hub.Watchers,
		Waiting:      s.batcher.Waiting,
		Recovering:   s.keeper.Recovering,
		Missing:      s.keeper.Missing,
		HostClocks:   func() int { return len(s.keeper.HostClocks()) },
		SkewedClocks: func() int { return len(s.leaderTasks.clocks.list()) },
		Admission:    admissionControl,

		Certificates: cfg.expiries,
		Insecure:     cfg.Insecure,
		AuditLost:    auditLog.Lost,
		Blocked:      guesses.Refused,
	})
	if err := s.openAPI(hub, admissionControl, guesses, auditLog, serverMetrics); err != nil {
		return err
	}
	admin, err := s.secureListener(s.listeners.Admin)
	if err != nil {
		return err
	}
	if err := s.openWeb(); err != nil {
		return err
	}
	s.serve(serverMetrics, admin)
	if len(cfg.Join) > 0 && !cfg.NonVoter {
		s.askForVote(cfg.joiner(peerAddress, credentials))
	}
	s.bindAdmin(dataDir)

	if members, err := s.node.Members(); err == nil {
		cfg.warnIfMembersDiffer(peerAddress, members)
	}
	s.log.Info("started", slog.String("version", Version()), slog.String("cluster_id", s.ClusterID()), slog.String("data_dir", cfg.location()),
		slog.String("api", s.APIAddress()), slog.String("peer", s.PeerAddress()),
		slog.String("http", s.HTTPAddress()), slog.String("admin", s.AdminAddress()))
	return nil
}

// agree waits until the members of a new cluster have agreed on its id. It does nothing if the directory already has
// one.
func (s *Server) agree(ctx context.Context, dataDir *consensus.DataDir) error {
	if !dataDir.ClusterID().IsZero() {
		return nil
	}
	listener, err := dataDir.Agree(ctx, consensus.AgreeConfig{
		Listener: s.listeners.Peer,
		Dial:     s.cfg.dial(),
		TLS:      s.cfg.PeerTLS.files(),
		Logger:   s.log,
	})
	if err != nil {
		return s.cfg.dataDirError(err)
	}
	s.listeners.Peer = listener
	return nil
}

func (s *Server) openConsensus(dataDir *consensus.DataDir, peerAddress string, serverMetrics *metrics.Metrics) (err error) {
	cfg := &s.cfg
	s.node, err = consensus.Open(consensus.Config{
		DataDir:       dataDir,
		LogStore:      consensus.LogStore(cfg.LogStore),
		Machine:       s.machine,
		PeerListener:  s.listeners.Peer,
		PeerDial:      cfg.dial(),
		AdvertisePeer: peerAddress,
		APIAddress:    advertised(cfg.AdvertiseAPI, cfg.APIAddress, cfg.Listeners.API, s.listeners.API),
		Members:       cfg.members(),
		Timeouts:      cfg.timeouts(),
		Level:         fsm.SupportedLevel,
		TLS:           cfg.PeerTLS.files(),
		Retired:       func(id string) bool { return s.machine.State().Retired(id) },
		Retire:        s.retire,
		WallClock:     cfg.wallClock,
		Logger:        s.log,
		Registerer:    serverMetrics.Registerer(),
	})
	if err != nil {
		return cfg.dataDirError(err)
	}
	s.onClose(s.node.Close)
	return nil
}

func (s *Server) openKeeper(definitions []*semaphore.Definition, auditLog *audit.Log, serverMetrics *metrics.Metrics) {
	s.batcher = batcher.New(s.node, func() uint32 { return s.machine.State().FeatureLevel() }, batcher.WithObserver(serverMetrics.Entry))
	s.onClose(func(context.Context) error { s.batcher.Close(); return nil })
	s.keeper = keeper.New(keeper.Config{
		Machine:    s.machine,
		Leadership: serverMetrics.Leadership(s.node),
		Proposer:   s.batcher,
		Metrics:    serverMetrics,
		Logger:     s.log,
		WallClock:  s.cfg.wallClock,
	})
	s.onClose(func(context.Context) error { s.keeper.Close(); return nil })
	s.leaderTasks = &leaderTasks{
		keeper: s.keeper, state: s.machine.State, log: s.log, definitions: definitions,
		level: s.node.Level, propose: s.batcher.Go, audit: auditLog, id: s.cfg.ID, admin: s.cfg.firstAdmin(),
		clocks: &clocks{id: s.cfg.ID, interval: s.cfg.clockCheckInterval, node: s.node, state: s.machine.State, log: s.log},
	}
	s.node.ObserveLeadership(s.leaderTasks)
}

// openAudit opens the audit log, unless it is off.
func (s *Server) openAudit() (*audit.Log, error) {
	path := s.cfg.auditLog()
	if path == "" {
		return nil, nil //nolint:nilnil // a nil log records nothing
	}
	log, err := audit.Open(audit.Config{Path: path, Server: s.cfg.ID, Cluster: s.ClusterID(), Logger: s.log})
	if err != nil {
		return nil, &ConfigError{"AuditLog", path, "cannot be used: " + err.Error()}
	}
	s.onClose(func(context.Context) error { return log.Close() })
	return log, nil
}

// leaderWait is how long a call is held while there is no leader. With either profile, elections take less time than
// that (docs/reports/failover.md), and clients allow more time for an attempt.
const leaderWait = time.Second

func (s *Server) openAPI(hub *watch.Hub, admissionControl *admission.Control, guesses *guessing.Limiter, auditLog *audit.Log, serverMetrics *metrics.Metrics) (err error) {
	s.api, err = api.New(api.Config{
		ID:                  s.cfg.ID,
		ClusterName:         s.cfg.ClusterName,
		Keeper:              api.FromKeeper(s.keeper),
		Consensus:           s.member(),
		Machine:             s.machine,
		Hub:                 hub,
		TLS:                 s.cfg.TLS.files(),
		PeerTLS:             s.cfg.PeerTLS.files(),
		Authenticate:        s.cfg.authenticates(),
		OptionalClientCerts: s.cfg.optionalCerts(),
		OIDC:                s.jwts,
		Insecure:            s.cfg.Insecure,
		Audit:               auditLog,
		InvalidTokens:       guesses,
		Dial:                s.cfg.dial(),
		Version:             Version(),
		Started:             time.Now(),

		SkewedClocks: s.leaderTasks.clocks.list,
		MinDuration:  s.cfg.timeouts().MinDuration(),

		LeaderWait: leaderWait,

		Admission: admissionControl,
		Metrics:   serverMetrics,
		Logger:    s.log,
	})
	if err != nil {
		return fmt.Errorf("open the API: %w", err)
	}
	s.onClose(func(context.Context) error { s.api.Close(); return nil })
	return nil
}

// onClose records how to close a component that has just been opened.
func (s *Server) onClose(closeFn func(context.Context) error) { s.closers = append(s.closers, closeFn) }

// serve starts the servers and the background tasks.
func (s *Server) serve(serverMetrics *metrics.Metrics, admin net.Listener) {
	s.grpc = s.api.NewServer()
	s.running.Go(func() { s.serveAPI(s.listeners.API) })
	if s.web != nil {
		s.running.Go(func() { s.serveAPI(api.GatewayListener(s.web.memory)) })
		s.running.Go(func() {
			if err := s.web.server.Serve(s.web.listener); !errors.Is(err, http.ErrServerClosed) {
				s.fail(fmt.Errorf("serve the HTTP port: %w", err))
			}
		})
	}
	if s.listeners.Admin != nil {
		s.admin = s.adminServer(serverMetrics)
		s.running.Go(func() {
			if err := s.admin.Serve(admin); !errors.Is(err, http.ErrServerClosed) {
				s.fail(fmt.Errorf("serve the admin port: %w", err))
			}
		})
	}
	s.running.Go(func() {
		select {
		case err := <-s.node.Fatal():
			switch {
			case errors.Is(err, consensus.ErrRemoved):
				err = fmt.Errorf("%w: %w", ErrRemoved, err)
			case errors.Is(err, consensus.ErrSuperseded):
				err = fmt.Errorf("%w: %w", ErrSuperseded, err)
			case errors.Is(err, consensus.ErrDataDirDamaged):
				err = fmt.Errorf("%w: %w", ErrDataDir, err)
			}
			s.fail(err)
		case <-s.stop:
		}
	})
	if s.cfg.DumpInterval > 0 {
		s.running.Go(s.dumpPeriodically)
	}
}

func (s *Server) serveAPI(l net.Listener) {
	if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		s.fail(fmt.Errorf("serve the API: %w", err))
	}
}

// askForVote asks for a vote in the background until this server has one or stops.
func (s *Server) askForVote(j *joiner) {
	ctx, cancel := context.WithCancel(context.Background())
	s.running.Go(func() {
		defer cancel()
		j.askForVote(ctx, s.node, voteCheckInterval)
	})
	s.running.Go(func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	})
}

// retire records a member that is about to be removed, so that its id is never used again.
func (s *Server) retire(ctx context.Context, id string) error {
	return s.batcher.Do(ctx, fsm.RetireMember{ID: id}).Err
}

func (p Profile) timeouts() consensus.Timeouts {
	if p == ProfileFast {
		return consensus.FastTimeouts()
	}
	return consensus.DefaultTimeouts()
}
