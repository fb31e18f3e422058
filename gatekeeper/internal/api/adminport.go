package api

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
)

// AdminPort wraps the admin port's pages in access checks. Pages without a rule below require the admin role.
//
// Each server decides based on its local state and never consults the leader. A server that lags behind may briefly
// refuse a caller that was authorized only recently.
func (a *API) AdminPort(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, allowed := "admin port: debug", mayAdminister
		switch r.URL.Path {
		case "/healthz", "/readyz": // probes have no credentials
			if a.cfg.Authenticate {
				w = statusOnly{w}
			}
			pages.ServeHTTP(w, r)
			return
		case "/", "/metrics":
			page, allowed = "admin port: metrics", mayViewAll
		}
		if err := a.authorizePage(r, page, allowed); err != nil {
			refuse(w, err)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// statusOnly discards response bodies.
type statusOnly struct{ http.ResponseWriter }

func (statusOnly) Write(b []byte) (int, error) { return len(b), nil }

// authorizePage checks whether the caller may see a page. A refusal is audited.
func (a *API) authorizePage(r *http.Request, page string, allowed permission) error {
	remote := &peer.Peer{Addr: &net.TCPAddr{}}
	if addr, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		remote.Addr = net.TCPAddrFromAddrPort(addr)
	}
	if r.TLS != nil {
		remote.AuthInfo = credentials.TLSInfo{State: *r.TLS}
	}
	ctx := metadata.NewIncomingContext(peer.NewContext(r.Context(), remote), metadata.MD{authorization: r.Header.Values("Authorization")})
	ctx, err := a.authenticate(ctx)
	if c := a.caller(ctx); err == nil && c != nil {
		var p *auth.Principal
		if err = c.admit(); err == nil {
			if p, err = c.checkLocally(allowed); p == nil {
				c.countFailure()
			}
		}
	}
	a.auditCall(ctx, page, nil, nil, err)
	return err
}

// refuse writes the response to a refused request.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusServiceUnavailable
	if _, ok := errors.AsType[*unauthenticatedError](err); ok {
		code = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if _, ok := errors.AsType[*forbiddenError](err); ok {
		code = http.StatusForbidden
	}
	if blocked, ok := errors.AsType[*guessing.BlockedError](err); ok {
		code = http.StatusTooManyRequests
		w.Header().Set("Retry-After", decimal(uint64((blocked.Retry+time.Second-1)/time.Second)))
	}
	http.Error(w, err.Error(), code)
}
