package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func scoped() access.Grant {
	return access.Grant{Role: access.Operator, Scope: access.Scope{
		Semaphores: []string{"report-*", "export"}, Labels: "team=data", Group: "zone-a.*", Acquirer: "app[12]",
	}}
}

func token(id string, expires time.Time) access.Token {
	return access.Token{ID: id, Hash: [32]byte{1, 2, 3}, Expires: expires, CreatedBy: "ann", CreatedAt: at(300)}
}

// accessCommands returns the feature level 4 commands for bindings and tokens. They are frozen.
func accessCommands() []fsm.Command {
	return []fsm.Command{
		fsm.SetBinding{
			Name: "admin", First: true, Author: "gk1", Reason: "the first administrator", At: at(300),
			Binding: &access.Binding{
				Name: "admin", Subjects: []string{"cert:admin", "spiffe://corp/admin"}, Grants: []access.Grant{{Role: access.Admin}, scoped()},
				Tokens: []access.Token{token("t0", at(400))}, Revision: 3, UpdatedBy: "ann", Reason: "why", UpdatedAt: at(299),
			},
		},
		fsm.SetBinding{Name: "ops", Expected: 9, At: at(301)},
		fsm.IssueToken{Binding: "ops", Token: token("t1", at(400)), Reason: "for CI"},
		fsm.RevokeToken{ID: "t1", Author: "ann", Reason: "leaked", At: at(302)},
		fsm.Grant{Semaphore: "s", Identity: semaphore.Identity{Group: "g", Acquirer: "a", HolderID: "h", Principal: "app"}, Weight: 1, At: at(303)},
		fsm.SubmitJob{Spec: &work.Spec{ID: "j", Semaphore: "s", MaxResult: 8, Principal: "app"}, Digest: digest(), At: at(304)},
		fsm.Cancel{Semaphore: "s", Identity: semaphore.Identity{Group: "g", Acquirer: "a", HolderID: "h", Principal: "app"}, RequestID: "r"},
	}
}

// accessScenario returns a log that has bindings with and without tokens, a permit held by a principal, and journal
// entries for the changes. It is frozen.
func accessScenario(tb tester) *log {
	l := newWorkLog(tb)
	l.apply(fsm.SetBinding{
		Name: "admin", First: true, Author: "gk1", Reason: "the first administrator", At: at(300),
		Binding: &access.Binding{Subjects: []string{"cert:admin", "spiffe://corp/admin"}, Grants: []access.Grant{{Role: access.Admin}}},
	})
	l.apply(fsm.SetBinding{Name: "ops", Binding: &access.Binding{Subjects: []string{"cert:ops"}, Grants: []access.Grant{scoped()}}, Author: "admin", At: at(301)})
	l.apply(fsm.IssueToken{Binding: "ops", Token: token("t1", at(400)), Reason: "for CI"}, fsm.IssueToken{Binding: "ops", Token: token("t2", time.Time{})})
	l.apply(fsm.RevokeToken{ID: "t2", Author: "admin", Reason: "leaked", At: at(302)})
	l.apply(fsm.SetBinding{Name: "gone", Binding: &access.Binding{}, At: at(303)})
	l.apply(fsm.SetBinding{Name: "gone", Expected: l.state().Binding("gone").Revision, Author: "admin", Reason: "not needed", At: at(304)})
	l.submit("job", tasks("a"), func(c *fsm.SubmitJob) { c.Spec.Principal = "ops" })
	id := identity("a")
	id.Principal = "ops"
	if r := applyOne[fsm.GrantResult](l, fsm.Grant{
		Semaphore: "s", Identity: id, Weight: 1, RequestID: "r1", DefinitionVersion: l.state().Definition("s").Version, At: at(305),
	}); r.Permit == nil {
		tb.Fatalf("Grant: got %+v, want a permit", r)
	}
	return l
}
