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

// DefaultAdminBinding is the binding that BindAdministrator extends unless the request names another.
const DefaultAdminBinding = "admin"

// notMember refuses a call that a member makes for itself alone.
func notMember() error {
	return &unauthenticatedError{"only a member of the cluster calls this, for the owner of its data folder: see gatekeeperd bind-admin --help"}
}

// RefusedError is the error of a request that the cluster refuses, also when it is made again.
type RefusedError struct{ error }

func (e *RefusedError) Unwrap() error { return e.error }

// CheckAdministrator returns the *semaphore.FieldError by which every member would refuse the request; nil: there is
// none.
func CheckAdministrator(m *gatekeeperv1.BindAdministratorRequest) error {
	if err := access.ValidSubject(m.GetSubject()); err != nil {
		return err
	}
	if err := (&access.Binding{Name: cmp.Or(m.GetBinding(), DefaultAdminBinding)}).Validate(); err != nil {
		return err
	}
	_, _, err := wordsOfOwner(strings.Repeat("m", maxMemberID), m)
	return err
}

// wordsOfOwner are who asks for an administrator in the name of a member, and why.
func wordsOfOwner(member string, m *gatekeeperv1.BindAdministratorRequest) (author, reason string, err error) {
	if author, err = authorFrom(m.GetAuthor()); err != nil {
		return "", "", err
	}
	reason = fmt.Sprintf("the owner of the data folder of member %s made %s an administrator", member, m.GetSubject())
	if m.GetReason() != "" {
		reason += ": " + m.GetReason()
	}
	_, err = reasonFrom(reason)
	return "member " + member + " (" + author + ")", reason, err
}

// BindAdministrator has the cluster carry out what the owner of this member's data folder asks for: here if this server
// leads, else by passing it on to the leader as a member. That gives a member nothing new: it decides already whose
// calls it passes on. It may be repeated, unless the error is a *RefusedError.
func (a *API) BindAdministrator(ctx context.Context, m *gatekeeperv1.BindAdministratorRequest) error {
	err := a.bindAsMember(ctx, m)
	if s := status.Convert(toStatus(err)); s.Code() == codes.InvalidArgument || reasonOf(s) == reasonAccessLimit {
		return &RefusedError{err}
	}
	return err
}

func (a *API) bindAsMember(ctx context.Context, m *gatekeeperv1.BindAdministratorRequest) error {
	if a.forward.leading() {
		_, err := a.bindAdministrator(ctx, a.cfg.ID, m)
		a.audited(context.WithValue(ctx, callerKey{}, &caller{api: a, member: true}), gatekeeperv1.AuthService_BindAdministrator_FullMethodName, m, nil, err)
		return err
	}
	ctx = context.WithValue(ctx, callerKey{}, &caller{api: a, member: true})
	_, err := a.forward.pass(ctx, gatekeeperv1.AuthService_BindAdministrator_FullMethodName, m)
	return err
}

// BindAdministrator is for members of the latest configuration that pass on what was left in their folder: authenticate
// lets no hop of anybody else in.
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

// bindAdministrator proposes the change, in the name of the owner of a member's folder.
func (a *API) bindAdministrator(ctx context.Context, member string, m *gatekeeperv1.BindAdministratorRequest) (*access.Binding, error) {
	author, reason, err := wordsOfOwner(member, m)
	if err != nil {
		return nil, err
	}
	for {
		state, err := a.reader.Read(ctx)
		if err != nil {
			return nil, err
		}
		before, after := administering(state, m.GetSubject(), cmp.Or(m.GetBinding(), DefaultAdminBinding))
		if err := after.Validate(); err != nil {
			return nil, err
		}
		if before == after {
			return before, nil // as after a repetition
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
			continue // somebody was faster
		}
		return r.Binding, changed(r, "binding "+after.Name)
	}
}

// administering is the binding that gets the subject and administers the cluster, as it is and as it must be: the one
// that has the subject, or else the named one. They are the same if nothing is to be done.
func administering(state *fsm.State, subject, name string) (before, after *access.Binding) {
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
