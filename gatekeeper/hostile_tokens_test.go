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
func TestHostile_Tokens_GuessedReplayedOrMisplaced_AreRefused(t *testing.T) {
	t.Parallel()
	s := newSecured(t, func(c *Config) { c.BearerTokens = true })
	another := newSecuredAlone(t, func(c *Config) { c.BearerTokens = true })
	s.bind("ci", grantOf(gatekeeperv1.Role_ROLE_VIEWER))
	another.bind("ci", grantOf(gatekeeperv1.Role_ROLE_VIEWER))
	good, _ := s.token("ci")
	gone, goneID := s.token("ci")
	foreign, _ := another.token("ci")
	if _, err := s.admin.RevokeToken(bounded(t), &gatekeeperv1.RevokeTokenRequest{Id: goneID}); err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(300 * time.Millisecond)
	short, err := s.admin.CreateToken(bounded(t), &gatekeeperv1.CreateTokenRequest{Binding: "ci", ExpiresAt: timestamppb.New(ends)})
	if err != nil {
		t.Fatal(err)
	}
	list := func(ctx context.Context, c caller) codes.Code {
		_, err := c.ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		return status.Code(err)
	}
	eventually(t, func() bool { return list(bounded(t), s.showing(0, short.GetSecret())) == codes.Unauthenticated })
	if time.Now().Before(ends) {
		t.Error("a token was rejected before it expired")
	}
	header := func(key, value string) context.Context {
		return metadata.AppendToOutgoingContext(bounded(t), key, value)
	}
	for i := range s.servers {
		nobody := callerOf(t, s.servers[i], grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.a.api.Pool(), MinVersion: tls.VersionTLS13})))
		for what, c := range map[string]struct {
			ctx context.Context
			c   caller
		}{
			"from another cluster":            {bounded(t), s.showing(i, foreign)},
			"expired":                         {bounded(t), s.showing(i, short.GetSecret())},
			"revoked":                         {bounded(t), s.showing(i, gone)},
			"with the token id as its secret": {bounded(t), s.showing(i, "gk_"+goneID+"_"+goneID)},
			"with another id":                 {bounded(t), s.showing(i, strings.Replace(good, "gk_", "gk_x", 1))},
			"sent twice":                      {header("authorization", "Bearer "+good), s.showing(i, good)},
			"as a subject":                    {header(api.SubjectHeader, "token:"+goneID), nobody},
			"in another scheme":               {header("authorization", "Basic "+good), nobody},
			"in another header":               {header("bearer", good), nobody},
			"as if forwarded by a member":     {header(api.HopHeader, "gk2"), s.showing(i, good)},
			"revoked, with an administrator's certificate": {header("authorization", "Bearer "+gone), s.named(i, "client")},
		} {
			if got := list(c.ctx, c.c); got != codes.Unauthenticated && got != codes.ResourceExhausted {
				t.Errorf("server %d: call with token %s = %v, want Unauthenticated", i, what, got)
			}
		}
		if got := list(bounded(t), s.showing(i, good)); got != codes.OK && got != codes.ResourceExhausted {
			t.Errorf("server %d: call with a valid token = %v, want OK", i, got)
		}
	}
	refused := map[string]bool{}
	for _, l := range s.audited(t) {
		if l.Decision == "refused" {
			refused[strings.Join(l.Subjects, ",")] = true
		}
	}
	for _, id := range []string{goneID, short.GetToken().GetId()} {
		if !refused["token:"+id] {
			t.Errorf("no audit line for token %s in %v", id, refused)
		}
	}
}
