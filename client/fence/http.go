package fence

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
)

// Header is the HTTP header that carries a request's token.
const Header = "Gatekeeper-Token"

// Handler passes a request to next if its token is not older than the newest token seen. GET, HEAD and OPTIONS requests
// need no token. A request without a token gets status 428 Precondition Required, and a request with a stale token gets
// 412 Precondition Failed. Both responses have a human-readable body.
//
// Once a request with a newer token arrives, older tokens are rejected, and the request waits for running requests with
// older tokens to finish. Requests from the same holder can run concurrently; requests from different holders never do.
// Without a Store, the newest token is lost when the process exits, and a stale token could then be accepted until the
// next holder's first request. Handler does not authenticate tokens; the handlers in front of it must decide who can
// send requests.
func Handler(next http.Handler, opts ...HandlerOption) http.Handler {
	h := &handler{next: next, resource: func(*http.Request) string { return "" }, gates: make(map[string]*gate)}
	for _, o := range opts {
		o(h)
	}
	return h
}

// HandlerOption is an option for Handler.
type HandlerOption func(*handler)

// WithResource sets a function that returns the name of the resource a request writes to. Only tokens for the same name
// are compared; see the package comment. The handler uses a small amount of memory for each name it has seen. By
// default, all requests write to a single resource.
func WithResource(f func(*http.Request) string) HandlerOption {
	return func(h *handler) { h.resource = f }
}

// Store keeps the newest token for each resource.
type Store interface {
	// Raise stores token unless a newer one is already stored, in which case it returns a *StaleError. Any other error
	// comes from the underlying storage. If Raise returns nil, the token must be durable.
	Raise(ctx context.Context, resource string, token uint64) error
}

// WithStore keeps the newest tokens in s, so that they survive process restarts; see SQL.Store. Raise is called once
// for each new token. If it fails, the request gets status 503.
func WithStore(s Store) HandlerOption { return func(h *handler) { h.store = s } }

type handler struct {
	next     http.Handler
	resource func(*http.Request) string
	store    Store // nil if tokens are kept in memory only

	mu    sync.Mutex // guards gates
	gates map[string]*gate
}

// ServeHTTP checks the token and passes the request to the next handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		h.next.ServeHTTP(w, r)
		return
	}
	text := r.Header.Get(Header)
	if text == "" {
		http.Error(w, ErrNoToken.Error()+": send it in the "+Header+" header", http.StatusPreconditionRequired)
		return
	}
	token, err := strconv.ParseUint(text, 10, 64)
	if err != nil || token == 0 {
		http.Error(w, "the "+Header+" header does not contain a fencing token", http.StatusBadRequest)
		return
	}
	g := h.gate(h.resource(r))
	leave, err := g.enter(r.Context(), token, h.store)
	if err != nil {
		status := http.StatusServiceUnavailable
		if _, ok := errors.AsType[*StaleError](err); ok {
			status = http.StatusPreconditionFailed
		}
		http.Error(w, err.Error(), status)
		return
	}
	defer leave()
	h.next.ServeHTTP(w, r)
}

func (h *handler) gate(resource string) *gate {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.gates[resource]
	if g == nil {
		g = &gate{resource: resource, changed: make(chan struct{})}
		h.gates[resource] = g
	}
	return g
}

// gate admits requests to a resource, one token at a time.
type gate struct {
	resource string

	mu      sync.Mutex // guards everything below
	newest  uint64     // the greatest token seen
	stored  uint64     // the greatest token known to be in the store
	storing bool
	inside  uint64 // the token of the running requests
	count   int    // the number of running requests
	changed chan struct{}
}

// enter waits until the running requests with older tokens have finished. The caller must call leave when its request
// ends.
func (g *gate) enter(ctx context.Context, token uint64, store Store) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.newest = max(g.newest, token)
	for {
		switch {
		case token < g.newest:
			return nil, &StaleError{Resource: g.resource, Token: token, Newest: g.newest}
		case store != nil && g.stored < token && !g.storing:
			if err := g.raise(ctx, token, store); err != nil {
				return nil, err
			}
			continue // the token may have become stale in the meantime
		case (store == nil || g.stored >= token) && (g.count == 0 || g.inside == token):
			g.inside = token
			g.count++
			return g.leave, nil
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// raise writes the token to the store. The caller holds mu, which raise unlocks during the write.
func (g *gate) raise(ctx context.Context, token uint64, store Store) error {
	g.storing = true
	g.mu.Unlock()
	err := store.Raise(ctx, g.resource, token)
	g.mu.Lock()
	g.storing = false
	if stale, ok := errors.AsType[*StaleError](err); ok {
		g.newest = max(g.newest, stale.Newest)
		g.stored = max(g.stored, stale.Newest)
	}
	if err == nil {
		g.stored = max(g.stored, token)
	}
	g.wake()
	return err
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.count--; g.count == 0 {
		g.wake()
	}
}

// wake makes all waiting requests check again. The caller holds mu.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Transport returns a RoundTripper that sends the token from the request's context in Header. A nil base means
// http.DefaultTransport. In a job:
//
//	http.Client{Transport: fence.Transport(nil, client.TokenOf)}
//
// If the context has no token, the request is sent without one.
func Transport(base http.RoundTripper, token func(context.Context) uint64) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return transport{base, token}
}

type transport struct {
	base  http.RoundTripper
	token func(context.Context) uint64
}

// RoundTrip sends a copy of the request with the header set.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if token := t.token(r.Context()); token != 0 {
		r = r.Clone(r.Context())
		r.Header.Set(Header, strconv.FormatUint(token, 10))
	}
	return t.base.RoundTrip(r)
}
