package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestReflection_Lists_TheThreeServices(t *testing.T) {
	g := open(t)
	stream := must(reflectionpb.NewServerReflectionClient(g.conn).ServerReflectionInfo(ctx(t)))(t)
	ask := func(m *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
		return must(stream.Recv())(t)
	}
	list := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	var names []string
	for _, s := range list.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, service := range services() {
		if !slices.Contains(names, service.ServiceName) {
			t.Errorf("%s is missing in %v", service.ServiceName, names)
		}
		file := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: service.ServiceName,
		}})
		if len(file.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("%s has no descriptor: %v", service.ServiceName, file)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
}

func TestHealth_FollowsConsensus(t *testing.T) {
	g := open(t)
	client := healthpb.NewHealthClient(g.conn)
	is := func(expected healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for _, service := range []string{"", "gatekeeper.v1.PermitService", "gatekeeper.v1.DefinitionService", "gatekeeper.v1.ClusterService"} {
			eventually(t, service+" is "+expected.String(), func() bool {
				r := must(client.Check(ctx(t), &healthpb.HealthCheckRequest{Service: service}))(t)
				return r.GetStatus() == expected
			})
		}
	}
	is(healthpb.HealthCheckResponse_SERVING)
	g.consensus.setReady(errors.New("no leader known"))
	is(healthpb.HealthCheckResponse_NOT_SERVING)
	g.consensus.setReady(nil)
	is(healthpb.HealthCheckResponse_SERVING)
	g.api.Drain()
	is(healthpb.HealthCheckResponse_NOT_SERVING)
}

func TestDrain_Streams_EndAndAreRefused_AndGracefulStopReturns(t *testing.T) {
	g := open(t)
	waiting := waitOn(t, g.permits, g)
	kept, listener := keepAliveOn(t, g.permits, g)
	watched, _ := watching(t, g, new(gatekeeperv1.WatchRequest))
	health := must(healthpb.NewHealthClient(g.conn).Watch(ctx(t), new(healthpb.HealthCheckRequest)))(t)
	must(health.Recv())(t)

	g.api.Drain()
	_, err := waiting.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
	_, err = kept.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
	receiveFrom(t, listener.closed)
	_, err = watched.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
	want(t, keepAliveCall()(ctx(t), g), codes.Unavailable, "SHUTTING_DOWN")
	if _, err := g.cluster.GetStatus(ctx(t), new(gatekeeperv1.GetStatusRequest)); err != nil {
		t.Errorf("a unary call is not served any more: %v", err)
	}

	stopped := make(chan struct{})
	go func() { g.server.GracefulStop(); close(stopped) }()
	receiveFrom(t, stopped)
}

// A stream that was passed on may have been answered by the leader already when its way is cut.
func TestDrain_ForwardedAcquire_IsUnknown(t *testing.T) {
	leader, follower := pair(t)
	waiting := waitOn(t, follower.permits, leader)
	kept, _ := keepAliveOn(t, follower.permits, leader)
	follower.api.Drain()
	_, err := waiting.Recv()
	want(t, err, codes.Unavailable, "OUTCOME_UNKNOWN")
	_, err = kept.Recv()
	want(t, err, codes.Unavailable, "SHUTTING_DOWN")
}

// countingMetrics remembers what it was told.
type countingMetrics struct {
	mu  sync.Mutex // guards log
	log []string
}

func (m *countingMetrics) note(s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, s)
}

func (m *countingMetrics) has(s string) bool { return m.count(s) > 0 }

func (m *countingMetrics) count(s string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.log {
		if line == s {
			n++
		}
	}
	return n
}

func (m *countingMetrics) CallEnded(method string, code codes.Code, reason string, _ time.Duration) {
	m.note(strings.TrimSpace("ended " + method + " " + code.String() + " " + reason))
}
func (m *countingMetrics) StreamOpened(method string) { m.note("opened " + method) }
func (m *countingMetrics) StreamClosed(method string) { m.note("closed " + method) }
func (m *countingMetrics) Forwarded(method string)    { m.note("forwarded " + method) }

func TestCalls_AreCounted_PanicsAreCaught(t *testing.T) {
	metrics := new(countingMetrics)
	g := open(t, func(c *Config) { c.Metrics = metrics })
	g.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) { panic("secret") }
	_, err := g.permits.TryAcquire(ctx(t), plainRequest)
	want(t, err, codes.Internal, "INTERNAL")
	if strings.Contains(status.Convert(err).Message(), "secret") {
		t.Error("the panic's own words reached the caller")
	}
	must(g.cluster.GetStatus(ctx(t), new(gatekeeperv1.GetStatusRequest)))(t)
	stream, listener := keepAliveOn(t, g.permits, g)
	close(listener.notices)
	_, err = stream.Recv()
	want(t, err, codes.Unavailable, "NO_LEADER") // it names itself

	for _, s := range []string{
		"ended /gatekeeper.v1.PermitService/TryAcquire Internal INTERNAL",
		"ended /gatekeeper.v1.ClusterService/GetStatus OK",
		"opened /gatekeeper.v1.PermitService/KeepAlive",
		"ended /gatekeeper.v1.PermitService/KeepAlive Unavailable NO_LEADER",
		"closed /gatekeeper.v1.PermitService/KeepAlive",
	} {
		eventually(t, s, func() bool { return metrics.has(s) })
	}
}

// authority signs certificates for loopback.
type authority struct {
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{folder: t.TempDir()}
	a.cert, a.key = a.sign(t, "ca", true)
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

// sign writes NAME.pem and NAME-key.pem.
func (a *authority) sign(t *testing.T, name string, ca bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: ca, BasicConstraintsValid: ca,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := a.cert, a.key
	if ca {
		parent, signer = template, key
	}
	der := must(x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer))(t)
	keyDER := must(x509.MarshalPKCS8PrivateKey(key))(t)
	for file, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(a.path(file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert := must(x509.ParseCertificate(der))(t)
	return cert, key
}

func (a *authority) files(name string) certs.Files {
	return certs.Files{Cert: a.path(name + ".pem"), Key: a.path(name + "-key.pem"), CA: a.path("ca.pem")}
}

func (a *authority) client(t *testing.T, name string, change func(*tls.Config)) grpc.DialOption {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	c := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if name != "" {
		own := must(tls.LoadX509KeyPair(a.path(name+".pem"), a.path(name+"-key.pem")))(t)
		c.Certificates = []tls.Certificate{own}
	}
	if change != nil {
		change(c)
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(c))
}

func TestTLS_OnTheAPIAndOnTheHop(t *testing.T) {
	ca, stranger := newAuthority(t), newAuthority(t)
	ca.sign(t, "gk1", false)
	ca.sign(t, "gk2", false)
	ca.sign(t, "client", false)
	stranger.sign(t, "client", false)
	leader := open(t, func(c *Config) { c.TLS = ca.files("gk1") })
	follower := open(t, func(c *Config) { c.ID, c.TLS = "gk2", ca.files("gk2") })
	follower.consensus.follow(consensus.Leader{ID: "gk1", APIAddress: leader.address, Term: 1})
	leader.keeper.tryAcquire = func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Token: 7}}, nil
	}
	for name, c := range map[string]struct {
		option grpc.DialOption
		ok     bool
	}{
		"no client certificate":    {ca.client(t, "", nil), true},
		"good client certificate":  {ca.client(t, "client", nil), true},
		"a stranger's certificate": {ca.client(t, "", func(c *tls.Config) { c.Certificates = strangers(t, stranger) }), false},
		"TLS 1.2":                  {ca.client(t, "", func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), false},
		"plain text":               {insecureCreds(), false},
		"another CA":               {stranger.client(t, "", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			client := gatekeeperv1.NewPermitServiceClient(dial(t, follower.address, c.option))
			reply, err := client.TryAcquire(ctx(t), plainRequest)
			if c.ok && (err != nil || reply.GetGrant().GetPermit().GetToken() != 7) {
				t.Errorf("got %v, %v", reply, err)
			}
			if !c.ok && status.Code(err) != codes.Unavailable {
				t.Errorf("got %v, %v", reply, err)
			}
		})
	}
}

func strangers(t *testing.T, a *authority) []tls.Certificate {
	t.Helper()
	own := must(tls.LoadX509KeyPair(a.path("client.pem"), a.path("client-key.pem")))(t)
	return []tls.Certificate{own}
}

func TestNew_UnusableTLSFiles_SayWhich(t *testing.T) {
	ca := newAuthority(t)
	ca.sign(t, "gk1", false)
	good := ca.files("gk1")
	noPEM := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(noPEM, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, files := range map[string]certs.Files{
		"name both files":         {Cert: good.Cert},
		"needs a certificate":     {CA: good.CA},
		"missing.pem":             {Cert: "missing.pem", Key: good.Key},
		"missing-ca.pem":          {Cert: good.Cert, Key: good.Key, CA: "missing-ca.pem"},
		"holds no PEM":            {Cert: good.Cert, Key: good.Key, CA: noPEM},
		"private key does not ma": {Cert: good.Cert, Key: ca.path("ca-key.pem")},
	} {
		if _, err := New(Config{TLS: files}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: got %v, want it to say %q", files, err, says)
		}
	}
}
