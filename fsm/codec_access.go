package fsm

import (
	"math"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// This file converts bindings and tokens to and from their stored form.

func (w *writer) binding(b *access.Binding) *logv1.StoredBinding {
	if b == nil {
		return nil
	}
	return &logv1.StoredBinding{
		Name: b.Name, Subjects: b.Subjects, Grants: each(b.Grants, grantToProto), Tokens: each(b.Tokens, w.token),
		Revision: b.Revision, UpdatedBy: b.UpdatedBy, UpdatedAt: w.time(b.UpdatedAt), Reason: b.Reason,
	}
}

func (r *reader) binding(in *logv1.StoredBinding) *access.Binding {
	if in == nil {
		return nil
	}
	return &access.Binding{
		Name: in.GetName(), Subjects: in.GetSubjects(), Tokens: each(in.GetTokens(), r.token),
		Grants: each(in.GetGrants(), func(g *logv1.AccessGrant) access.Grant {
			return access.Grant{
				Role: access.Role(min(g.GetRole(), math.MaxUint8)), // Validate checks that the role exists
				Scope: access.Scope{
					Semaphores: g.GetSemaphores(), Labels: g.GetLabels(), Group: g.GetGroup(), Acquirer: g.GetAcquirer(),
				},
			}
		}),
		Revision: in.GetRevision(), UpdatedBy: in.GetUpdatedBy(), UpdatedAt: timeFromProto(in.GetUpdatedAt()), Reason: in.GetReason(),
	}
}

func grantToProto(g access.Grant) *logv1.AccessGrant {
	return &logv1.AccessGrant{Role: uint32(g.Role), Semaphores: g.Semaphores, Labels: g.Labels, Group: g.Group, Acquirer: g.Acquirer}
}

func (w *writer) token(t access.Token) *logv1.StoredToken {
	out := &logv1.StoredToken{Id: t.ID, Expires: w.time(t.Expires), CreatedBy: t.CreatedBy, CreatedAt: w.time(t.CreatedAt)}
	if t.Hash != ([32]byte{}) {
		out.Hash = t.Hash[:]
	}
	return out
}

func (r *reader) token(in *logv1.StoredToken) access.Token {
	out := access.Token{
		ID: in.GetId(), Expires: timeFromProto(in.GetExpires()), CreatedBy: in.GetCreatedBy(), CreatedAt: timeFromProto(in.GetCreatedAt()),
	}
	if copy(out.Hash[:], in.GetHash()); len(in.GetHash()) != 0 && len(in.GetHash()) != len(out.Hash) {
		r.fail("a token has a hash of %d bytes", len(in.GetHash()))
	}
	return out
}
