package api

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Config configures an API. Fields are required unless marked optional.
type Config struct {
	// ID is this server's member id. ClusterName is recorded in backups.
	ID, ClusterName string

	Keeper    Keeper
	Consensus Consensus
	Machine   Machine
	Hub       Hub
	// TLS configures the API port; the zero value disables TLS. If it includes CA certificates, clients must present a
	// certificate signed by one of those CAs.
	TLS certs.Files
	// PeerTLS holds the files for the peer port. This server presents the peer certificate when it forwards calls to
	// the leader, and it accepts member certificates issued by the peer CAs. Optional; the default is TLS.
	PeerTLS certs.Files
	// Authenticate requires a credential from each caller and limits the caller to the grants of its binding. If false,
	// every caller has full access.
	Authenticate bool
	// Audit receives a record of each refusal and each change. Nil disables auditing.
	Audit *audit.Log
	// InvalidTokens limits invalid bearer tokens per client address. Nil means no limit.
	InvalidTokens *guessing.Limiter
	// OptionalClientCerts accepts clients without a certificate, because they may have other credentials.
	OptionalClientCerts bool
	// OIDC verifies callers' JWTs. Optional; without it, JWTs are refused. The caller closes it after the API.
	OIDC *oidc.Verifier
	// Insecure is reported by GetStatus.
	Insecure bool
	// Dial opens connections to other members. Optional; the default is TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Version and Started are reported by GetStatus. Optional.
	Version string
	Started time.Time
	// MinDuration is the shortest permit duration that the consensus timeouts allow. Optional; zero disables the
	// warnings about it.
	MinDuration time.Duration
	// SkewedClocks returns the members whose wall clocks differ from the other members' clocks. It returns none unless
	// this server is the leader. Optional.
	SkewedClocks func() []consensus.MemberClock
	// Poll is the interval at which readiness and leadership are checked. Optional; the default is DefaultPoll.
	Poll time.Duration
	// LeaderWait limits how long a call is held while no leader is known or the leader cannot be reached. Optional; by
	// default, the call fails immediately.
	LeaderWait time.Duration
	// Handshake limits how long a new connection's handshake may take, including TLS. Optional; the default is
	// DefaultHandshake.
	Handshake time.Duration
	// Admission limits concurrent calls. Optional; the default limits apply.
	Admission *admission.Control
	// Metrics and Logger are optional.
	Metrics Metrics
	Logger  *slog.Logger
}

// DefaultPoll is the default polling interval. It limits how long health and forwarded streams take to reflect a change
// in leadership or readiness.
const DefaultPoll = 100 * time.Millisecond

// DefaultHandshake is the default time limit for a connection's handshake, including TLS.
const DefaultHandshake = 10 * time.Second

// API implements the gRPC services of a server. Its methods are safe for concurrent use.
type API struct {
	cfg     Config
	keeper  Keeper // wrapped in guard's access checks
	reader  reader
	tls     *tls.Config // of the API port; nil if TLS is off
	forward *forwarder
	// directory resolves principals, and peers recognizes members' certificates; see caller.go.
	directory    auth.Directory
	peers        *memberCerts
	longCalls    longCalls
	everCaughtUp atomic.Bool // see caughtUp
	repeats      repeats
	summaries    summaries
	reaches      reachCache
	health       *health.Server

	overloads overloads

	draining context.Context    //nolint:containedctx // cancelled by the first call to Drain
	drain    context.CancelFunc // idempotent
	closed   chan struct{}
	cluster  metadata.MD // sent as a header with every response
	close    sync.Once
	polls    sync.WaitGroup
}

// New returns an API to be served by servers that NewServer creates. It fails if the TLS files cannot be used. Close
// the API after those servers have stopped.
func New(cfg Config) (*API, error) {
	if cfg.Poll <= 0 {
		cfg.Poll = DefaultPoll
	}
	if cfg.Handshake <= 0 {
		cfg.Handshake = DefaultHandshake
	}
	if cfg.Admission == nil {
		cfg.Admission = admission.New(admission.NewLimits(admission.DefaultWorking))
	}
	if cfg.SkewedClocks == nil {
		cfg.SkewedClocks = func() []consensus.MemberClock { return nil }
	}
	if cfg.Metrics == nil {
		cfg.Metrics = noMetrics{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	port, err := portTLS(&cfg)
	if err != nil {
		return nil, err
	}
	hop, err := hopCredentials(certs.ForwardingFiles(cfg.TLS, cfg.PeerTLS))
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	methods, err := methodsOf(services()...)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	a := &API{
		cfg:     cfg,
		reader:  cfg.Keeper,
		peers:   &memberCerts{files: cfg.PeerTLS},
		tls:     port,
		forward: newForwarder(&cfg, hop, methods),
		health:  health.NewServer(),
		closed:  make(chan struct{}),
	}
	a.keeper = guard{cfg.Keeper, a}
	a.forward.authorizeCall, a.forward.auditCall = a.authorizeCall, a.auditCall
	a.forward.whileAuthorized = func(ctx context.Context, fullMethod string) (context.Context, func()) {
		if entitlements[fullMethod].public {
			return ctx, func() {}
		}
		return a.whileAllowed(ctx, hasRole(entitlements[fullMethod].anyOf...))
	}
	a.cluster = metadata.Pairs(ClusterHeader, a.forward.cluster)
	a.draining, a.drain = context.WithCancel(context.Background())
	a.setServing(false)
	a.polls.Go(a.poll)
	return a, nil
}

// services returns the descriptions of the services in this package.
func services() []*grpc.ServiceDesc {
	return []*grpc.ServiceDesc{
		&gatekeeperv1.PermitService_ServiceDesc,
		&gatekeeperv1.DefinitionService_ServiceDesc,
		&gatekeeperv1.OperatorService_ServiceDesc,
		&gatekeeperv1.ClusterService_ServiceDesc,
		&gatekeeperv1.WatchService_ServiceDesc,
		&gatekeeperv1.WorkService_ServiceDesc,
		&gatekeeperv1.AuthService_ServiceDesc,
	}
}

// Register registers the services and grpc.health.v1. The server must have been created with ServerOptions.
func (a *API) Register(r grpc.ServiceRegistrar) {
	r.RegisterService(a.describe(&gatekeeperv1.PermitService_ServiceDesc), &permitService{API: a, keeper: a.keeper})
	room := work.NewRoom(a.keeper)
	r.RegisterService(a.describe(&gatekeeperv1.DefinitionService_ServiceDesc), &definitionService{API: a, keeper: a.keeper, room: room})
	r.RegisterService(a.describe(&gatekeeperv1.OperatorService_ServiceDesc), &operatorService{API: a, keeper: a.keeper})
	r.RegisterService(a.describe(&gatekeeperv1.ClusterService_ServiceDesc), &clusterService{API: a, keeper: a.keeper, hashing: make(chan struct{}, 1)})
	r.RegisterService(a.describe(&gatekeeperv1.WatchService_ServiceDesc), &watchService{API: a})
	r.RegisterService(a.describe(&gatekeeperv1.WorkService_ServiceDesc), &workService{API: a, keeper: a.keeper, room: room})
	r.RegisterService(a.describe(&gatekeeperv1.AuthService_ServiceDesc), &authService{API: a, keeper: a.cfg.Keeper})
	healthpb.RegisterHealthServer(r, a.health)
}

// Drain ends all streams with SHUTTING_DOWN, refuses new ones, and reports NOT_SERVING, so that clients switch to other
// servers. Unary calls are still served. Call it before the server's GracefulStop, which waits for streams.
func (a *API) Drain() {
	a.drain()
	a.health.Shutdown()
}

// Close drains the API, closes its connections to other members, and waits for its goroutines. It does not wait for
// calls that a server is still serving.
func (a *API) Close() {
	a.close.Do(func() {
		a.Drain()
		close(a.closed)
		a.polls.Wait()
		a.writeRepeats(time.Now().Add(repeatPeriod))
		a.forward.close()
	})
}

// poll watches consensus until Close. It polls because changes in readiness and leadership are not signaled.
func (a *API) poll() {
	ticker := time.NewTicker(a.cfg.Poll)
	defer ticker.Stop()
	for {
		if a.draining.Err() == nil {
			a.setServing(a.cfg.Consensus.Ready() == nil)
		}
		a.forward.follow(a.cfg.Consensus.Leader())
		a.longCalls.recheck(a.cfg.Machine.State().AccessRevision(), time.Now())
		a.writeRepeats(time.Now())
		select {
		case <-a.closed:
			return
		case <-ticker.C:
		}
	}
}

// setServing sets the health status of the server and of each service. It has no effect after Drain, because the health
// server ignores updates after its Shutdown.
func (a *API) setServing(serving bool) {
	s := healthpb.HealthCheckResponse_NOT_SERVING
	if serving {
		s = healthpb.HealthCheckResponse_SERVING
	}
	a.health.SetServingStatus("", s)
	for _, service := range services() {
		a.health.SetServingStatus(service.ServiceName, s)
	}
}
