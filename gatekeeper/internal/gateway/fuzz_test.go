package gateway

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// refusingAPI refuses every call and records the caller metadata sent by the gateway.
type refusingAPI struct {
	md metadata.MD // of the last call
}

func (c *refusingAPI) refuse(ctx context.Context) error {
	c.md, _ = metadata.FromOutgoingContext(ctx)
	return status.Error(codes.Unauthenticated, "every call is refused")
}

func (c *refusingAPI) Invoke(ctx context.Context, _ string, _, _ any, _ ...grpc.CallOption) error {
	return c.refuse(ctx)
}

func (c *refusingAPI) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, c.refuse(ctx)
}

// For any input, the API receives only the connection's real source address and the request's token. Every response has
// the security headers.
func FuzzRequest(f *testing.F) {
	for _, line := range []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /s/%2e%2e%2f%2e%2e%2fetc?tab=rule HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /assets/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /v1/definitions?names=a&page_size=1&stale=true HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer gk_a_b\r\n\r\n",
		"GET /v1/watch?names=a&live_every=1s HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 7\r\n\r\n",
		"GET /v1/watch HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 18446744073709551616\r\nCookie: gatekeeper=gk_a_b\r\n\r\n",
		"GET /v1/jobs/a%2Fb:follow HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /v1/definitions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n{\"definition\":{\"name\":\"\"}}",
		"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"last\":true}",
		"POST /v1/semaphores/a:acquire HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
		"POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"token\":\"gk\"}",
		"DELETE /session HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n\r\n",
		"GET /v1/definitions HTTP/1.1\r\nHost: evil.example\r\ngatekeeper-subject: cert:admin\r\nGrpc-Metadata-gatekeeper-hop: gk2\r\n\r\n",
	} {
		f.Add([]byte(line), false)
		f.Add([]byte(line), true)
	}
	from := metadata.Pairs("gatekeeper-from", "10.0.0.1:7")
	api := new(refusingAPI)
	gateways := make(map[bool]*Gateway)
	for _, authenticate := range []bool{false, true} {
		g, err := New(Config{
			API: api, Caller: func(*http.Request) metadata.MD { return from.Copy() }, Source: func(*http.Request) netip.Prefix { return netip.Prefix{} },
			Authenticate: authenticate, Secure: authenticate,
		})
		if err != nil {
			f.Fatal(err)
		}
		gateways[authenticate] = g
	}
	f.Fuzz(func(t *testing.T, data []byte, authenticate bool) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return // rejected by net/http
		}
		r.RemoteAddr = "10.0.0.1:7"
		api.md = nil
		w := httptest.NewRecorder()
		gateways[authenticate].ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusNotImplemented {
			t.Errorf("%q: got status %d, want no server error: %s", data, w.Code, w.Body)
		}
		if h := w.Result().Header; !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%q: the response lacks security headers: %v", data, h)
		}
		for name, values := range api.md {
			switch {
			case name == "gatekeeper-from" && len(values) == 1 && values[0] == "10.0.0.1:7":
			case name == authorization && (len(r.Header.Values("Authorization"))+len(r.Header.Values("Cookie")) > 0 || r.URL.Path == "/session"):
			default:
				t.Errorf("%q: the API received metadata %s: %q", data, name, values)
			}
		}
		if api.md != nil && w.Code < 400 && r.URL.Path != "/session" {
			t.Errorf("%q: got %d %s, even though the API refused the call", data, w.Code, w.Body)
		}
	})
}
