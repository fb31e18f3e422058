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

// Config is what an API needs. Only what says so is optional.
type Config struct {
	// ID is this server's member id, and ClusterName what backups say of the cluster.
	ID, ClusterName string

	Keeper    Keeper
	Consensus Consensus
	Machine   Machine
	Hub       Hub
	// TLS is off when zero. With authorities, clients must show a certificate of theirs.
	TLS certs.Files
	// PeerTLS are the files of the peer port. Hops to the leader show that certificate, and the port takes those of its
	// authorities from members. Optional: TLS.
	PeerTLS certs.Files
	// Authenticate asks each caller for a credential, and lets it do what its binding grants. Without it everybody may
	// do everything.
	Authenticate bool
	// Audit takes a line for each refusal and each change; nil: none are kept.
	Audit *audit.Log
	// Guesses bounds wrong bearer tokens by the address that they come from; nil: nothing does.
	Guesses *guessing.Limit
	// OptionalClientCerts lets clients in that show no certificate, because they may have other credentials.
	OptionalClientCerts bool
	// OIDC verifies the JWTs of callers. Optional: none are taken. The caller closes it after the API.
	OIDC *oidc.Verifier
	// Insecure is what GetStatus says of this server.
	Insecure bool
	// Dial makes the connections of hops. Optional, TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Version and Started are shown by GetStatus; optional.
	Version string
	Started time.Time
	// SmallestDuration is that of the consensus timeouts; optional, no warnings.
	SmallestDuration time.Duration
	// ClocksOff returns the members whose wall clocks differ from those of the others, while this server leads;
	// optional.
	ClocksOff func() []consensus.MemberClock
	// Poll is how often consensus is asked whether this server is ready and who leads. Optional, DefaultPoll.
	Poll time.Duration
	// Handshake is how long a connection may take to become one, TLS included. Optional, DefaultHandshake.
	Handshake time.Duration
	// Admission says which calls are taken on; optional, the default limits.
	Admission *admission.Control
	// Metrics and Logger are optional.
	Metrics Metrics
	Logger  *slog.Logger
}

// DefaultPoll is how late at most health and streams that were passed on learn of a change.
const DefaultPoll = 100 * time.Millisecond

// DefaultHandshake is how long a connection may take to become one, TLS included.
const DefaultHandshake = 10 * time.Second

// API is the gRPC face of a server. Its methods may be called from any goroutine.
type API struct {
	cfg     Config
	keeper  Keeper // behind the rules of who may do what
	reader  reader
	tls     *tls.Config // of the port; nil: off
	forward *forwarder
	// directory has the principals, and peers the authority of members; see caller.go.
	directory auth.Directory
	peers     *memberCerts
	standing  standing
	complete  atomic.Bool // see caughtUp
	repeats   repeats
	summaries summaries
	reaches   reaches
	health    *health.Server

	overloads overloads

	draining context.Context    //nolint:containedctx // ends with the first call of Drain
	drain    context.CancelFunc // idempotent
	closed   chan struct{}
	cluster  metadata.MD // the header of every answer
	close    sync.Once
	polls    sync.WaitGroup
}

// New returns an API that serves by way of the servers that NewServer makes. It fails when the TLS files cannot be
// used. Close it after those servers have stopped.
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
	if cfg.ClocksOff == nil {
		cfg.ClocksOff = func() []consensus.MemberClock { return nil }
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
	hop, err := hopCredentials(certs.Hop(cfg.TLS, cfg.PeerTLS))
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
	a.forward.entitled, a.forward.audited = a.entitled, a.audited
	a.forward.standing = func(ctx context.Context, fullMethod string) (context.Context, func()) {
		if entitlements[fullMethod].open {
			return ctx, func() {}
		}
		return a.while(ctx, has(entitlements[fullMethod].anyOf...))
	}
	a.cluster = metadata.Pairs(ClusterHeader, a.forward.cluster)
	a.draining, a.drain = context.WithCancel(context.Background())
	a.setServing(false)
	a.polls.Go(a.poll)
	return a, nil
}

// services are the descriptions of what this package serves.
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

// Register registers the services and grpc.health.v1. The server must have been made with ServerOptions.
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

// Drain ends all streams with SHUTTING_DOWN, refuses new ones, and reports NOT_SERVING, so that clients go elsewhere.
// Unary calls are still served. It is called before the server's GracefulStop, which waits for streams.
func (a *API) Drain() {
	a.drain()
	a.health.Shutdown()
}

// Close drains, closes what was opened to the leader, and returns when nothing of the API runs any more, but for calls
// that a server still serves.
func (a *API) Close() {
	a.close.Do(func() {
		a.Drain()
		close(a.closed)
		a.polls.Wait()
		a.tellRepeats(time.Now().Add(repeatsFor))
		a.forward.close()
	})
}

// poll watches consensus until Close: neither readiness nor leadership announces its changes.
func (a *API) poll() {
	ticker := time.NewTicker(a.cfg.Poll)
	defer ticker.Stop()
	for {
		if a.draining.Err() == nil {
			a.setServing(a.cfg.Consensus.Ready() == nil)
		}
		a.forward.follow(a.cfg.Consensus.Leader())
		a.standing.recheck(a.cfg.Machine.State().AccessRevision(), time.Now())
		a.tellRepeats(time.Now())
		select {
		case <-a.closed:
			return
		case <-ticker.C:
		}
	}
}

// setServing sets the health of the server as a whole and of each service. After Drain it changes nothing: the health
// server takes no status after its Shutdown.
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
