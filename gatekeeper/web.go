package gatekeeper

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/gateway"
)

// web serves the dashboard and the JSON API on the HTTP port. It calls this server's API over an in-memory connection,
// so that the same rules apply to every call. A nil *web means that the port is off.
type web struct {
	server   *http.Server
	listener net.Listener
	memory   *bufconn.Listener
	conn     *grpc.ClientConn
}

// memoryBuffer is the size of the in-memory connection's buffer in each direction. maxResponse is the maximum size of
// an API response, the same as for a forwarded call.
const (
	memoryBuffer = 256 << 10
	maxResponse  = 64 << 20
)

// openWeb opens the HTTP port, unless it is off.
func (s *Server) openWeb() error {
	if s.listeners.HTTP == nil {
		return nil
	}
	l, err := s.secureListener(s.listeners.HTTP)
	if err != nil {
		return err
	}
	memory := bufconn.Listen(memoryBuffer)
	conn, err := grpc.NewClient("passthrough:///gateway",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return memory.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableRetry(), // the caller retries
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxResponse)),
	)
	if err != nil {
		return err
	}
	handler, err := gateway.New(gateway.Config{
		API: conn, Caller: api.GatewayCaller, Source: api.GatewaySource, Authenticate: s.cfg.authenticates(), Secure: l != s.listeners.HTTP,
	})
	if err != nil {
		return err
	}
	s.web = &web{
		server: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       10 * time.Second, // the handler extends it once it has read the body, and bounds each write
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		},
		listener: l, memory: memory, conn: conn,
	}
	s.onClose(func(context.Context) error { return conn.Close() })
	return nil
}

// drainTimeout is how long requests in progress may take once the streams have ended. Browsers open connections in
// advance, and http.Server.Shutdown would wait five seconds for a request on such a connection.
const drainTimeout = 3 * time.Second

// drain waits for the requests in progress. Event streams have already ended, along with the API's streams.
func (w *web) drain(ctx context.Context) {
	if w == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	if w.server.Shutdown(ctx) != nil { // ctx has ended
		_ = w.server.Close()
	}
}

// close cuts off the remaining requests.
func (w *web) close() {
	if w == nil {
		return
	}
	_ = w.server.Close() // the listener may be closed already
	_ = w.memory.Close()
}
