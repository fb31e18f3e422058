package gatekeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/oidctest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// oidcCluster is a cluster of three servers that accept JWTs from an issuer with the key k1.
type oidcCluster struct {
	*securedCluster
	issuer *oidctest.Issuer
	key    *oidctest.Key
}

func newOIDCCluster(t *testing.T) *oidcCluster {
	key := oidctest.NewRSAKey("k1")
	w := &oidcCluster{issuer: oidctest.New(t, key), key: key}
	w.securedCluster = newSecuredCluster(t, func(c *Config) {
		c.OIDC = OIDC{Issuer: w.issuer.URL, Audience: "gatekeeper", CAFile: w.issuer.CAFile}
	})
	return w
}

// claims returns the claims of the service account jobs/reports.
func (w *oidcCluster) claims() oidctest.Claims {
	return oidctest.ServiceAccount(w.issuer.URL, "gatekeeper", "jobs", "reports")
}

const reports = "oidc:sub=system:serviceaccount:jobs:reports"

// withToken returns a caller that presents a token and no certificate.
func (w *oidcCluster) withToken(server int, token string) caller {
	w.t.Helper()
	return newCaller(w.t, w.servers[server], w.withoutCertificate(), grpc.WithPerRPCCredentials(bearer(token)))
}

// bindSubjects creates a binding for the given subjects.
func (w *oidcCluster) bindSubjects(name string, subjects []string, grants ...*gatekeeperv1.AccessGrant) {
	w.t.Helper()
	if _, err := withRetry(w.t, w.admin.SetBinding, &gatekeeperv1.SetBindingRequest{
		Binding: &gatekeeperv1.Binding{Name: name, Subjects: subjects, Grants: grants},
	}); err != nil {
		w.t.Fatal(err)
	}
}

// whoAmI calls WhoAmI, and retries while it fails with Unavailable.
func whoAmI(t *testing.T, c caller) (*gatekeeperv1.WhoAmIResponse, error) {
	t.Helper()
	return withRetry(t, gatekeeperv1.NewAuthServiceClient(c.conn).WhoAmI, &gatekeeperv1.WhoAmIRequest{})
}

// A pod can present its service account token to any server.
func TestOIDC_ServiceAccount_GetsBindingGrants(t *testing.T) {
	t.Parallel()
	w := newOIDCCluster(t)
	w.named(0, "client").create(t, "report")
	token := w.key.Sign(w.claims())
	for i := range w.servers {
		_, err := withRetry(t, w.withToken(i, token).TryAcquire, &gatekeeperv1.TryAcquireRequest{Semaphore: "report", Identity: &gatekeeperv1.Identity{Acquirer: "pod"}})
		if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), reports+": no binding names it") || strings.Contains(err.Error(), "eyJ") {
			t.Errorf("server %d: call before the subject is bound = %v, want Unauthenticated without the JWT", i, err)
		}
	}
	w.bindSubjects("reports", []string{reports}, roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER, "report"))
	for i := range w.servers { // followers forward the calls
		pod := w.withToken(i, token)
		held := pod.grant(t, "report", "pod")
		if got := held.GetIdentity().GetAcquirer(); got != "pod" {
			t.Errorf("server %d: the permit belongs to acquirer %q, want pod", i, got)
		}
		if _, err := withRetry(t, pod.Release, &gatekeeperv1.ReleaseRequest{Token: held.GetToken()}); err != nil {
			t.Errorf("server %d: Release() = %v", i, err)
		}
		if _, err := withRetry(t, pod.Pause, &gatekeeperv1.PauseRequest{Selector: byName("report")}); status.Code(err) != codes.PermissionDenied {
			t.Errorf("server %d: Pause() by an acquirer = %v, want PermissionDenied", i, err)
		}
		var r *gatekeeperv1.WhoAmIResponse
		var err error
		eventually(t, func() bool { r, err = whoAmI(t, pod); return err == nil }) // a follower may not have the binding yet
		if r.GetPrincipal() != "reports" || r.GetCredential() != reports || !slices.Equal(r.GetSubjects(), []string{reports}) {
			t.Errorf("server %d: WhoAmI() = %v, %v, want reports", i, r, err)
		}
	}
}

func TestOIDC_InvalidToken_RejectedByEveryServer(t *testing.T) {
	t.Parallel()
	w := newOIDCCluster(t)
	w.bindSubjects("reports", []string{reports}, roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	good := w.key.Sign(w.claims())
	at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	parts := strings.Split(good, ".")
	hostile := map[string]string{
		"wrong issuer":   w.key.Sign(w.claims().With("iss", "https://evil.example.com")),
		"wrong audience": w.key.Sign(w.claims().With("aud", []string{"https://kubernetes.default.svc"})),
		"expired":        w.key.Sign(w.claims().With("exp", at(-time.Minute))),
		"not yet valid":  w.key.Sign(w.claims().With("nbf", at(time.Hour))),
		"wrong key":      oidctest.NewRSAKey("k1").Sign(w.claims()),
		"unknown key":    oidctest.NewKey("k9").Sign(w.claims()),
		"tampered":       parts[0] + "." + strings.Split(w.key.Sign(w.claims().With("sub", "admin")), ".")[1] + "." + parts[2],
		"alg none":       "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"too large":      w.key.Sign(w.claims().With("pad", strings.Repeat("x", 6<<10))),
		"not a JWT":      reports,
	}
	for i := range w.servers {
		for what, token := range hostile {
			_, err := w.withToken(i, token).ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{})
			if what == "unknown key" && status.Code(err) == codes.Unavailable {
				continue // the server just fetched the keys and cannot rule out that this one is newer
			}
			if !tokenRejected(err) || strings.Contains(err.Error(), "eyJ") {
				t.Errorf("server %d: call with %s = %v, want it rejected", i, what, err)
			}
		}
		// gRPC rejects headers larger than 16 KiB before the server sees them.
		if _, err := w.withToken(i, strings.Repeat("x", 20<<10)).ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{}); err == nil {
			t.Errorf("server %d: a call with 20 KiB of headers succeeded", i)
		}
		pod := w.withToken(i, good)
		if _, err := withRetry(t, pod.ListDefinitions, &gatekeeperv1.ListDefinitionsRequest{}); err != nil {
			t.Errorf("server %d: call with a valid JWT: %v", i, err)
		}
		long := w.key.Sign(w.claims().With("pad", strings.Repeat("x", 5000)))
		if _, err := withRetry(t, w.withToken(i, long).ListDefinitions, &gatekeeperv1.ListDefinitionsRequest{}); err != nil || len(long) < 7500 {
			t.Errorf("server %d: call with a JWT of %d bytes: %v", i, len(long), err)
		}
		twice := metadata.AppendToOutgoingContext(bounded(t), "authorization", "Bearer "+good)
		if _, err := pod.ListDefinitions(twice, &gatekeeperv1.ListDefinitionsRequest{}); !tokenRejected(err) {
			t.Errorf("server %d: call with two authorization headers = %v, want it rejected", i, err)
		}
		basic := metadata.AppendToOutgoingContext(bounded(t), "authorization", "Basic "+good)
		if _, err := newCaller(t, w.servers[i], w.withoutCertificate()).ListDefinitions(basic, &gatekeeperv1.ListDefinitionsRequest{}); !tokenRejected(err) {
			t.Errorf("server %d: call with a different authentication scheme = %v, want it rejected", i, err)
		}
	}
}

// tokenRejected reports whether a server rejected a token, or rejected the address because of earlier invalid tokens. A
// valid JWT is accepted even from such an address.
func tokenRejected(err error) bool {
	return status.Code(err) == codes.Unauthenticated || status.Code(err) == codes.ResourceExhausted
}

func (w *oidcCluster) withoutCertificate() grpc.DialOption {
	return grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: w.a.api.Pool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13}))
}

func TestOIDC_Groups_RequireSingleBinding(t *testing.T) {
	t.Parallel()
	w := newOIDCCluster(t)
	w.bindSubjects("ops", []string{"oidc:groups=operators", "oidc:groups=oncall"}, roleGrant(gatekeeperv1.Role_ROLE_OPERATOR))
	w.bindSubjects("editors", []string{"oidc:groups=editors"}, roleGrant(gatekeeperv1.Role_ROLE_EDITOR))
	w.bindSubjects("ann", []string{"oidc:email=ann@example.com"}, roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	ann := w.claims().With("sub", "ann").With("email", "ann@example.com")
	in := func(c oidctest.Claims, groups ...string) oidctest.Claims { return c.With("groups", groups) }
	for what, c := range map[string]struct {
		claims    oidctest.Claims
		principal string // empty if refused
		why       string
	}{
		"one group":                         {in(ann, "staff", "operators"), "ops", ""},
		"two groups of one binding":         {in(ann, "oncall", "operators"), "ops", ""},
		"groups of two bindings":            {in(ann, "operators", "editors"), "", "oidc:groups=operators and oidc:groups=editors have different bindings"},
		"a verified email":                  {in(ann.With("email_verified", true), "operators", "editors"), "ann", ""},
		"an unverified email":               {in(ann), "", "no binding names it"},
		"a group without a binding":         {in(ann, "staff"), "", "oidc:sub=ann: no binding names it or oidc:groups=staff; an administrator"},
		"a group that looks like an email":  {in(ann, "ann@example.com"), "", "no binding names it"},
		"a subject that looks like a group": {w.claims().With("sub", "groups=operators"), "", "no binding names it"},
		"a claim that looks like a subject": {w.claims().With("sub", "cert:client"), "", "no binding names it"},
		"a claim that is not a subject":     {w.claims().With("sub", "bob").With("roles", "operators"), "", "no binding names it"},
	} {
		for i := range w.servers {
			var r *gatekeeperv1.WhoAmIResponse
			var err error
			me := w.withToken(i, w.key.Sign(c.claims))
			if c.principal != "" { // a follower may not have the bindings yet
				eventually(t, func() bool { r, err = whoAmI(t, me); return err == nil })
			} else {
				eventually(t, func() bool { r, err = whoAmI(t, me); return strings.Contains(status.Convert(err).Message(), c.why) })
			}
			if r.GetPrincipal() != c.principal || (err == nil) != (c.principal != "") {
				t.Errorf("server %d: WhoAmI() with %s = %v, %v", i, what, r, err)
			}
		}
	}
}

// A JWT takes precedence over the connection's client certificate, even when a member forwards the call.
func TestOIDC_TokenAndCertificate_TokenTakesPrecedence(t *testing.T) {
	t.Parallel()
	w := newOIDCCluster(t)
	w.bindSubjects("reports", []string{reports}, roleGrant(gatekeeperv1.Role_ROLE_ACQUIRER))
	for i := range w.servers {
		admin := w.named(i, "client")
		withJWT := metadata.AppendToOutgoingContext(bounded(t), "authorization", "Bearer "+w.key.Sign(w.claims()))
		if _, err := admin.SetSettings(withJWT, &gatekeeperv1.SetSettingsRequest{}); status.Code(err) != codes.PermissionDenied {
			t.Errorf("server %d: SetSettings() by an administrator with another caller's JWT = %v, want PermissionDenied", i, err)
		}
		bad := metadata.AppendToOutgoingContext(bounded(t), "authorization", "Bearer "+w.key.Sign(w.claims().With("aud", "x")))
		if _, err := admin.SetSettings(bad, &gatekeeperv1.SetSettingsRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("server %d: SetSettings() by an administrator with an invalid JWT = %v, want Unauthenticated", i, err)
		}
	}
}

func TestOIDC_TokenExpires_StreamsEnd(t *testing.T) {
	t.Parallel()
	w := newOIDCCluster(t)
	w.bindSubjects("reports", []string{reports}, roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	for lifetime := 3 * time.Second; ; lifetime *= 2 {
		token := w.key.Sign(w.claims().With("exp", time.Now().Add(lifetime).Unix()))
		streams := w.openWatches(token)
		if streams == nil {
			continue // the token expired before all streams were open
		}
		for i, s := range streams {
			var err error
			for err == nil {
				_, err = s.Recv()
			}
			if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "the JWT expired at") {
				t.Errorf("server %d: the stream ended with %v, want an expired JWT", i, err)
			}
		}
		return
	}
}

// openWatches opens a stream to each server. It returns nil if the token expires before all streams are open.
func (w *oidcCluster) openWatches(token string) (all []grpc.ServerStreamingClient[gatekeeperv1.WatchResponse]) {
	w.t.Helper()
	for i := range w.servers {
		c := w.withToken(i, token)
		var s grpc.ServerStreamingClient[gatekeeperv1.WatchResponse]
		var err error
		eventually(w.t, func() bool {
			if s, err = c.Watch(bounded(w.t), &gatekeeperv1.WatchRequest{}); err == nil {
				_, err = s.Recv()
			}
			return status.Code(err) != codes.Unavailable
		})
		if status.Code(err) == codes.Unauthenticated && strings.Contains(err.Error(), "expired") {
			return nil
		}
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// The issuer rotates its keys and then goes down.
func TestOIDC_KeysRotate_CallsContinue(t *testing.T) {
	t.Parallel()
	w := newOIDCCluster(t)
	w.bindSubjects("reports", []string{reports}, roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	list := func(server int, token string) error {
		_, err := withRetry(t, w.withToken(server, token).ListDefinitions, &gatekeeperv1.ListDefinitionsRequest{})
		return err
	}
	for i := range w.servers {
		if err := list(i, w.key.Sign(w.claims())); err != nil {
			t.Errorf("server %d: call with the old key = %v", i, err)
		}
	}
	next := oidctest.NewKey("k2")
	w.issuer.SetKeys(w.key, next)
	for i := range w.servers {
		// A server that has just fetched keys rejects unknown ones for a while.
		eventually(t, func() bool { return list(i, next.Sign(w.claims())) == nil })
	}
	w.issuer.SetDown(true)
	for i := range w.servers {
		for _, k := range []*oidctest.Key{w.key, next} {
			if err := list(i, k.Sign(w.claims().With("jti", "another"))); err != nil {
				t.Errorf("server %d: call while the issuer is down = %v", i, err)
			}
		}
	}
}

func TestOpen_InvalidOIDC_ReportsField(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	good := OIDC{Issuer: "https://issuer.example.com", Audience: "gatekeeper"}
	for what, c := range map[string]struct {
		change func(*Config)
		field  string
	}{
		"no TLS":            {func(c *Config) { c.TLS, c.PeerTLS = TLS{}, TLS{} }, "OIDC.Issuer"},
		"no audience":       {func(c *Config) { c.OIDC.Audience = "" }, "OIDC.Audience"},
		"no issuer":         {func(c *Config) { c.OIDC.Issuer = "" }, "OIDC.Issuer"},
		"not a URL":         {func(c *Config) { c.OIDC.Issuer = "kubernetes/serviceaccount" }, "OIDC.Issuer"},
		"http":              {func(c *Config) { c.OIDC.Issuer = "http://issuer.example.com" }, "OIDC.Issuer"},
		"keys over http":    {func(c *Config) { c.OIDC.KeysURL = "http://issuer.example.com/keys" }, "OIDC.KeysURL"},
		"keys with a user":  {func(c *Config) { c.OIDC.KeysURL = "https://u:p@issuer.example.com/keys" }, "OIDC.KeysURL"},
		"a file and a URL":  {func(c *Config) { c.OIDC.KeysFile, c.OIDC.KeysURL = "jwks.json", "https://issuer.example.com/keys" }, "OIDC.KeysURL"},
		"a file and a CA":   {func(c *Config) { c.OIDC.KeysFile, c.OIDC.CAFile = "jwks.json", "ca.crt" }, "OIDC.CAFile"},
		"no such file":      {func(c *Config) { c.OIDC.KeysFile = "none.json" }, "OIDC.KeysFile"},
		"no such CA file":   {func(c *Config) { c.OIDC.CAFile = "none.crt" }, "OIDC.CAFile"},
		"a duplicate claim": {func(c *Config) { c.OIDC.Claims = []string{"sub", "sub"} }, "OIDC.Claims"},
		"invalid claim":     {func(c *Config) { c.OIDC.Claims = []string{"a=b"} }, "OIDC.Claims"},
	} {
		cfg, _ := testConfig(t, "gk1")
		a.secure(&cfg)
		cfg.OIDC = good
		c.change(&cfg)
		s, err := Open(context.WithoutCancel(t.Context()), cfg)
		if e, ok := errors.AsType[*ConfigError](err); !ok || e.Field != c.field {
			t.Errorf("%s: Open = %v, want a ConfigError for %s", what, err, c.field)
		}
		if s != nil {
			closeServer(t, s)
		}
	}
}

// A server may listen on all addresses without client certificates if clients can present tokens.
func TestOpen_OIDCWithoutClientCA_AllowsNonLoopback(t *testing.T) {
	t.Parallel()
	a, key := newAuthorities(t), oidctest.NewRSAKey("k1")
	i := oidctest.New(t, key)
	cfg, log := testConfig(t, "gk1")
	a.secure(&cfg)
	cfg.TLS.CAFile = ""
	cfg.APIAddress, cfg.AdvertiseAPI = "0.0.0.0:0", "127.0.0.1:7420"
	cfg.Admin, cfg.OIDC = reports, OIDC{Issuer: i.URL, Audience: "gatekeeper", KeysURL: i.URL + "/keys", CAFile: i.CAFile}
	s := open(t, cfg)
	waitReady(t, s)
	w := &oidcCluster{securedCluster: &securedCluster{t: t, a: a, servers: []*Server{s}}, issuer: i, key: key}
	w.withToken(0, key.Sign(w.claims())).create(t, "job")
	_, err := w.withToken(0, key.Sign(w.claims().With("aud", "vault"))).ListDefinitions(bounded(t), &gatekeeperv1.ListDefinitionsRequest{})
	if status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
	closeServer(t, s)
	audited, err := os.ReadFile(filepath.Join(cfg.DataDir, "audit", "audit.log"))
	if err != nil || !strings.Contains(string(audited), reports) {
		t.Errorf("the audit log does not contain %s: %s, error %v", reports, audited, err)
	}
	if strings.Contains(log.String()+string(audited), "eyJ") {
		t.Error("a log contains a JWT")
	}
}
