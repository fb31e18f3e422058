package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func admin(subjects ...string) *access.Binding {
	return &access.Binding{Subjects: subjects, Grants: []access.Grant{{Role: access.Admin}}}
}

// newAccessLog returns the log of a cluster with an administrator.
func newAccessLog(tb tester) *log {
	l := newWorkLog(tb)
	l.apply(fsm.SetBinding{Name: "admin", Binding: admin("cert:admin"), First: true})
	return l
}

func wantOutcome(t *testing.T, l *log, cmd fsm.Command, want fsm.AccessOutcome) fsm.AccessResult {
	t.Helper()
	before := l.state().Revision()
	r := applyOne[fsm.AccessResult](l, cmd)
	if r.Outcome != want || (want == fsm.AccessApplied) != (l.state().Revision() > before) {
		t.Fatalf("%+v: result = %+v, want outcome %d", cmd, r, want)
	}
	return r
}

func TestSetBinding_First_RequiresAdministratorAndAppliesOnce(t *testing.T) {
	l := newWorkLog(t)
	wantOutcome(t, l, fsm.SetBinding{Name: "ops", Binding: &access.Binding{Subjects: []string{"cert:ops"}}}, fsm.AccessLastAdmin)
	wantOutcome(t, l, fsm.SetBinding{Name: "admin", Binding: admin("cert:admin"), First: true}, fsm.AccessApplied)
	wantOutcome(t, l, fsm.SetBinding{Name: "other", Binding: admin("cert:other"), First: true}, fsm.AccessUnchanged)
}

func TestSetBinding_LastAdministrator_IsNotRemoved(t *testing.T) {
	l := newAccessLog(t)
	now := l.state().Binding("admin").Revision
	wantOutcome(t, l, fsm.SetBinding{Name: "admin", Expected: now}, fsm.AccessLastAdmin)
	wantOutcome(t, l, fsm.SetBinding{Name: "admin", Expected: now, Binding: admin()}, fsm.AccessLastAdmin)
	wantOutcome(t, l, fsm.SetBinding{Name: "ann", Binding: admin()}, fsm.AccessApplied) // ann has no credential yet
	wantOutcome(t, l, fsm.SetBinding{Name: "admin", Expected: now}, fsm.AccessLastAdmin)
	wantOutcome(t, l, fsm.IssueToken{Binding: "ann", Token: token("t", time.Time{})}, fsm.AccessApplied)
	wantOutcome(t, l, fsm.SetBinding{Name: "admin", Expected: now}, fsm.AccessApplied)
	wantOutcome(t, l, fsm.RevokeToken{ID: "t"}, fsm.AccessLastAdmin)
}

func TestSetBinding_TakenSubjectOrStaleRevision_IsRefused(t *testing.T) {
	l := newAccessLog(t)
	if r := wantOutcome(t, l, fsm.SetBinding{Name: "x", Binding: admin("cert:x", "cert:admin")}, fsm.AccessSubjectTaken); r.Subject != "cert:admin" || r.Binding.Name != "admin" {
		t.Errorf("SetBinding with a taken subject: got %+v", r)
	}
	first := wantOutcome(t, l, fsm.SetBinding{Name: "x", Binding: admin("cert:x")}, fsm.AccessApplied)
	wantOutcome(t, l, fsm.SetBinding{Name: "x", Binding: admin("cert:y")}, fsm.AccessStale)
	second := wantOutcome(t, l, fsm.SetBinding{Name: "x", Expected: first.Revision, Binding: admin("cert:y")}, fsm.AccessApplied)
	wantOutcome(t, l, fsm.SetBinding{Name: "x", Expected: first.Revision}, fsm.AccessStale)
	wantOutcome(t, l, fsm.SetBinding{Name: "x", Expected: second.Revision}, fsm.AccessApplied)
	wantOutcome(t, l, fsm.SetBinding{Name: "x", Expected: second.Revision, Binding: admin("cert:y")}, fsm.AccessAbsent)
	unchanged[fsm.InvalidResult](l, fsm.SetBinding{Name: "x", Binding: admin("y")})
}

func TestIssueToken_AtLimit_DropsExpiredTokens(t *testing.T) {
	l := newAccessLog(t)
	wantOutcome(t, l, fsm.IssueToken{Binding: "none", Token: token("t", time.Time{})}, fsm.AccessAbsent)
	for i := range access.MaxTokens {
		wantOutcome(t, l, fsm.IssueToken{Binding: "admin", Token: token(fmt.Sprint("t", i), at(301+i))}, fsm.AccessApplied)
	}
	wantOutcome(t, l, fsm.IssueToken{Binding: "admin", Token: token("one more", time.Time{})}, fsm.AccessFull)
	wantOutcome(t, l, fsm.IssueToken{Binding: "admin", Token: token("t1", time.Time{})}, fsm.AccessStale)
	late := token("late", time.Time{})
	late.CreatedAt = at(310)
	wantOutcome(t, l, fsm.IssueToken{Binding: "admin", Token: late}, fsm.AccessApplied)
	equal(t, "tokens", len(l.state().Binding("admin").Tokens), access.MaxTokens-10+1)
	wantOutcome(t, l, fsm.RevokeToken{ID: "t0"}, fsm.AccessAbsent)
	wantOutcome(t, l, fsm.RevokeToken{ID: "late"}, fsm.AccessApplied)
}

// Viewers can read the journal, so it must not contain hashes.
func TestJournal_Bindings_OmitTokenHashes(t *testing.T) {
	l := accessScenario(t)
	changes := 0
	for e := range l.state().Journal("", 0) {
		for _, b := range []*access.Binding{e.Details().BindingBefore, e.Details().BindingAfter} {
			for i := 0; b != nil && i < len(b.Tokens); i++ {
				if b.Tokens[i].Hash != ([32]byte{}) {
					t.Errorf("the journal contains the hash of token %s", b.Tokens[i].ID)
				}
			}
		}
		if e.Kind == fsm.BindingChanged {
			changes++
		}
	}
	equal(t, "changes", changes, 7)
}

// Submitting a job again replaces an unfinished submission with the same id, unless it belongs to another principal.
func TestSubmit_AnotherPrincipalsSubmission_IsKept(t *testing.T) {
	l := newAccessLog(t)
	submit := func(principal string) fsm.SubmitResult {
		return applyOne[fsm.SubmitResult](l, fsm.SubmitJob{
			Spec: &work.Spec{ID: "j", Semaphore: "s", MaxResult: 8, Principal: principal}, Tasks: tasks("a"),
		})
	}
	first := submit("one")
	if r := submit("two"); r.Outcome != fsm.SubmitExists || l.job("j").Number != first.Job.Number {
		t.Fatalf("SubmitJob by another principal: got %+v, want SubmitExists", r)
	}
	if r := submit("one"); r.Outcome != fsm.SubmitAccepted || l.job("j").Number == first.Job.Number {
		t.Fatalf("second SubmitJob by the same principal: got %+v, want a new submission", r)
	}
}

// Two principals with the same group, acquirer and holder id are different callers, so neither can acquire or cancel
// the other's permit.
func TestPrincipals_SameIdentity_DoNotSharePermits(t *testing.T) {
	l := newAccessLog(t)
	version := l.state().Definition("s").Version
	acquire := func(principal string) fsm.GrantResult {
		return applyOne[fsm.GrantResult](l, fsm.Grant{
			Semaphore: "s", Identity: semaphore.Identity{Group: "g", Acquirer: "a", HolderID: "h", Principal: principal}, Weight: 1, RequestID: "same",
			DefinitionVersion: version, At: at(1),
		})
	}
	first, second := acquire("one"), acquire("two")
	if first.Permit == nil || second.Permit == nil || first.Permit.Token == second.Permit.Token {
		t.Fatalf("grants to two principals: got %+v and %+v, want two permits", first, second)
	}
	r := applyOne[fsm.CancelResult](l, fsm.Cancel{Semaphore: "s", Identity: second.Permit.Identity, RequestID: "same", Token: second.Permit.Token})
	if r.ReturnedPermit == nil || r.ReturnedPermit.Token != second.Permit.Token || l.state().Permit(first.Permit.Token) == nil {
		t.Fatalf("Cancel: got %+v, want only the second permit released", r)
	}
}

func TestRestore_InconsistentBindings_IsRefused(t *testing.T) {
	binding := func(r []*logv1.Record, name string) *logv1.StoredBinding {
		return r[slices.IndexFunc(r, func(r *logv1.Record) bool { return r.GetBinding().GetName() == name })].GetBinding()
	}
	for _, tc := range []struct {
		why    string
		change func(r []*logv1.Record)
	}{
		{"is out of order", func(r []*logv1.Record) { binding(r, "ops").Name = "aaa" }},
		{"the last one is", func(r []*logv1.Record) { binding(r, "ops").Revision = 1 << 40 }},
		{"must be cert:NAME", func(r []*logv1.Record) { binding(r, "ops").Subjects = []string{"ops"} }},
		{`"cert:admin" belongs to the bindings "admin" and "ops"`, func(r []*logv1.Record) { binding(r, "ops").Subjects = []string{"cert:admin"} }},
		{`"token:t1" belongs to the bindings "ops" and "ops"`, func(r []*logv1.Record) {
			ops := binding(r, "ops")
			ops.Tokens = append(ops.Tokens, ops.GetTokens()[0])
		}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			records := readRecords(t, snapshot(t, accessScenario(t).state()))
			tc.change(records)
			err := fsm.New("").Restore(bytes.NewReader(writeRecords(t, records)))
			if !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), tc.why) {
				t.Fatalf("Restore() = %v, want an error that contains %s", err, tc.why)
			}
		})
	}
}
