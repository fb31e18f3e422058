package gatekeeper

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A token is valid only for its own cluster, only until it expires or is revoked, and only in the authorization header.
// An invalid token is rejected even with a valid certificate, because a presented token replaces the certificate.
func TestHostile_InvalidTokens_AreRejected(t *testing.T) {
	t.Parallel()
	s := newSecuredCluster(t, func(c *Config) { c.BearerTokens = true })
	otherCluster := newSecuredServer(t, func(c *Config) { c.BearerTokens = true })
	s.bind("ci", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	otherCluster.bind("ci", roleGrant(gatekeeperv1.Role_ROLE_VIEWER))
	good, _ := s.token("ci")
	revoked, revokedID := s.token("ci")
	foreign, _ := otherCluster.token("ci")
	if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: revokedID}); err != nil {
		t.Fatal(err)
	}
	expiresAt := time.Now().Add(300 * time.Millisecond)
	shortLived, err := s.admin.CreateToken(bounded(t), &gatekeeperv1.CreateTokenRequest{Binding: "ci", ExpiresAt: timestamppb.New(expiresAt)})
	if err != nil {
		t.Fatal(err)
	}
	list := func(ctx context.Context, c caller) codes.Code {
		_, err := c.ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		return status.Code(err)
	}
	eventually(t, func() bool { return list(bounded(t), s.withToken(0, shortLived.GetSecret())) == codes.Unauthenticated })
	if time.Now().Before(expiresAt) {
		t.Error("a token was rejected before it expired")
	}
	header := func(key, value string) context.Context {
		return metadata.AppendToOutgoingContext(bounded(t), key, value)
	}
	for i := range s.servers {
		anonymous := newCaller(t, s.servers[i], grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13})))
		for what, c := range map[string]struct {
			ctx context.Context
			c   caller
		}{
			"from another cluster":            {bounded(t), s.withToken(i, foreign)},
			"expired":                         {bounded(t), s.withToken(i, shortLived.GetSecret())},
			"revoked":                         {bounded(t), s.withToken(i, revoked)},
			"with the token id as its secret": {bounded(t), s.withToken(i, "gk_"+revokedID+"_"+revokedID)},
			"with another id":                 {bounded(t), s.withToken(i, strings.Replace(good, "gk_", "gk_x", 1))},
			"sent twice":                      {header("authorization", "Bearer "+good), s.withToken(i, good)},
			"as a subject":                    {header(api.SubjectHeader, "token:"+revokedID), anonymous},
			"in another scheme":               {header("authorization", "Basic "+good), anonymous},
			"in another header":               {header("bearer", good), anonymous},
			"as if forwarded by a member":     {header(api.HopHeader, "gk2"), s.withToken(i, good)},
			"revoked, with an administrator's certificate": {header("authorization", "Bearer "+revoked), s.named(i, "client")},
		} {
			if got := list(c.ctx, c.c); got != codes.Unauthenticated && got != codes.ResourceExhausted {
				t.Errorf("server %d: call with token %s = %v, want Unauthenticated", i, what, got)
			}
		}
		if got := list(bounded(t), s.withToken(i, good)); got != codes.OK && got != codes.ResourceExhausted {
			t.Errorf("server %d: call with a valid token = %v, want OK", i, got)
		}
	}
	refused := map[string]bool{}
	for _, l := range s.closeAndReadAudit(t) {
		if l.Decision == "refused" {
			refused[strings.Join(l.Subjects, ",")] = true
		}
	}
	for _, id := range []string{revokedID, shortLived.GetToken().GetId()} {
		if !refused["token:"+id] {
			t.Errorf("no audit line for token %s in %v", id, refused)
		}
	}
}
