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

// Config is the configuration of a Gateway.
type Config struct {
	// API is a connection to this server's API that only the gateway uses.
	API grpc.ClientConnInterface
	// Caller returns the metadata that identifies the sender of a request to the API. The gateway adds the bearer
	// token.
	Caller func(*http.Request) metadata.MD
	// Source returns the address that a request counts against for per-address limits.
	Source func(*http.Request) netip.Prefix
	// Authenticate means that the API requires a credential from each caller.
	Authenticate bool
	// Secure means that the port is served over TLS.
	Secure bool
}

// Gateway is the handler for the HTTP port. It is safe for concurrent use.
type Gateway struct {
	cfg         Config
	api         api
	mux         *runtime.ServeMux
	files       files
	crossOrigin *http.CrossOriginProtection
	bodies      bodies
}

//go:embed openapi.swagger.json
var openAPI []byte

// New returns a Gateway. A request ends when its context does, or when the API ends its stream.
func New(cfg Config) (*Gateway, error) {
	g := &Gateway{cfg: cfg, api: api{cfg.API}, files: dashboardFiles(), crossOrigin: http.NewCrossOriginProtection()}
	dropAll := func(string) (string, bool) { return "", false } // headers are not copied in either direction; see caller.go
	g.mux = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithIncomingHeaderMatcher(dropAll),
		runtime.WithOutgoingHeaderMatcher(dropAll),
		runtime.WithOutgoingTrailerMatcher(dropAll),
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithErrorHandler(handleError),
		runtime.WithRoutingErrorHandler(handleNoRoute),
		runtime.WithMiddlewares(withRoute),
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

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	w := newWriter(plain)
	body := &countedBody{ReadCloser: r.Body, counter: &g.bodies, source: g.cfg.Source(r)}
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
		// The library would unescape a path before splitting it, but names may contain slashes. It gets the escaped
		// path instead, and withRoute unescapes the names.
		r.URL.Path, r.URL.RawPath = r.URL.EscapedPath(), ""
		g.mux.ServeHTTP(w, r)
	default:
		g.files.serve(w, r)
	}
}

// route holds a request's path and query parameters.
type route struct {
	path  map[string]string
	query url.Values
}

type routeKey struct{}

// withRoute parses the names in the path and the query.
func withRoute(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			writeError(w, invalid("", "malformed query: "+err.Error()))
			return
		}
		for name, text := range path {
			if path[name], err = url.PathUnescape(text); err != nil || !utf8.ValidString(path[name]) {
				writeError(w, invalid(name, "must be percent-encoded, valid UTF-8"))
				return
			}
		}
		if hasBody(r) && len(query) > 0 {
			writeError(w, invalid("", "the fields of a "+r.Method+" request belong in its body: omit the query"))
			return
		}
		r.Body = &body{r.Body, path}
		next(w, r.WithContext(context.WithValue(r.Context(), routeKey{}, &route{path, query})), path)
	}
}

// hasBody reports whether requests with this method have a body.
func hasBody(r *http.Request) bool { return r.Method == http.MethodPost || r.Method == http.MethodPut }
