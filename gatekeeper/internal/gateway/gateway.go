package gateway

import (
	"context"
	_ "embed"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	gen "github.com/gatekeeperd/gatekeeper/gatekeeper/internal/gateway/gen/gatekeeper/v1"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Config is what a gateway needs.
type Config struct {
	// API is a connection to the API of this server that only the gateway has.
	API grpc.ClientConnInterface
	// Caller is the metadata by which the API learns who has sent a request. The gateway adds the bearer token.
	Caller func(*http.Request) metadata.MD
	// Source is the address of a request, as limits of single addresses count it.
	Source func(*http.Request) netip.Prefix
	// Authenticate says that the API asks each caller for a credential.
	Authenticate bool
	// Secure says that the port is served by TLS.
	Secure bool
}

// Gateway is the handler of the HTTP port. It may be used from any goroutine.
type Gateway struct {
	cfg    Config
	api    api
	mux    *runtime.ServeMux
	files  files
	cross  *http.CrossOriginProtection
	bodies bodies
}

//go:embed openapi.swagger.json
var openAPI []byte

// New returns a gateway. Its requests end with their contexts, or with the API's streams.
func New(cfg Config) (*Gateway, error) {
	g := &Gateway{cfg: cfg, api: api{cfg.API}, files: dashboardFiles(), cross: http.NewCrossOriginProtection()}
	nothing := func(string) (string, bool) { return "", false } // headers pass in neither direction, see caller.go
	g.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithIncomingHeaderMatcher(nothing),
		runtime.WithOutgoingHeaderMatcher(nothing),
		runtime.WithOutgoingTrailerMatcher(nothing),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithErrorHandler(handleError),
		runtime.WithRoutingErrorHandler(handleNoRoute),
		runtime.WithMiddlewares(routed),
	)
	ctx := context.Background()
	for _, err := range []error{
		gen.RegisterDefinitionServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewDefinitionServiceClient(g.api)),
		gen.RegisterPermitServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewPermitServiceClient(g.api)),
		gen.RegisterOperatorServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewOperatorServiceClient(g.api)),
		gen.RegisterWorkServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewWorkServiceClient(g.api)),
		gen.RegisterClusterServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewClusterServiceClient(g.api)),
		gen.RegisterAuthServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewAuthServiceClient(g.api)),
		gen.RegisterWatchServiceHandlerClient(ctx, g.mux, gatekeeperv1.NewWatchServiceClient(g.api)),
	} {
		if err != nil {
			return nil, err
		}
	}
	if err := g.mux.HandlePath(http.MethodPost, "/v1/jobs", g.submitJob); err != nil {
		return nil, err
	}
	for _, s := range streamRoutes() {
		if err := g.mux.HandlePath(s.verb, s.pattern, s.serve(g)); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// ServeHTTP answers a request.
func (g *Gateway) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	w := newWriter(plain)
	body := &countedBody{ReadCloser: r.Body, in: &g.bodies, source: g.cfg.Source(r)}
	defer body.free()
	r.Body = body
	r, err := g.admit(w, r)
	if err != nil {
		writeError(w, err)
		return
	}
	switch path := r.URL.Path; {
	case path == "/v1/openapi.json" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI)
	case path == "/session":
		g.serveSession(w, r)
	case strings.HasPrefix(path, "/v1/"):
		// The library would unescape a path before it splits it, and names may have slashes. So it gets the path as it
		// was sent, and routed unescapes the names.
		r.URL.Path, r.URL.RawPath = r.URL.EscapedPath(), ""
		g.mux.ServeHTTP(w, r)
	default:
		g.files.serve(w, r)
	}
}

// route is what the path and the query of a request say.
type route struct {
	path  map[string]string
	query url.Values
}

type routeKey struct{}

// routed reads the names in the path, and what is not in the body.
func routed(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			writeError(w, invalid("", "the query "+err.Error()))
			return
		}
		for name, text := range path {
			if path[name], err = url.PathUnescape(text); err != nil || !utf8.ValidString(path[name]) {
				writeError(w, invalid(name, "must be valid UTF-8 with percent-encoding"))
				return
			}
		}
		if hasBody(r) && len(query) > 0 {
			writeError(w, invalid("", "the fields of a "+r.Method+" are in its body: leave out the query"))
			return
		}
		r.Body = &body{r.Body, path}
		next(w, r.WithContext(context.WithValue(r.Context(), routeKey{}, &route{path, query})), path)
	}
}

// hasBody reports whether requests of that method have a body.
func hasBody(r *http.Request) bool { return r.Method == http.MethodPost || r.Method == http.MethodPut }
