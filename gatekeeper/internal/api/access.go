package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/auth"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// authService serves gatekeeper.v1.AuthService.
type authService struct {
	gatekeeperv1.UnimplementedAuthServiceServer
	*API
	keeper accessKeeper
}

// accessKeeper changes bindings and tokens.
type accessKeeper interface {
	Access(ctx context.Context, cmd fsm.Command) (fsm.AccessResult, error)
}

// accessError explains why a change to the bindings was refused.
type accessError struct {
	fsm.AccessResult
	text string
}

func (e *accessError) Error() string { return e.text }

func accessOutcome(outcome fsm.AccessOutcome) func(error) (map[string]string, bool) {
	return func(err error) (map[string]string, bool) {
		e, ok := errors.AsType[*accessError](err)
		if !ok || e.Outcome != outcome {
			return nil, false
		}
		info := map[string]string{}
		if e.Binding != nil {
			info["binding"], info["current"] = e.Binding.Name, decimal(e.Binding.Revision)
		}
		return info, true
	}
}

// accessRefusal returns nil if the change was made or was unnecessary, and otherwise an error that explains the
// refusal.
func accessRefusal(r fsm.AccessResult, what string) error {
	text := ""
	switch r.Outcome {
	case fsm.AccessApplied, fsm.AccessUnchanged:
		return nil
	case fsm.AccessAbsent:
		text = "there is no " + what
	case fsm.AccessStale:
		text = fmt.Sprintf("%s is at revision %d, not at the expected revision: read it again", what, r.Binding.Revision)
	case fsm.AccessSubjectTaken:
		text = fmt.Sprintf("subject %q already belongs to binding %q: remove it there first", r.Subject, r.Binding.Name)
	case fsm.AccessLastAdmin:
		text = "the cluster would have no administrator: first give a different binding the admin role and a subject or a token that never expires"
	case fsm.AccessFull:
		text = fmt.Sprintf("a cluster can have at most %d bindings, with at most %d tokens each: remove unused ones", access.MaxBindings, access.MaxTokens)
	}
	return &accessError{r, text}
}

func (s *authService) WhoAmI(ctx context.Context, _ *gatekeeperv1.WhoAmIRequest) (*gatekeeperv1.WhoAmIResponse, error) {
	c := s.caller(ctx)
	if c == nil {
		return &gatekeeperv1.WhoAmIResponse{}, nil
	}
	p, _, err := c.principal()
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.WhoAmIResponse{
		Authenticated: true, Principal: p.Name(), Credential: c.credential.String(), Grants: mapSlice(p.Binding().Grants, toAccessGrant),
		Acquirers: c.credential.Acquirers, Subjects: c.credential.Proven(),
	}, nil
}

func (s *authService) CanI(ctx context.Context, m *gatekeeperv1.CanIRequest) (*gatekeeperv1.CanIResponse, error) {
	role, err := roleFrom("role", m.GetRole())
	if err != nil {
		return nil, err
	}
	c := s.caller(ctx)
	if c == nil {
		return &gatekeeperv1.CanIResponse{Allowed: true}, nil
	}
	p, err := c.authorize(ctx, func(p *auth.Principal, state *fsm.State) error {
		where := "anywhere"
		allowed := p.Has(role)
		if sem := m.GetSemaphore(); sem != "" {
			where = fmt.Sprintf("on semaphore %q", sem)
			allowed = p.May(role, state, sem)
			if m.GetGroup() != "" || m.GetAcquirer() != "" {
				where += fmt.Sprintf(" as acquirer %q in group %q", m.GetAcquirer(), m.GetGroup())
				allowed = p.MayAs(role, state, sem, semaphore.Identity{Group: m.GetGroup(), Acquirer: m.GetAcquirer()})
			}
		}
		if allowed {
			return nil
		}
		return &forbiddenError{p.Name(), role, where}
	})
	if refused, ok := errors.AsType[*forbiddenError](err); ok {
		return &gatekeeperv1.CanIResponse{Reason: refused.Error()}, nil
	}
	return &gatekeeperv1.CanIResponse{Allowed: p != nil}, err
}

func (s *authService) ListBindings(ctx context.Context, _ *gatekeeperv1.ListBindingsRequest) (*gatekeeperv1.ListBindingsResponse, error) {
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.ListBindingsResponse{Bindings: mapSlice(state.Bindings(), toBinding), Revision: state.AccessRevision()}, nil
}

func (s *authService) SetBinding(ctx context.Context, m *gatekeeperv1.SetBindingRequest) (*gatekeeperv1.SetBindingResponse, error) {
	b, err := bindingFrom(m.GetBinding())
	if err != nil {
		return nil, err
	}
	r, err := s.change(ctx, m.GetReason(), "binding "+b.Name, func(author string) fsm.Command {
		return fsm.SetBinding{Name: b.Name, Binding: b, Expected: m.GetExpectedRevision(), Author: author, Reason: m.GetReason(), At: time.Now()}
	})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.SetBindingResponse{Binding: toBinding(r.Binding)}, nil
}

func (s *authService) RemoveBinding(ctx context.Context, m *gatekeeperv1.RemoveBindingRequest) (*gatekeeperv1.RemoveBindingResponse, error) {
	r, err := s.change(ctx, m.GetReason(), "binding "+m.GetName(), func(author string) fsm.Command {
		return fsm.SetBinding{Name: m.GetName(), Expected: m.GetExpectedRevision(), Author: author, Reason: m.GetReason(), At: time.Now()}
	})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.RemoveBindingResponse{Revision: r.Revision}, nil
}

func (s *authService) CreateToken(ctx context.Context, m *gatekeeperv1.CreateTokenRequest) (*gatekeeperv1.CreateTokenResponse, error) {
	expires, err := timestampFrom("expires_at", m.GetExpiresAt())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if !expires.IsZero() && !expires.After(now) {
		return nil, invalid("expires_at", expires.Format(time.RFC3339), "must be in the future")
	}
	secret, token := auth.NewToken()
	token.Expires, token.CreatedAt = expires, now
	r, err := s.change(ctx, m.GetReason(), "binding "+m.GetBinding(), func(author string) fsm.Command {
		token.CreatedBy = author
		return fsm.IssueToken{Binding: m.GetBinding(), Token: token, Reason: m.GetReason()}
	})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.CreateTokenResponse{Secret: secret, Token: toAccessToken(*r.Binding.Token(token.ID))}, nil
}

func (s *authService) RevokeToken(ctx context.Context, m *gatekeeperv1.RevokeTokenRequest) (*gatekeeperv1.RevokeTokenResponse, error) {
	r, err := s.change(ctx, m.GetReason(), "token "+m.GetId(), func(author string) fsm.Command {
		return fsm.RevokeToken{ID: m.GetId(), Author: author, Reason: m.GetReason(), At: time.Now()}
	})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.RevokeTokenResponse{Revision: r.Revision}, nil
}

// change applies a change to the bindings on behalf of the caller. A server without authentication refuses it, because
// the bindings would silently take effect when authentication is enabled later.
func (s *authService) change(ctx context.Context, reason, what string, cmd func(author string) fsm.Command) (fsm.AccessResult, error) {
	if _, err := reasonFrom(reason); err != nil {
		return fsm.AccessResult{}, err
	}
	c := s.caller(ctx)
	if c == nil {
		kind, name, _ := strings.Cut(what, " ")
		return fsm.AccessResult{}, invalid(kind, name, "requires servers that authenticate their callers: start them with --tls-ca, --bearer-tokens or --oidc-issuer")
	}
	p, err := c.authorize(ctx, mayAdminister)
	if err != nil {
		return fsm.AccessResult{}, err
	}
	r, err := s.keeper.Access(ctx, cmd(p.Name()))
	if err != nil {
		return r, err
	}
	return r, accessRefusal(r, what)
}

func roleFrom(field string, r gatekeeperv1.Role) (access.Role, error) {
	role := access.Role(r)
	if r < gatekeeperv1.Role_ROLE_VIEWER || r > gatekeeperv1.Role_ROLE_ADMIN {
		return 0, invalid(field, r.String(), "must be viewer, acquirer, verifier, operator, editor or admin")
	}
	return role, nil
}

func bindingFrom(m *gatekeeperv1.Binding) (*access.Binding, error) {
	b := &access.Binding{Name: m.GetName(), Subjects: m.GetSubjects()}
	for i, g := range m.GetGrants() {
		role, err := roleFrom(at("grants", i)+".role", g.GetRole())
		if err != nil {
			return nil, err
		}
		b.Grants = append(b.Grants, access.Grant{Role: role, Scope: access.Scope{
			Semaphores: g.GetSemaphores(), Labels: g.GetLabels(), Group: g.GetGroup(), Acquirer: g.GetAcquirer(),
		}})
	}
	if err := b.Validate(); err != nil {
		return nil, within("binding", err)
	}
	return b, within("binding", auth.Check(b))
}

func toBinding(b *access.Binding) *gatekeeperv1.Binding {
	if b == nil {
		return nil
	}
	return &gatekeeperv1.Binding{
		Name: b.Name, Subjects: b.Subjects, Grants: mapSlice(b.Grants, toAccessGrant), Tokens: mapSlice(b.Tokens, toAccessToken),
		Revision: b.Revision, UpdatedBy: b.UpdatedBy, UpdatedAt: toTimestamp(b.UpdatedAt), Reason: b.Reason,
	}
}

func toAccessGrant(g access.Grant) *gatekeeperv1.AccessGrant {
	return &gatekeeperv1.AccessGrant{
		Role: gatekeeperv1.Role(g.Role), Semaphores: g.Semaphores, Labels: g.Labels, Group: g.Group, Acquirer: g.Acquirer,
	}
}

func toAccessToken(t access.Token) *gatekeeperv1.AccessToken {
	return &gatekeeperv1.AccessToken{Id: t.ID, ExpiresAt: toTimestamp(t.Expires), CreatedBy: t.CreatedBy, CreatedAt: toTimestamp(t.CreatedAt)}
}
