package api

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// These headers describe the caller of a forwarded call. SubjectHeader carries its subjects, and PinHeader carries the
// acquirers to which its certificate is pinned. They are accepted only from members. All names are frozen.
const (
	SubjectHeader = "gatekeeper-subject-bin" // names need not be ASCII
	PinHeader     = "gatekeeper-pin-bin"
	// SourceHeader carries the caller's address. This server's gateway also sends it.
	SourceHeader = "gatekeeper-source"
)

// memberSubject is the prefix of SubjectHeader for a call that a member makes on its own behalf. The member's
// certificate in DER follows it, if available. The prefix is frozen.
const memberSubject = "member:"

// authorization is the header for bearer tokens.
const authorization = "authorization"

// retryableError refuses or ends a call that should succeed when retried: its caller has not been authenticated yet, or
// now maps to a different principal.
type retryableError struct{ why string }

func (e *retryableError) Error() string { return e.why + ": retry the call" }

// authStarting is the reason for refusals until the leader has bound the first administrator, shortly after a cluster
// is created or upgraded. Streams opened before then end for the same reason.
const authStarting = "the cluster is about to start authenticating its callers"

// A caller is the client making a call. A nil caller has full access, because the server does not authenticate callers.
type caller struct {
	api        *API
	credential auth.Credential
	member     bool // another member, calling on its own behalf
	// source is the caller's address. via is the member that forwarded the call, if any.
	source, via string
	// bearer is the authorization header, which is a secret.
	bearer string
	// certificate is a member's certificate, for calls by that member. Nil means that the call comes from this server,
	// or from the member that forwarded it.
	certificate *x509.Certificate
	// verified reports whether the caller has a client certificate or an older member forwarded its call.
	verified bool
}

type callerKey struct{}

// caller returns the client making a call, or nil if callers are not authenticated. If the call did not go through
// authenticate, the caller has no credentials.
func (a *API) caller(ctx context.Context) *caller {
	if !a.cfg.Authenticate {
		return nil
	}
	switch c := callerIn(ctx); {
	case c == nil:
		return &caller{api: a}
	case c.beforeBindings():
		return nil
	default:
		return c
	}
}

// beforeBindings reports whether the caller has full access because the cluster cannot store bindings yet. It cannot
// while any member runs a version without bindings, and such versions give full access to callers with certificates. A
// server that has just started may have an old state, so it must catch up first.
func (c *caller) beforeBindings() bool {
	return c.verified && c.api.cfg.Machine.State().FeatureLevel() < fsm.AccessLevel && c.api.caughtUp()
}

// caughtUp reports whether this server has applied all committed entries at least once since it started.
func (a *API) caughtUp() bool {
	if !a.everCaughtUp.Load() && a.cfg.Consensus.Ready() == nil {
		a.everCaughtUp.Store(true)
	}
	return a.everCaughtUp.Load()
}

// callerIn returns the caller that authenticate stored in the context, or nil.
func callerIn(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// unauthenticatedError refuses a call with an unknown credential. It reveals nothing about other callers.
type unauthenticatedError struct{ why string }

func (e *unauthenticatedError) Error() string { return "unauthenticated: " + e.why }

// forbiddenError refuses a call for which the principal lacks a role.
type forbiddenError struct {
	principal string
	role      access.Role
	what      string // completes the sentence "lacks the role viewer ..."
}

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("forbidden: principal %q lacks the role %s %s; an administrator can grant it with gkctl auth bind", e.principal, e.role, e.what)
}

// authenticate determines the credential of a call before its message is read. The principal is determined later, by
// the server that executes the call. The returned context carries the caller even if there is an error.
func (a *API) authenticate(ctx context.Context) (context.Context, error) {
	if !a.cfg.Authenticate {
		return ctx, nil
	}
	c := &caller{api: a, source: sourceOf(ctx)}
	return context.WithValue(ctx, callerKey{}, c), c.readCredentials(ctx)
}

func (c *caller) readCredentials(ctx context.Context) error {
	a, chain := c.api, verifiedChain(ctx)
	c.verified = len(chain) > 0
	switch hops := metadata.ValueFromIncomingContext(ctx, HopHeader); {
	case len(hops) > 0 && !a.isMember(chain, hops[len(hops)-1]):
		return &unauthenticatedError{"only members of the cluster may forward calls"}
	case len(hops) > 0:
		c.credential.Subjects = metadata.ValueFromIncomingContext(ctx, SubjectHeader)
		c.recognizeMember()
		c.via = hops[len(hops)-1]
		if source := metadata.ValueFromIncomingContext(ctx, SourceHeader); len(source) == 1 { // older members send none
			c.source, c.verified = source[0], c.member || len(c.credential.Subjects) > 0
		}
		c.credential.Acquirers = metadata.ValueFromIncomingContext(ctx, PinHeader)
	case !fromGateway(ctx) && a.belongsToMember(chain): // members do not use the HTTP port
		c.member, c.certificate = true, chain[0]
	case len(chain) > 0:
		c.credential = auth.FromCertificate(chain[0])
	}
	if bearer := metadata.ValueFromIncomingContext(ctx, authorization); len(bearer) > 0 {
		if err := c.readBearer(ctx, bearer); err != nil {
			return err
		}
	}
	if c.credential.IsZero() && !c.member && !c.beforeBindings() {
		return &unauthenticatedError{"no credentials: the call has no named client certificate and no bearer token"}
	}
	return nil
}

func addressOf(source string) netip.Addr {
	at, _ := netip.ParseAddrPort(source) // the zero address counts as a source too
	return at.Addr()
}

// readBearer reads the caller's token, which is either one that this cluster issued or a JWT. A valid JWT is accepted
// even from an address that is blocked for invalid tokens, because it is not a guess: many pods may share an address,
// and each presents a new JWT every hour.
func (c *caller) readBearer(ctx context.Context, headers []string) error {
	var err error = &unauthenticatedError{"the authorization header is not \"Bearer\" followed by a single token for this cluster"}
	id, hash, ok := auth.ParseBearer(headers[0])
	scheme, jwt, _ := strings.Cut(headers[0], " ")
	if c.api.cfg.OIDC != nil && !ok && len(headers) == 1 && strings.EqualFold(scheme, "bearer") {
		c.credential.Login, err = c.api.cfg.OIDC.Verify(ctx, strings.TrimSpace(jwt))
		refused, isRefused := errors.AsType[*oidc.RefusedError](err)
		if !isRefused {
			return err
		}
		return c.refuseJWT(headers[0], &unauthenticatedError{refused.Error()})
	}
	if !ok || len(headers) > 1 {
		return err
	}
	c.bearer, c.credential.Token, c.credential.Hash = headers[0], id, hash
	return nil
}

// refuseJWT counts a refused JWT and returns the error for the caller.
func (c *caller) refuseJWT(header string, refused error) error {
	c.bearer = header
	if blocked := c.admit(); blocked != nil {
		return blocked
	}
	c.countFailure()
	return refused
}

// admit refuses a token from an address that has presented too many invalid ones. Only the server that verifies the
// token performs this check, because other servers cannot tell which tokens were valid.
func (c *caller) admit() error {
	if c.bearer == "" {
		return nil
	}
	return c.api.cfg.InvalidTokens.Admit(addressOf(c.source), c.bearer)
}

// verifiedChain returns the client's verified certificate chain, leaf first, or nil if the client has none.
func verifiedChain(ctx context.Context) []*x509.Certificate {
	if fromGateway(ctx) {
		return gatewayChain(ctx)
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return nil
	}
	return info.State.VerifiedChains[0]
}

// setHeaders sets the headers that identify the caller to the leader.
func (c *caller) setHeaders(md metadata.MD) {
	md.Delete(SubjectHeader)
	md.Delete(PinHeader)
	md.Delete(SourceHeader)
	if c != nil {
		md.Set(SourceHeader, c.source)
	}
	switch {
	case c == nil:
	case c.member:
		md.Set(SubjectHeader, memberSubject+string(c.der()))
	default:
		md.Append(SubjectHeader, c.credential.Subjects...)
		md.Append(PinHeader, c.credential.Acquirers...)
	}
}

// principal returns the caller's principal according to this server's state.
func (c *caller) principal() (*auth.Principal, *fsm.State, error) {
	state := c.api.cfg.Machine.State()
	if state.AccessRevision() == 0 {
		return nil, state, &retryableError{authStarting}
	}
	if c.member {
		return nil, state, &unauthenticatedError{"this is a member's certificate, which cannot be used to log in: use one created by gkctl cert client"}
	}
	p, err := c.api.directory.At(state).Principal(&c.credential, time.Now())
	if unknown, ok := errors.AsType[*auth.UnknownError](err); ok {
		return nil, state, &unauthenticatedError{unknown.Error()}
	}
	return p, state, err
}

// authorize returns the caller's principal if it has the permission. Before a leader refuses, it confirms that its
// state includes all committed entries, because a newly elected leader may lack a recent binding. A follower never
// refuses a call because a permission is missing: it refers the caller to the leader.
func (c *caller) authorize(ctx context.Context, allowed permission) (*auth.Principal, error) {
	p, err := c.checkLocally(allowed)
	switch {
	case err == nil:
		return p, nil
	case c.api.forward.isLeader():
	case p == nil: // the leader's address is not revealed to unknown callers
		c.countFailure()
		return nil, &retryableError{"this server does not recognize the caller yet"}
	default:
		return nil, &consensus.NotLeaderError{Leader: c.api.cfg.Consensus.Leader()}
	}
	if _, readErr := c.api.reader.Read(ctx); readErr != nil {
		return nil, readErr
	}
	if p, err = c.checkLocally(allowed); p == nil {
		c.countFailure()
	}
	return p, err
}

// checkLocally checks the permission against this server's state, without a Confirm. If it returns a principal with an
// error, the error came from the permission check.
func (c *caller) checkLocally(allowed permission) (*auth.Principal, error) {
	p, state, err := c.principal()
	if err != nil {
		return nil, err
	}
	if c.bearer != "" {
		c.api.cfg.InvalidTokens.Succeeded(addressOf(c.source), c.bearer)
	}
	return p, allowed(p, state)
}

// countFailure counts an invalid bearer token.
func (c *caller) countFailure() {
	if c.bearer != "" {
		c.api.cfg.InvalidTokens.Failed(addressOf(c.source), c.bearer)
	}
}

// permission returns nil if the state allows the principal to perform an operation. Otherwise, it returns the reason.
type permission func(p *auth.Principal, state *fsm.State) error

// hasRole requires one of the roles on any semaphore. If no roles are given, it accepts every principal.
func hasRole(roles ...access.Role) permission {
	return func(p *auth.Principal, _ *fsm.State) error {
		if len(roles) == 0 || slices.ContainsFunc(roles, p.Has) {
			return nil
		}
		return &forbiddenError{p.Name(), roles[0], "anywhere"}
	}
}

// viewFilter returns a function that reports whether the caller may view a semaphore, or nil if every semaphore is
// visible.
func (a *API) viewFilter(ctx context.Context) func(state *fsm.State, name string) bool {
	c := a.caller(ctx)
	if !a.cfg.Authenticate {
		return nil
	}
	if c == nil {
		c = callerIn(ctx)
	}
	return func(state *fsm.State, name string) bool {
		if c.beforeBindings() {
			return true
		}
		p, _, err := c.principal() // a stream may outlive a change to the bindings
		return err == nil && p.May(access.Viewer, state, name)
	}
}

// mayView requires the viewer role on a semaphore.
func mayView(sem string) permission {
	return func(p *auth.Principal, state *fsm.State) error {
		if p.May(access.Viewer, state, sem) {
			return nil
		}
		return &forbiddenError{p.Name(), access.Viewer, "on semaphore " + strconv.Quote(sem)}
	}
}

// requireViewAll returns an error unless the caller may view every semaphore.
func (a *API) requireViewAll(ctx context.Context) error {
	c := a.caller(ctx)
	if c == nil {
		return nil
	}
	_, err := c.authorize(ctx, mayViewAll)
	return err
}

// mayViewAll requires the viewer role without a scope.
func mayViewAll(p *auth.Principal, _ *fsm.State) error {
	if p.HasEverywhere(access.Viewer) {
		return nil
	}
	return &forbiddenError{p.Name(), access.Viewer, "on every semaphore"}
}

// canViewAll reports whether the caller may view every semaphore, and isAdministrator whether it has the admin role.
// They are used to filter responses, never to refuse a call.
func (a *API) canViewAll(ctx context.Context) bool {
	return a.checkPrincipal(ctx, func(p *auth.Principal) bool { return p.HasEverywhere(access.Viewer) })
}

func (a *API) isAdministrator(ctx context.Context) bool {
	return a.checkPrincipal(ctx, func(p *auth.Principal) bool { return p.Has(access.Admin) })
}

func (a *API) checkPrincipal(ctx context.Context, holds func(p *auth.Principal) bool) bool {
	c := a.caller(ctx)
	if c == nil {
		return true
	}
	p, _, err := c.principal()
	return err == nil && holds(p)
}

// visible reports whether the caller may view the named semaphore.
func (a *API) visible(ctx context.Context, state *fsm.State, name string) bool {
	viewFilter := a.viewFilter(ctx)
	return viewFilter == nil || viewFilter(state, name)
}

// ownerOf returns the owner that a principal acts as. A permit granted without authentication belongs to every
// principal that may acquire it.
func ownerOf(p *auth.Principal, state *fsm.State) semaphore.Owner {
	o := semaphore.OwnerOf(p.Name())
	o.Unowned = func(sem string, id semaphore.Identity) bool { return p.MayAs(access.Acquirer, state, sem, id) }
	return o
}

// owner returns the owner whose permits a call by token may use. identity is the identity named in the call, or nil.
func (a *API) owner(ctx context.Context, identity *semaphore.Identity) (semaphore.Owner, error) {
	o := semaphore.Owner{Identity: identity}
	if c := a.caller(ctx); c != nil {
		p, err := c.authorize(ctx, hasRole(access.Acquirer))
		if err != nil {
			return o, err
		}
		o = ownerOf(p, a.cfg.Machine.State())
		o.Identity = identity
	}
	return o, nil
}
