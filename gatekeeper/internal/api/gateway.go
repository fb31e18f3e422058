package api

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
)

// certificateHeader carries the client certificate of a caller on the HTTP port, in DER. This header and SourceHeader
// are accepted from this server's gateway, which is recognized by an in-memory connection that no other process can
// open.
const certificateHeader = "gatekeeper-certificate-bin"

// GatewayListener marks the connections accepted by l as coming from the gateway. The listener must be reachable only
// by the gateway.
func GatewayListener(l net.Listener) net.Listener { return gatewayListener{l} }

type gatewayListener struct{ net.Listener }

func (l gatewayListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return gatewayConn{conn}, nil
}

type gatewayConn struct{ net.Conn }

// gatewayInfo is the AuthInfo of a connection from the gateway.
type gatewayInfo struct{ credentials.CommonAuthInfo }

func (gatewayInfo) AuthType() string { return "gateway" }

// portCredentials are the API port's credentials. Connections from the gateway are in memory and need no TLS.
type portCredentials struct {
	credentials.TransportCredentials
}

func (a *API) portCredentials() credentials.TransportCredentials {
	if a.tls == nil {
		return portCredentials{insecure.NewCredentials()}
	}
	return portCredentials{credentials.NewTLS(a.tls)}
}

func (c portCredentials) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if own, ok := conn.(gatewayConn); ok {
		return own, gatewayInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
	}
	return c.TransportCredentials.ServerHandshake(conn)
}

func (c portCredentials) Clone() credentials.TransportCredentials {
	return portCredentials{c.TransportCredentials.Clone()}
}

// GatewayCaller returns the metadata by which the gateway identifies a request's sender: the address and, if there is
// one, the client certificate.
func GatewayCaller(r *http.Request) metadata.MD {
	md := metadata.Pairs(SourceHeader, r.RemoteAddr)
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		md.Set(certificateHeader, string(r.TLS.VerifiedChains[0][0].Raw))
	}
	return md
}

// GatewaySource returns the source of an HTTP request for per-address limits.
func GatewaySource(r *http.Request) netip.Prefix { return guessing.SourceOf(addressOf(r.RemoteAddr)) }

// fromGateway reports whether a call came through this server's gateway.
func fromGateway(ctx context.Context) bool {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return false
	}
	_, isGateway := p.AuthInfo.(gatewayInfo)
	return isGateway
}

// gatewayValue returns a header that the gateway set, or an empty string.
func gatewayValue(ctx context.Context, header string) string {
	if values := metadata.ValueFromIncomingContext(ctx, header); len(values) == 1 {
		return values[0]
	}
	return ""
}

// gatewayChain returns the client certificate of a caller on the HTTP port, or nil. The port has already verified it.
func gatewayChain(ctx context.Context) []*x509.Certificate {
	cert, err := x509.ParseCertificate([]byte(gatewayValue(ctx, certificateHeader)))
	if err != nil {
		return nil
	}
	return []*x509.Certificate{cert}
}

// gatewayClient identifies a client on the HTTP port. A connection cannot identify it, because the gateway uses one
// connection for all clients.
type gatewayClient struct {
	source              netip.Prefix
	bearer, certificate string
}

func gatewayClientOf(ctx context.Context) gatewayClient {
	return gatewayClient{
		guessing.SourceOf(addressOf(gatewayValue(ctx, SourceHeader))),
		gatewayValue(ctx, authorization), gatewayValue(ctx, certificateHeader),
	}
}
