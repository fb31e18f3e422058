package api

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// newAuthenticatedAPI returns an API with authentication but no server. Its administrator has a certificate and a
// token.
func newAuthenticatedAPI(f *testing.F) (a *API, secret string) {
	f.Helper()
	machine := fsm.New("test")
	k := &fakeKeeper{machine: machine}
	a, err := New(Config{
		ID: "gk1", Keeper: k, Consensus: &fakeConsensus{leader: consensus.Leader{ID: "gk1", Term: 1}}, Machine: machine, Authenticate: true,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(a.Close)
	for level := range fsm.SupportedLevel {
		k.do(fsm.RaiseFeatureLevel{Level: level + 1})
	}
	secret, token := auth.NewToken()
	k.do(fsm.SetBinding{Name: "admin", First: true, Binding: &access.Binding{Subjects: []string{"cert:admin"}, Grants: []access.Grant{{Role: access.Admin}}}})
	k.do(fsm.IssueToken{Binding: "admin", Token: token})
	return a, secret
}

// Headers alone must not identify a client, make it a member, or change its address.
func FuzzHeaders(f *testing.F) {
	a, secret := newAuthenticatedAPI(f)
	f.Add("Bearer "+secret, "", "cert:admin", "", "127.0.0.1:1", "")
	f.Add("Bearer gk_abc_def", "gk2", "member:\x30\x82", "host", "::1", "gk1")
	f.Add("", "gk1", "cert:admin", "", "", "")
	f.Add("Basic x", "", "spiffe://a/b", "\xff", "\n", "x")
	f.Fuzz(func(t *testing.T, authorized, hop, subject, pin, source, to string) {
		md := metadata.MD{}
		for key, value := range map[string]string{
			authorization: authorized, HopHeader: hop, SubjectHeader: subject, PinHeader: pin, SourceHeader: source, HopToHeader: to,
		} {
			if value != "" {
				md.Set(key, value)
			}
		}
		ctx := peer.NewContext(context.Background(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 7}})
		ctx, err := a.authenticate(metadata.NewIncomingContext(ctx, md))
		c := callerIn(ctx)
		if c == nil || c.member || c.verified || c.via != "" || c.source != "10.0.0.1:7" || len(c.credential.Subjects)+len(c.credential.Acquirers) > 0 {
			t.Fatalf("caller = %+v, %v; want it unaffected by headers", c, err)
		}
		if hop != "" && err == nil {
			t.Error("a client was accepted as a forwarding member")
		}
		if err == nil {
			if _, _, err := c.principal(); err == nil && c.credential.Token == "" {
				t.Error("a client without a token has a principal")
			}
		}
		_ = a.forward.checkDestination(ctx)
		(&caller{credential: auth.Credential{Subjects: []string{subject}}}).recognizeMember() // sent by a malicious member
	})
}

// Without credentials, the admin port serves only the health probes, whatever the path and headers. The probes return a
// status code without a body.
func FuzzAdminPort(f *testing.F) {
	a, secret := newAuthenticatedAPI(f)
	for _, path := range []string{"/", "/metrics", "/healthz", "/readyz", "/debug/pprof/heap", "//healthz", "/healthz/../metrics", "*", "/%68ealthz"} {
		f.Add(path, "", "cert:admin")
		f.Add(path, "Bearer gk_abc_def", "")
	}
	const text = "the page's text"
	f.Fuzz(func(t *testing.T, path, authorized, subject string) {
		if authorized == "Bearer "+secret {
			return
		}
		seen := false
		h := a.AdminPort(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			seen = true
			_, _ = w.Write([]byte(text))
		}))
		r := &http.Request{
			Method: http.MethodGet, URL: &url.URL{Path: path}, RemoteAddr: "10.0.0.1:7",
			Header: http.Header{"Authorization": {authorized}, http.CanonicalHeaderKey(SubjectHeader): {subject}, http.CanonicalHeaderKey(HopHeader): {"gk2"}},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		probe := slices.Contains([]string{"/healthz", "/readyz"}, path)
		if seen != probe || probe && w.Body.Len() > 0 || !probe && w.Code != http.StatusUnauthorized {
			t.Errorf("%q without credentials: got status %d with body %q", path, w.Code, w.Body)
		}
	})
}
