package fence

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
)

// Header carries the token of a request.
const Header = "Gatekeeper-Token"

// Handler lets requests through to next that carry a token which is not older than the newest seen. GET, HEAD and
// OPTIONS need none. A request without a token is answered by 428 Precondition Required, one that is stale by 412
// Precondition Failed, each with a sentence for a person.
//
// A newer token shuts out the older ones at once, and waits until the requests that they have under way have ended:
// requests of one holder run beside each other, requests of two never do. Without a Store the newest token is forgotten
// when the process ends, and a stale one could pass until the next holder's first request. Tokens are believed: who may
// send requests at all is for the handlers before this one.
func Handler(next http.Handler, opts ...HandlerOption) http.Handler {
	h := &handler{next: next, resource: func(*http.Request) string { return "" }, gates: make(map[string]*gate)}
	for _, o := range opts {
		o(h)
	}
	return h
}

// HandlerOption is an option of Handler.
type HandlerOption func(*handler)

// WithResource says what a request writes to, by the name within which tokens are compared; see the package comment.
// The handler keeps a few words for each name that it has seen. Default: one for all.
func WithResource(f func(*http.Request) string) HandlerOption {
	return func(h *handler) { h.resource = f }
}

// Store remembers the newest token of each resource.
type Store interface {
	// Raise stores token unless a newer one is stored. The error is a *StaleError then, or that of the storage. When it
	// returns nil the token must not be lost.
	Raise(ctx context.Context, resource string, token uint64) error
}

// WithStore keeps the newest tokens where they outlast the process; see SQL.Store. When a Store fails, the answer is
// 503. It is asked once for each new token.
func WithStore(s Store) HandlerOption { return func(h *handler) { h.store = s } }

type handler struct {
	next     http.Handler
	resource func(*http.Request) string
	store    Store // nil: none

	mu    sync.Mutex // guards gates
	gates map[string]*gate
}

// ServeHTTP checks the token, and hands the request on.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		h.next.ServeHTTP(w, r)
		return
	}
	text := r.Header.Get(Header)
	if text == "" {
		http.Error(w, ErrNoToken.Error()+": send it as "+Header, http.StatusPreconditionRequired)
		return
	}
	token, err := strconv.ParseUint(text, 10, 64)
	if err != nil || token == 0 {
		http.Error(w, Header+" is not a fencing token", http.StatusBadRequest)
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

// gate lets the requests of one token at a time to a resource.
type gate struct {
	resource string

	mu      sync.Mutex // guards everything below
	newest  uint64     // the greatest token that was seen
	stored  uint64     // the greatest token that the store has
	storing bool
	inside  uint64 // the token of the requests that are under way
	count   int    // how many they are
	changed chan struct{}
}

// enter waits until the requests of older tokens have ended. leave must be called when the request has ended.
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
			continue // it may be stale by now
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

// raise updates the store. The caller holds mu, which is free meanwhile.
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

// wake has all that wait look again. The caller holds mu.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Transport sends the token of a request's context along; base is http.DefaultTransport when it is nil. In a job:
//
//	http.Client{Transport: fence.Transport(nil, client.TokenOf)}
//
// A request whose context has no token is sent without one.
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
