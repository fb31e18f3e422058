package api

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// SubjectHeader names the subjects of a caller whose call a member passes on, and PinHeader the acquirers to which its certificate pins
// it. They are taken from members only. Both are frozen.
const (
	SubjectHeader = "gatekeeper-subject-bin" // names need not be ASCII
	PinHeader     = "gatekeeper-pin-bin"
)

// memberSubject stands in SubjectHeader for a member that calls for itself. It is frozen.
const memberSubject = "member:"

// authorization is the header of bearer tokens.
const authorization = "authorization"

// caller is who makes a call. A nil caller is one on a server that authenticates nobody, and may do everything.
type caller struct {
	api        *API
	credential auth.Credential
	member     bool // another member of the cluster, for itself
}

type callerKey struct{}

// caller returns the caller of a call; nil where callers are not authenticated. A call that was not looked at is a stranger's.
func (a *API) caller(ctx context.Context) *caller {
	if !a.cfg.Authenticate {
		return nil
	}
	if c := callerIn(ctx); c != nil {
		return c
	}
	return &caller{api: a}
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

// authenticate finds out what a call proves, before anything of it is read. Who that is, is decided where the call is executed.
func (a *API) authenticate(ctx context.Context) (context.Context, error) {
	if !a.cfg.Authenticate {
		return ctx, nil
	}
	c := &caller{api: a}
	chain := verifiedChain(ctx)
	switch hops := metadata.ValueFromIncomingContext(ctx, HopHeader); {
	case len(hops) > 0 && !a.isMember(chain):
		return nil, &unauthenticatedError{"only members of the cluster pass calls on"}
	case len(hops) > 0:
		c.credential.Subjects = metadata.ValueFromIncomingContext(ctx, SubjectHeader)
		c.member = slices.Equal(c.credential.Subjects, []string{memberSubject})
		c.credential.Acquirers = metadata.ValueFromIncomingContext(ctx, PinHeader)
	case len(chain) > 0 && a.ofPeers(chain):
		c.member = true
	case len(chain) > 0:
		c.credential = auth.OfCertificate(chain[0])
	}
	if bearer := metadata.ValueFromIncomingContext(ctx, authorization); len(bearer) > 0 {
		id, hash, ok := auth.ParseBearer(bearer[0])
		if !ok || len(bearer) > 1 {
			return nil, &unauthenticatedError{"the authorization header is not \"Bearer\" and one token of this cluster"}
		}
		c.credential.Token, c.credential.Hash = id, hash
	}
	if c.credential.IsZero() && !c.member {
		return nil, &unauthenticatedError{"the call shows neither a client certificate with a name nor a bearer token"}
	}
	return context.WithValue(ctx, callerKey{}, c), nil
}

// verifiedChain is the chain of the client certificate of a connection, the certificate first; nil if there is none.
func verifiedChain(ctx context.Context) []*x509.Certificate {
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

// ofPeers reports whether a chain ends at the authority of members, and its certificate is one of a member: it is for servers too.
func (a *API) ofPeers(chain []*x509.Certificate) bool {
	if len(chain) == 0 {
		return false
	}
	return a.peers.verifies(chain[0])
}

// isMember reports whether a certificate is that of a member of the latest configuration: the authority of members has issued it, and it is
// valid for the host of the member's peer address.
func (a *API) isMember(chain []*x509.Certificate) bool {
	if !a.ofPeers(chain) {
		return false
	}
	members, err := a.cfg.Consensus.Members()
	if err != nil {
		return false
	}
	for _, m := range members {
		host, _, err := net.SplitHostPort(m.PeerAddress)
		if err == nil && chain[0].VerifyHostname(host) == nil {
			return true
		}
	}
	return false
}

// passOn are the headers by which a member names the caller to the leader.
func (c *caller) passOn(md metadata.MD) {
	md.Delete(SubjectHeader)
	md.Delete(PinHeader)
	switch {
	case c == nil:
	case c.member:
		md.Set(SubjectHeader, memberSubject)
	default:
		md.Append(SubjectHeader, c.credential.Subjects...)
		md.Append(PinHeader, c.credential.Acquirers...)
	}
}

// principal is who the caller is by this server's state.
func (c *caller) principal() (*auth.Principal, *fsm.State, error) {
	state := c.api.cfg.Machine.State()
	p, err := c.api.directory.At(state).Principal(&c.credential, time.Now())
	if unknown, ok := errors.AsType[*auth.UnknownError](err); ok {
		return nil, state, &unauthenticatedError{unknown.Error()}
	}
	return p, state, err
}

// may asks whether the caller may do something. A leader decides a refusal again by a state that has all that was committed: one that was just
// elected may lack a binding, and nobody may be refused for that. A follower refuses nobody: it sends the caller to the leader.
func (c *caller) may(ctx context.Context, allowed func(p *auth.Principal, state *fsm.State) error) (*auth.Principal, error) {
	p, state, err := c.principal()
	if err == nil {
		if err = allowed(p, state); err == nil {
			return p, nil
		}
	}
	if !c.api.forward.leading() {
		return nil, &consensus.NotLeaderError{Leader: c.api.cfg.Consensus.Leader()}
	}
	if _, unread := c.api.reader.Read(ctx); unread != nil {
		return nil, unread
	}
	if p, state, err = c.principal(); err != nil {
		return nil, err
	}
	return p, allowed(p, state)
}

// has lets only principals through that have one of the roles somewhere; without roles, all.
func has(roles ...access.Role) func(p *auth.Principal, state *fsm.State) error {
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
	if c == nil {
		return nil
	}
	return func(state *fsm.State, name string) bool {
		p, _, err := c.principal() // a stream may outlive a change of bindings
		return err == nil && p.May(access.Viewer, state, name)
	}
}

// views asks for the role of a viewer on a semaphore.
func views(sem string) func(p *auth.Principal, state *fsm.State) error {
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
	_, err := c.may(ctx, func(p *auth.Principal, _ *fsm.State) error {
		if p.HasEverywhere(access.Viewer) {
			return nil
		}
		return &forbiddenError{p.Name(), access.Viewer, "on every semaphore"}
	})
	return err
}

// visible reports whether the caller may view the semaphore of that name.
func (a *API) visible(ctx context.Context, state *fsm.State, name string) bool {
	sees := a.sees(ctx)
	return sees == nil || sees(state, name)
}

// owner is whose permits a call by token is about. identity is the one that it names, or nil.
func (a *API) owner(ctx context.Context, identity *semaphore.Identity) (semaphore.Owner, error) {
	o := semaphore.Owner{Identity: identity}
	if c := a.caller(ctx); c != nil {
		p, err := c.may(ctx, has(access.Acquirer))
		if err != nil {
			return o, err
		}
		o.Principal = semaphore.OwnerOf(p.Name()).Principal
	}
	return o, nil
}

// standing are the calls in work that last: streams, and callers that wait. What they were allowed is asked again when bindings change, and
// now and then, because tokens end. Its zero value is ready.
type standing struct {
	mu      sync.Mutex // guards the others
	last    int
	all     map[int]allowance
	checked time.Time
	of      uint64 // the access revision at that time
}

// allowance is what a lasting call was allowed.
type allowance struct {
	allowed func() error
	cancel  context.CancelCauseFunc
}

// recheckEvery is how late at most the end of a token is noticed.
const recheckEvery = 500 * time.Millisecond

// note keeps what a lasting call was allowed, and returns how it is forgotten.
func (s *standing) note(allowed func() error, cancel context.CancelCauseFunc) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := s.last
	if s.all == nil {
		s.all = make(map[int]allowance)
	}
	s.all[id] = allowance{allowed, cancel}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, id)
	}
}

// recheck ends the calls that are not allowed any more.
func (s *standing) recheck(revision uint64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == revision && now.Sub(s.checked) < recheckEvery {
		return
	}
	s.of, s.checked = revision, now
	for _, a := range s.all {
		if err := a.allowed(); err != nil {
			a.cancel(err)
		}
	}
}

// while returns a context that ends with an error as its cause once the caller is not allowed that any more.
func (c *caller) while(ctx context.Context, allowed func(p *auth.Principal, state *fsm.State) error) (context.Context, func()) {
	if c == nil || c.member {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	over := c.api.standing.note(func() error {
		p, state, err := c.principal()
		if err == nil {
			err = allowed(p, state)
		}
		return err
	}, cancel)
	return ctx, func() { over(); cancel(nil) }
}

// refusedSince is why a call has ended, if that is because it is not allowed any more. An unknown outcome stays unknown.
func refusedSince(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	_, stranger := errors.AsType[*unauthenticatedError](cause)
	_, forbidden := errors.AsType[*forbiddenError](cause)
	if err != nil && (stranger || forbidden) && !errors.Is(err, consensus.ErrUnknownOutcome) {
		return cause
	}
	return err
}

// memberCerts tells the certificates of members: those that the authorities of the peer port have issued for servers. What was found out
// about a certificate counts for a minute, because calls that are passed on come by the thousand.
type memberCerts struct {
	files certs.Files
	mu    sync.Mutex // guards known
	known map[string]time.Time
}

const (
	memberCertsFor = time.Minute
	maxMemberCerts = 1000
)

// verifies reports whether a certificate is one of a member.
func (m *memberCerts) verifies(cert *x509.Certificate) bool {
	if m.files.IsZero() {
		return false
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if until, ok := m.known[string(cert.Raw)]; ok && now.Before(until) && now.Before(cert.NotAfter) {
		return true
	}
	if m.files.Member(cert) != nil {
		return false
	}
	if len(m.known) >= maxMemberCerts || m.known == nil {
		m.known = make(map[string]time.Time)
	}
	m.known[string(cert.Raw)] = now.Add(memberCertsFor)
	return true
}
