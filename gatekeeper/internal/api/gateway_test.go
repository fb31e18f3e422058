package api

import (
	"testing"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// All callers on the HTTP port share one gRPC connection, but per-connection limits apply to each caller separately.
func TestConnectionOf_CallersOnHTTPPort_AreDistinguishedByCredential(t *testing.T) {
	t.Parallel()
	keyOf := func(info credentials.AuthInfo, source, bearer string) any {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(SourceHeader, source, authorization, bearer))
		return connectionOf(peer.NewContext(ctx, &peer.Peer{AuthInfo: info}))
	}
	one := keyOf(gatewayInfo{}, "10.0.0.1:1000", "Bearer a")
	if again := keyOf(gatewayInfo{}, "10.0.0.1:1001", "Bearer a"); again != one {
		t.Errorf("same address with a different port: %v, want %v", again, one)
	}
	if again, first := keyOf(gatewayInfo{}, "[2001:db8::2]:1", "Bearer a"), keyOf(gatewayInfo{}, "[2001:db8::1]:1", "Bearer a"); again != first {
		t.Errorf("different address in the same /64: %v, want %v", again, first)
	}
	for _, other := range []any{
		keyOf(gatewayInfo{}, "10.0.0.2:1000", "Bearer a"), keyOf(gatewayInfo{}, "10.0.0.1:1000", "Bearer b"),
		keyOf(credentials.TLSInfo{}, "10.0.0.1:1000", "Bearer a"),
	} {
		if other == one || other == nil {
			t.Errorf("%v counts as the same caller as %v", other, one)
		}
	}
}
