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

// SubjectHeader names the subjects of a caller whose call a member passes on, and PinHeader the acquirers to which its
// certificate pins it. They are taken from members only. All are frozen.
const (
	SubjectHeader = "gatekeeper-subject-bin" // names need not be ASCII
	PinHeader     = "gatekeeper-pin-bin"
	// SourceHeader is the address of the caller. The gateway of this server sends it too.
	SourceHeader = "gatekeeper-source"
)

// memberSubject stands in SubjectHeader for a member that calls for itself; its certificate follows, in DER. It is
// frozen.
const memberSubject = "member:"

// authorization is the header of bearer tokens.
const authorization = "authorization"

// againError ends or refuses a call that goes through when it is made again: its caller was not authenticated yet, or
// has become another principal.
type againError struct{ why string }

func (e *againError) Error() string { return e.why + ": call again" }

// beginning is why calls are refused until the leader has bound the first administrator, which takes a moment after a
// cluster was made or upgraded, and why streams end that began before.
const beginning = "the cluster is about to authenticate its callers"

// caller is who makes a call. A nil caller is one on a server that authenticates nobody, and may do everything.
type caller struct {
	api        *API
	credential auth.Credential
	member     bool // another member of the cluster, for itself
	// source is the caller's address, and via the member that has passed the call on, if one has.
	source, via string
	// bearer is the authorization header, which is a secret.
	bearer string
	// certificate is that of a member; nil: the call is this member's, or that of the one that passes it on.
	certificate *x509.Certificate
	// verified: the caller has a client certificate, or an older member passes its call on.
	verified bool
}

type callerKey struct{}

// caller returns the caller of a call; nil where callers are not authenticated. A call that was not looked at is a
// stranger's.
func (a *API) caller(ctx context.Context) *caller {
	if !a.cfg.Authenticate {
		return nil
	}
	switch c := callerIn(ctx); {
	case c == nil:
		return &caller{api: a}
	case c.early():
		return nil
	default:
		return c
	}
}

// early reports whether the caller may do everything because the cluster cannot store bindings yet: a member is older
// than they are, and lets callers with certificates do everything too. A server that has just started has an old state,
// and cannot tell.
func (c *caller) early() bool {
	return c.verified && c.api.cfg.Machine.State().FeatureLevel() < fsm.AccessLevel && c.api.caughtUp()
}

// caughtUp reports whether this server has had all that was committed, once since its start.
func (a *API) caughtUp() bool {
	if !a.complete.Load() && a.cfg.Consensus.Ready() == nil {
		a.complete.Store(true)
	}
	return a.complete.Load()
}

// callerIn returns the caller that authenticate has found; nil: none.
func callerIn(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// unauthenticatedError refuses a call whose credential is nobody's. It says nothing of other callers.
type unauthenticatedError struct{ why string }

func (e *unauthenticatedError) Error() string { return "unauthenticated: " + e.why }

// forbiddenError refuses what a principal may not do.
type forbiddenError struct {
	principal string
	role      access.Role
	what      string // to do what, as the end of a sentence
}

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("forbidden: principal %q lacks the role %s %s; an administrator grants it with gkctl auth bind", e.principal, e.role, e.what)
}

// authenticate finds out what a call proves, before anything of it is read. Who that is, is decided where the call is
// executed. The context that it returns has the caller, also beside an error.
func (a *API) authenticate(ctx context.Context) (context.Context, error) {
	if !a.cfg.Authenticate {
		return ctx, nil
	}
	c := &caller{api: a, source: sourceOf(ctx)}
	return context.WithValue(ctx, callerKey{}, c), c.prove(ctx)
}

func (c *caller) prove(ctx context.Context) error {
	a, chain := c.api, verifiedChain(ctx)
	c.verified = len(chain) > 0
	switch hops := metadata.ValueFromIncomingContext(ctx, HopHeader); {
	case len(hops) > 0 && !a.isMember(chain, hops[len(hops)-1]):
		return &unauthenticatedError{"only members of the cluster pass calls on"}
	case len(hops) > 0:
		c.credential.Subjects = metadata.ValueFromIncomingContext(ctx, SubjectHeader)
		c.asMember()
		c.via = hops[len(hops)-1]
		if source := metadata.ValueFromIncomingContext(ctx, SourceHeader); len(source) == 1 { // of a member that is not older
			c.source, c.verified = source[0], c.member || len(c.credential.Subjects) > 0
		}
		c.credential.Acquirers = metadata.ValueFromIncomingContext(ctx, PinHeader)
	case !fromGateway(ctx) && a.ofPeers(chain): // at the HTTP port nobody is a member
		c.member, c.certificate = true, chain[0]
	case len(chain) > 0:
		c.credential = auth.OfCertificate(chain[0])
	}
	if bearer := metadata.ValueFromIncomingContext(ctx, authorization); len(bearer) > 0 {
		if err := c.bear(ctx, bearer); err != nil {
			return err
		}
	}
	if c.credential.IsZero() && !c.member && !c.early() {
		return &unauthenticatedError{"there are no credentials: the call has neither a client certificate with a name nor a bearer token"}
	}
	return nil
}

func addressOf(source string) netip.Addr {
	at, _ := netip.ParseAddrPort(source) // the zero address counts as a source too
	return at.Addr()
}

// bear takes the token of a caller: one of this cluster, or a JWT. A JWT that an issuer has signed is not a guess, so
// it passes also where others have guessed from its address: many pods have one, and each shows a new JWT every hour.
func (c *caller) bear(ctx context.Context, headers []string) error {
	var err error = &unauthenticatedError{"the authorization header is not \"Bearer\" and one token of this cluster"}
	id, hash, ok := auth.ParseBearer(headers[0])
	scheme, jwt, _ := strings.Cut(headers[0], " ")
	if c.api.cfg.OIDC != nil && !ok && len(headers) == 1 && strings.EqualFold(scheme, "bearer") {
		c.credential.Login, err = c.api.cfg.OIDC.Verify(ctx, strings.TrimSpace(jwt))
		refused, isRefused := errors.AsType[*oidc.RefusedError](err)
		if !isRefused {
			return err
		}
		return c.guessed(headers[0], &unauthenticatedError{refused.Error()})
	}
	if !ok || len(headers) > 1 {
		return err
	}
	c.bearer, c.credential.Token, c.credential.Hash = headers[0], id, hash
	return nil
}

// guessed counts a refused JWT, and says what the caller is answered.
func (c *caller) guessed(header string, refused error) error {
	c.bearer = header
	if blocked := c.admit(); blocked != nil {
		return blocked
	}
	c.failed()
	return refused
}

// admit refuses a token from an address that has shown too many wrong ones. Only the server that verifies the token
// asks: another one does not know which were right.
func (c *caller) admit() error {
	if c.bearer == "" {
		return nil
	}
	return c.api.cfg.Guesses.Admit(addressOf(c.source), c.bearer)
}

// verifiedChain is the chain of the client certificate of a connection, the certificate first; nil if there is none.
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

// passOn are the headers by which a member names the caller to the leader.
func (c *caller) passOn(md metadata.MD) {
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

// principal is who the caller is by this server's state.
func (c *caller) principal() (*auth.Principal, *fsm.State, error) {
	state := c.api.cfg.Machine.State()
	if state.AccessRevision() == 0 {
		return nil, state, &againError{beginning}
	}
	if c.member {
		return nil, state, &unauthenticatedError{"this is the certificate of a member, which logs nobody in: take one that gkctl cert client has made"}
	}
	p, err := c.api.directory.At(state).Principal(&c.credential, time.Now())
	if unknown, ok := errors.AsType[*auth.UnknownError](err); ok {
		return nil, state, &unauthenticatedError{unknown.Error()}
	}
	return p, state, err
}

// may asks whether the caller may do something. A leader decides a refusal again by a state that has all that was
// committed: one that was just elected may lack a binding, and nobody may be refused for that. A follower refuses
// nobody: it sends the caller to the leader.
func (c *caller) may(ctx context.Context, allowed permission) (*auth.Principal, error) {
	p, err := c.here(allowed)
	switch {
	case err == nil:
		return p, nil
	case c.api.forward.leading():
	case p == nil: // a stranger does not learn who leads
		c.failed()
		return nil, &againError{"this server does not know the caller yet"}
	default:
		return nil, &consensus.NotLeaderError{Leader: c.api.cfg.Consensus.Leader()}
	}
	if _, unread := c.api.reader.Read(ctx); unread != nil {
		return nil, unread
	}
	if p, err = c.here(allowed); p == nil {
		c.failed()
	}
	return p, err
}

// here asks by this server's state alone whether the caller may do something. Beside a principal the error is that of
// its permission.
func (c *caller) here(allowed permission) (*auth.Principal, error) {
	p, state, err := c.principal()
	if err != nil {
		return nil, err
	}
	if c.bearer != "" {
		c.api.cfg.Guesses.Succeeded(addressOf(c.source), c.bearer)
	}
	return p, allowed(p, state)
}

// failed counts a bearer token that is nobody's.
func (c *caller) failed() {
	if c.bearer != "" {
		c.api.cfg.Guesses.Failed(addressOf(c.source), c.bearer)
	}
}

// permission says why a principal may not do something by a state; nil: it may.
type permission func(p *auth.Principal, state *fsm.State) error

// has lets only principals through that have one of the roles somewhere; without roles, all.
func has(roles ...access.Role) permission {
	return func(p *auth.Principal, _ *fsm.State) error {
		if len(roles) == 0 || slices.ContainsFunc(roles, p.Has) {
			return nil
		}
		return &forbiddenError{p.Name(), roles[0], "anywhere"}
	}
}

// sees reports which semaphores the caller may view; nil: all.
func (a *API) sees(ctx context.Context) func(state *fsm.State, name string) bool {
	c := a.caller(ctx)
	if !a.cfg.Authenticate {
		return nil
	}
	if c == nil {
		c = callerIn(ctx)
	}
	return func(state *fsm.State, name string) bool {
		if c.early() {
			return true
		}
		p, _, err := c.principal() // a stream may outlive a change of bindings
		return err == nil && p.May(access.Viewer, state, name)
	}
}

// views asks for the role of a viewer on a semaphore.
func views(sem string) permission {
	return func(p *auth.Principal, state *fsm.State) error {
		if p.May(access.Viewer, state, sem) {
			return nil
		}
		return &forbiddenError{p.Name(), access.Viewer, "on semaphore " + strconv.Quote(sem)}
	}
}

// viewsAll lets only callers through that may view every semaphore.
func (a *API) viewsAll(ctx context.Context) error {
	c := a.caller(ctx)
	if c == nil {
		return nil
	}
	_, err := c.may(ctx, viewsEvery)
	return err
}

// viewsEvery asks for the role of a viewer without a scope.
func viewsEvery(p *auth.Principal, _ *fsm.State) error {
	if p.HasEverywhere(access.Viewer) {
		return nil
	}
	return &forbiddenError{p.Name(), access.Viewer, "on every semaphore"}
}

// viewsEverything reports whether the caller may view every semaphore, and administers whether it is an administrator.
// They decide what an answer shows, and refuse nothing.
func (a *API) viewsEverything(ctx context.Context) bool {
	return a.now(ctx, func(p *auth.Principal) bool { return p.HasEverywhere(access.Viewer) })
}

func (a *API) administers(ctx context.Context) bool {
	return a.now(ctx, func(p *auth.Principal) bool { return p.Has(access.Admin) })
}

func (a *API) now(ctx context.Context, holds func(p *auth.Principal) bool) bool {
	c := a.caller(ctx)
	if c == nil {
		return true
	}
	p, _, err := c.principal()
	return err == nil && holds(p)
}

// visible reports whether the caller may view the semaphore of that name.
func (a *API) visible(ctx context.Context, state *fsm.State, name string) bool {
	sees := a.sees(ctx)
	return sees == nil || sees(state, name)
}

// ownerOf are the permits of a principal. Those from before callers were authenticated are of every principal that may
// acquire them.
func ownerOf(p *auth.Principal, state *fsm.State) semaphore.Owner {
	o := semaphore.OwnerOf(p.Name())
	o.Unowned = func(sem string, id semaphore.Identity) bool { return p.MayAs(access.Acquirer, state, sem, id) }
	return o
}

// owner is whose permits a call by token is about. identity is the one that it names, or nil.
func (a *API) owner(ctx context.Context, identity *semaphore.Identity) (semaphore.Owner, error) {
	o := semaphore.Owner{Identity: identity}
	if c := a.caller(ctx); c != nil {
		p, err := c.may(ctx, has(access.Acquirer))
		if err != nil {
			return o, err
		}
		o = ownerOf(p, a.cfg.Machine.State())
		o.Identity = identity
	}
	return o, nil
}
