package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// DefaultAdminBinding is the binding that BindAdministrator extends unless the request names a different one.
const DefaultAdminBinding = "admin"

// notMember returns the error for a call to a method that only members may call.
func notMember() error {
	return &unauthenticatedError{"only a member of the cluster may call this, on behalf of the owner of its data directory: see gatekeeperd bind-admin --help"}
}

// RefusedError is the error for a request that the cluster refused and would refuse again.
type RefusedError struct{ error }

func (e *RefusedError) Unwrap() error { return e.error }

// CheckAdministrator checks a request without sending it. The error is the *semaphore.FieldError that every member
// would return.
func CheckAdministrator(m *gatekeeperv1.BindAdministratorRequest) error {
	if err := access.ValidSubject(m.GetSubject()); err != nil {
		return err
	}
	if err := (&access.Binding{Name: cmp.Or(m.GetBinding(), DefaultAdminBinding)}).Validate(); err != nil {
		return err
	}
	_, _, err := authorAndReason(strings.Repeat("m", maxMemberID), m)
	return err
}

// authorAndReason returns the author and the reason to record for a change requested by the owner of a member's data
// directory.
func authorAndReason(member string, m *gatekeeperv1.BindAdministratorRequest) (author, reason string, err error) {
	if author, err = authorFrom(m.GetAuthor()); err != nil {
		return "", "", err
	}
	reason = fmt.Sprintf("the owner of the data directory of member %s made %s an administrator", member, m.GetSubject())
	if m.GetReason() != "" {
		reason += ": " + m.GetReason()
	}
	_, err = reasonFrom(reason)
	return "member " + member + " (" + author + ")", reason, err
}

// BindAdministrator makes a subject an administrator, as requested by the owner of this member's data directory. A
// follower forwards the request to the leader as a member. This gives members no additional power, because the leader
// already trusts them to identify the callers whose calls they forward. The call may be retried, unless the error is a
// *RefusedError.
func (a *API) BindAdministrator(ctx context.Context, m *gatekeeperv1.BindAdministratorRequest) error {
	err := a.bindAsMember(ctx, m)
	if s := status.Convert(toStatus(err)); s.Code() == codes.InvalidArgument || reasonOf(s) == reasonAccessLimit {
		return &RefusedError{err}
	}
	return err
}

func (a *API) bindAsMember(ctx context.Context, m *gatekeeperv1.BindAdministratorRequest) error {
	if a.forward.isLeader() {
		_, err := a.bindAdministrator(ctx, a.cfg.ID, m)
		a.auditCall(context.WithValue(ctx, callerKey{}, &caller{api: a, member: true}), gatekeeperv1.AuthService_BindAdministrator_FullMethodName, m, nil, err)
		return err
	}
	ctx = context.WithValue(ctx, callerKey{}, &caller{api: a, member: true})
	_, err := a.forward.forwardUnary(ctx, gatekeeperv1.AuthService_BindAdministrator_FullMethodName, m)
	return err
}

// BindAdministrator serves requests that other members forward on behalf of the owners of their data directories.
// authenticate accepts forwarded calls only from members of the latest configuration.
func (s *authService) BindAdministrator(ctx context.Context, m *gatekeeperv1.BindAdministratorRequest) (*gatekeeperv1.BindAdministratorResponse, error) {
	c := s.caller(ctx)
	if c == nil || !c.member || c.via == "" {
		return nil, notMember()
	}
	b, err := s.bindAdministrator(ctx, c.via, m)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.BindAdministratorResponse{Binding: toBinding(b)}, nil
}

// bindAdministrator proposes the change on behalf of the owner of a member's data directory.
func (a *API) bindAdministrator(ctx context.Context, member string, m *gatekeeperv1.BindAdministratorRequest) (*access.Binding, error) {
	author, reason, err := authorAndReason(member, m)
	if err != nil {
		return nil, err
	}
	for {
		state, err := a.reader.Read(ctx)
		if err != nil {
			return nil, err
		}
		before, after := adminBinding(state, m.GetSubject(), cmp.Or(m.GetBinding(), DefaultAdminBinding))
		if err := after.Validate(); err != nil {
			return nil, err
		}
		if before == after {
			return before, nil // already bound, for example by an earlier attempt
		}
		cmd := fsm.SetBinding{Name: after.Name, Binding: after, Author: author, Reason: reason, At: time.Now()}
		if before != nil {
			cmd.Expected = before.Revision
		}
		r, err := a.cfg.Keeper.Access(ctx, cmd)
		switch {
		case err != nil:
			return nil, err
		case r.Outcome == fsm.AccessStale || r.Outcome == fsm.AccessAbsent || r.Outcome == fsm.AccessSubjectTaken:
			continue // another change came first
		}
		return r.Binding, accessRefusal(r, "binding "+after.Name)
	}
}

// adminBinding returns the binding to extend with the subject and the admin role, before and after the change. It uses
// the binding that already contains the subject, if any, or else the named one. If no change is needed, the results are
// the same pointer.
func adminBinding(state *fsm.State, subject, name string) (before, after *access.Binding) {
	before = state.Binding(name)
	if i := slices.IndexFunc(state.Bindings(), func(b *access.Binding) bool { return slices.Contains(b.Subjects, subject) }); i >= 0 {
		before = state.Bindings()[i]
	}
	if before == nil {
		return nil, &access.Binding{Name: name, Subjects: []string{subject}, Grants: []access.Grant{{Role: access.Admin}}}
	}
	admin := slices.ContainsFunc(before.Grants, func(g access.Grant) bool { return g.Role == access.Admin })
	bound := slices.Contains(before.Subjects, subject)
	if admin && bound {
		return before, before
	}
	b := *before
	if !bound {
		b.Subjects = append(slices.Clone(before.Subjects), subject)
	}
	if !admin {
		b.Grants = append(slices.Clone(before.Grants), access.Grant{Role: access.Admin})
	}
	return before, &b
}
