package api

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/undo"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// errorCase is an error and its expected status.
type errorCase struct {
	name     string // of the error's rule in statusTable
	err      error
	code     codes.Code
	reason   string
	metadata map[string]string
}

func errorCases() []errorCase {
	leader := consensus.Leader{ID: "gk2", PeerAddress: "p:1", APIAddress: "a:2", Term: 7}
	hinted := map[string]string{"leader_id": "gk2", "leader_api": "a:2", "term": "7"}
	conflict := func(kind fsm.ConflictKind, current *fsm.StoredDefinition) *keeper.ConflictError {
		return &keeper.ConflictError{Conflict: fsm.Conflict{Index: 3, Kind: kind, Name: "n", Current: current}}
	}
	stored := &fsm.StoredDefinition{Version: 9, UpdatedBy: "ann"}
	ended := &keeper.RequestEndedError{Remembered: fsm.Remembered{RequestID: "r", Outcome: semaphore.EndExpired, Token: 5}}
	field := &semaphore.FieldError{Field: "f", Value: "v", Rule: "must be w"}
	return []errorCase{
		{"consensus.ErrUnknownOutcome", consensus.ErrUnknownOutcome, codes.Unavailable, "OUTCOME_UNKNOWN", nil},
		{"api.brokenHopError", &brokenHopError{leader, errors.New("x")}, codes.Unavailable, "OUTCOME_UNKNOWN", hinted},
		{"semaphore.FieldError", field, codes.InvalidArgument, "INVALID_FIELD", map[string]string{"field": "f", "value": "v", "rule": "must be w"}},
		{"semaphore.FieldError", &keeper.EditFieldError{Index: 1, Name: "n", Err: field}, codes.InvalidArgument, "INVALID_FIELD", map[string]string{"field": "f", "value": "v", "rule": "must be w"}},
		{"api.unreadableError", &unreadableError{errors.New("x")}, codes.InvalidArgument, "INVALID_FIELD", map[string]string{"field": "", "rule": "must be a valid request message for this method"}},
		{"api.tooLargeError", &tooLargeError{5 << 20}, codes.ResourceExhausted, "TOO_LARGE", map[string]string{"size": "5242880", "limit": "4194304"}},
		{"consensus.NotLeaderError", &consensus.NotLeaderError{Leader: leader}, codes.Unavailable, "NOT_LEADER", hinted},
		{"consensus.NotLeaderError", &consensus.NotLeaderError{}, codes.Unavailable, "NO_LEADER", nil},
		{
			"api.wrongClusterError", &wrongClusterError{"a.1", "b.1"}, codes.FailedPrecondition, "WRONG_CLUSTER",
			map[string]string{"cluster": "b.1", "requested": "a.1"},
		},
		{"api.misdirectedError", &misdirectedError{"a", "b"}, codes.Unavailable, "NO_LEADER", nil},
		{"api.unreachableError", &unreachableError{leader, errors.New("x")}, codes.Unavailable, "NO_LEADER", hinted},
		{"api.hopError", &hopError{leader}, codes.Unavailable, "HOP_LIMIT", hinted},
		{"api.ErrShuttingDown", ErrShuttingDown, codes.Unavailable, "SHUTTING_DOWN", nil},
		{"consensus.ErrClosed", consensus.ErrClosed, codes.Unavailable, "SHUTTING_DOWN", nil},
		{"consensus.ErrNotConfirmed", consensus.ErrNotConfirmed, codes.Unavailable, "NOT_CONFIRMED", nil},
		{"admission.OverloadedError", &admission.OverloadedError{Kind: admission.Ordinary, Scope: admission.Connection, Limit: 7}, codes.ResourceExhausted, "NOT_APPENDED", map[string]string{"limit": "7", "of": "connection", "kind": "ordinary"}},
		{"batcher.ErrOverloaded", batcher.ErrOverloaded, codes.ResourceExhausted, "NOT_APPENDED", nil},
		{"oidc.UnavailableError", &oidc.UnavailableError{Err: errors.New("x")}, codes.Unavailable, "NOT_APPENDED", nil},
		{"consensus.ErrNotAppended", consensus.ErrNotAppended, codes.Unavailable, "NOT_APPENDED", nil},
		{"keeper.ErrRevisionChanged", &keeper.RevisionChangedError{Semaphore: "s", Expected: 1, Current: 2}, codes.Aborted, "REVISION_CHANGED", map[string]string{"semaphore": "s", "expected": "1", "current": "2"}},
		{"keeper.ErrRequestEnded", ended, codes.FailedPrecondition, "REQUEST_ENDED", map[string]string{"how": "expired", "token": "5"}},
		{
			"keeper.ErrRequestReused", &keeper.RequestReusedError{Remembered: fsm.Remembered{RequestID: "r", Edit: fsm.EditPause, Revision: 7}, Why: "x"},
			codes.InvalidArgument, "REQUEST_REUSED", map[string]string{"request_id": "r", "semaphore": "", "change": "7"},
		},
		{
			"keeper.ErrRequestTooOld", &keeper.RequestTooOldError{TooOld: fsm.TooOld{RequestRevision: 3, Forgotten: 5, Revision: 9}, Why: "x"},
			codes.FailedPrecondition, "REQUEST_TOO_OLD", map[string]string{"request_revision": "3", "forgotten": "5", "revision": "9"},
		},
		{"keeper.ErrNoSuchPermit", &keeper.NoSuchPermitError{Token: 4, Why: "x"}, codes.NotFound, "NO_SUCH_PERMIT", map[string]string{"token": "4"}},
		{"keeper.ErrConflict", conflict(fsm.ConflictExists, stored), codes.AlreadyExists, "ALREADY_EXISTS", map[string]string{"name": "n", "index": "3", "current": "9"}},
		{"keeper.ErrConflict", conflict(fsm.ConflictAbsent, nil), codes.NotFound, "NO_SUCH_DEFINITION", map[string]string{"name": "n", "index": "3"}},
		{"keeper.ErrConflict", &conflictError{ConflictError: conflict(fsm.ConflictAbsent, nil), suggestion: "m"}, codes.NotFound, "NO_SUCH_DEFINITION", map[string]string{"name": "n", "index": "3", "suggestion": "m"}},
		{"keeper.ErrConflict", &conflictError{ConflictError: conflict(fsm.ConflictStale, stored), expected: 8}, codes.Aborted, "STALE_VERSION", map[string]string{"name": "n", "index": "3", "current": "9", "expected": "8"}},
		{"keeper.NoSuchJobError", &keeper.NoSuchJobError{ID: "j"}, codes.NotFound, "NO_SUCH_JOB", map[string]string{"id": "j"}},
		{"keeper.JobNotFinishedError", &keeper.JobNotFinishedError{ID: "j"}, codes.FailedPrecondition, "JOB_NOT_FINISHED", map[string]string{"id": "j"}},
		{"keeper.SubmissionLostError", &keeper.SubmissionLostError{ID: "j"}, codes.Aborted, "SUBMISSION_LOST", map[string]string{"id": "j"}},
		{
			"keeper.WorkLimitError", &keeper.WorkLimitError{LimitError: rules.LimitError{Limit: "max_work_bytes", Needed: 5, Max: 4}},
			codes.ResourceExhausted, "WORK_LIMIT", map[string]string{"limit": "max_work_bytes", "needed": "5", "max": "4"},
		},
		{"work.DiffersError", &work.DiffersError{ID: "j"}, codes.AlreadyExists, "JOB_DIFFERS", map[string]string{"id": "j"}},
		{"keeper.ErrSuperseded", keeper.ErrSuperseded, codes.Aborted, "SUPERSEDED", nil},
		{"keeper.ErrRefused", &keeper.RefusedError{Why: "x"}, codes.FailedPrecondition, "REFUSED", nil},
		{"keeper.ErrNoSuchCordon", &keeper.NoSuchCordonError{ID: "c", Suggestion: "d"}, codes.NotFound, "NO_SUCH_CORDON", map[string]string{"id": "c", "suggestion": "d"}},
		{"keeper.ErrFeatureLevel", &keeper.FeatureLevelError{Needed: 2, InForce: 1}, codes.FailedPrecondition, "FEATURE_LEVEL", map[string]string{"needed": "2", "in_force": "1"}},
		{"keeper.ErrRecovering", keeper.ErrRecovering, codes.Unavailable, "RECOVERING", nil},
		{"undo.NoSuchChangeError", &undo.NoSuchChangeError{Change: 4, Oldest: 7}, codes.NotFound, "NO_SUCH_CHANGE", map[string]string{"change": "4", "oldest": "7"}},
		{"preview.NoFiringError", &preview.NoFiringError{Semaphore: "s", Firing: semaphore.Firing{Name: "f"}}, codes.NotFound, "NO_SUCH_FIRING", map[string]string{"semaphore": "s", "firing": "f"}},
		{"preview.FiringConflictError", &preview.FiringConflictError{Semaphore: "s", Conflicts: []string{"a", "b"}}, codes.FailedPrecondition, "FIRING_CONFLICT", map[string]string{"semaphore": "s", "conflicts": "a\nb"}},
		{"preview.ChangedError", &preview.ChangedError{Changed: []preview.Changed{{Semaphore: "a"}, {Semaphore: "b"}}}, codes.Aborted, "CHANGED_SINCE", map[string]string{"semaphores": "a\nb"}},
		{"undo.ConflictError", &undo.ConflictError{Changes: []uint64{4}, Conflicts: []string{"a", "b"}}, codes.FailedPrecondition, "UNDO_CONFLICT", map[string]string{"change": "4", "conflicts": "a\nb"}},
		{"undo.IncompleteError", &undo.IncompleteError{Missing: []string{"a", "b"}}, codes.FailedPrecondition, "UNDO_INCOMPLETE", map[string]string{"missing": "a\nb"}},
		{"selector.NoMatchError", &selector.NoMatchError{Chosen: []string{"m*"}, Suggestion: "n*"}, codes.NotFound, "NO_MATCH", map[string]string{"suggestion": "n*"}},
		{"selector.NoMatchError", &selector.NoMatchError{}, codes.NotFound, "NO_MATCH", nil},
		{"selector.NoDefinitionError", &selector.NoDefinitionError{Name: "n"}, codes.NotFound, "NO_SUCH_DEFINITION", map[string]string{"name": "n"}},
		{"selector.NoDefinitionError", &selector.NoDefinitionError{Name: "n", Suggestion: "m"}, codes.NotFound, "NO_SUCH_DEFINITION", map[string]string{"name": "n", "suggestion": "m"}},
		{"consensus.ErrMemberExists", consensus.ErrMemberExists, codes.AlreadyExists, "MEMBER_EXISTS", nil},
		{"consensus.ErrMemberRetired", consensus.ErrMemberRetired, codes.FailedPrecondition, "MEMBER_RETIRED", nil},
		{"consensus.ErrNoSuchMember", consensus.ErrNoSuchMember, codes.NotFound, "NO_SUCH_MEMBER", nil},
		{"consensus.ErrNotAVoter", consensus.ErrNotAVoter, codes.FailedPrecondition, "NOT_A_VOTER", nil},
		{"consensus.ErrLastVoter", consensus.ErrLastVoter, codes.FailedPrecondition, "LAST_VOTER", nil},
		{
			"consensus.QuorumError", &consensus.QuorumError{ID: "gk2", Voters: 2, Majority: 2, Silent: []string{"gk3"}}, codes.FailedPrecondition,
			"WOULD_LOSE_QUORUM", map[string]string{"id": "gk2", "voters": "2", "majority": "2", "silent": "gk3"},
		},
		{"consensus.ErrHasVote", consensus.ErrHasVote, codes.FailedPrecondition, "HAS_VOTE", nil},
		{"consensus.ErrAddedWithoutVote", consensus.ErrAddedWithoutVote, codes.FailedPrecondition, "ADDED_WITHOUT_VOTE", nil},
		{"consensus.ErrInvalidMember", consensus.ErrInvalidMember, codes.InvalidArgument, "INVALID_FIELD", nil},
		{"context.Canceled", context.Canceled, codes.Canceled, "", nil},
		{"context.DeadlineExceeded", context.DeadlineExceeded, codes.DeadlineExceeded, "", nil},
		{"api.retryableError", &retryableError{authStarting}, codes.Unavailable, "NO_LEADER", nil},
		{"api.unauthenticatedError", &unauthenticatedError{"why"}, codes.Unauthenticated, "UNAUTHENTICATED", nil},
		{"api.forbiddenError", &forbiddenError{"app", access.Operator, "anywhere"}, codes.PermissionDenied, "FORBIDDEN",
			map[string]string{"principal": "app", "role": "operator"}},
		{"guessing.BlockedError", &guessing.BlockedError{Source: netip.MustParsePrefix("192.0.2.7/32"), Retry: time.Second}, codes.ResourceExhausted,
			"TOO_MANY_FAILURES", map[string]string{"source": "192.0.2.7/32"}},
		{"api.accessError", &accessError{fsm.AccessResult{Outcome: fsm.AccessAbsent}, "x"}, codes.NotFound, "NO_SUCH_BINDING", nil},
		{"api.accessError", &accessError{fsm.AccessResult{Outcome: fsm.AccessStale, Binding: &access.Binding{Name: "b", Revision: 7}}, "x"}, codes.Aborted,
			"STALE_VERSION", map[string]string{"binding": "b", "current": "7"}},
		{"api.accessError", &accessError{fsm.AccessResult{Outcome: fsm.AccessSubjectTaken}, "x"}, codes.AlreadyExists, "SUBJECT_TAKEN", nil},
		{"api.accessError", &accessError{fsm.AccessResult{Outcome: fsm.AccessLastAdmin}, "x"}, codes.FailedPrecondition, "LAST_ADMIN", nil},
		{"api.accessError", &accessError{fsm.AccessResult{Outcome: fsm.AccessFull}, "x"}, codes.ResourceExhausted, "ACCESS_LIMIT", nil},
		{"api.transferError", &transferError{errors.New("x")}, codes.Unavailable, "TRANSFER_FAILED", nil},
		{"", errPanic, codes.Internal, "INTERNAL", nil},
		{"", errors.New("an unlisted error"), codes.Internal, "INTERNAL", nil},
	}
}

func TestToStatus_BareAndWrappedErrors_HaveExpectedStatus(t *testing.T) {
	for _, c := range errorCases() {
		for _, err := range []error{c.err, fmt.Errorf("in some package: %w", c.err), errors.Join(errors.New("other"), c.err)} {
			answer := toStatus(err)
			s := status.Convert(answer)
			info := infoOf(s)
			if s.Code() != c.code || info.GetReason() != c.reason || !maps.Equal(info.GetMetadata(), c.metadata) {
				t.Errorf("%v: got %v %v, want %v %s %v", err, s.Code(), info, c.code, c.reason, c.metadata)
			}
			if s.Message() != strings.TrimPrefix(err.Error(), "consensus: ") {
				t.Errorf("toStatus() changed the message to %q", s.Message())
			}
			if again := toStatus(answer); !errors.Is(again, answer) {
				t.Errorf("toStatus(%v) = %v, want the status unchanged", answer, again)
			}
		}
	}
}

// An unknown outcome is never reported as a definite one, no matter what it wraps or what wraps it.
func TestToStatus_UnknownOutcome_TakesPrecedence(t *testing.T) {
	for _, cause := range []error{
		context.DeadlineExceeded, context.Canceled, consensus.ErrClosed, &consensus.NotLeaderError{}, consensus.ErrNotAppended,
	} {
		want(t, toStatus(fmt.Errorf("%w: %w", consensus.ErrUnknownOutcome, cause)), codes.Unavailable, "OUTCOME_UNKNOWN")
		want(t, toStatus(fmt.Errorf("%w: %w", cause, consensus.ErrUnknownOutcome)), codes.Unavailable, "OUTCOME_UNKNOWN")
	}
	want(t, toStatus(fmt.Errorf("%w: %w", consensus.ErrNotAppended, &consensus.NotLeaderError{})), codes.Unavailable, "NO_LEADER")
	want(t, toStatus(fmt.Errorf("%w: %w", consensus.ErrNotAppended, batcher.ErrOverloaded)), codes.ResourceExhausted, "NOT_APPENDED")
}

func TestToStatus_FieldErrorsAndOverload_HaveDetails(t *testing.T) {
	var violations []*errdetails.BadRequest_FieldViolation
	for _, d := range status.Convert(toStatus(&semaphore.FieldError{Field: "f", Rule: "must be w"})).Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			violations = bad.GetFieldViolations()
		}
	}
	if len(violations) != 1 || violations[0].GetField() != "f" || violations[0].GetDescription() != "must be w" {
		t.Errorf("toStatus() has violations %v, want one for field f", violations)
	}
	for _, err := range []error{batcher.ErrOverloaded, &admission.OverloadedError{}} {
		if after := retryAfter(toStatus(err)); after < overloadRetry || after >= 2*overloadRetry {
			t.Errorf("toStatus(%v) has retry delay %v", err, after)
		}
	}
}

// retryAfter returns the retry delay of an error, or 0 if it has none.
func retryAfter(err error) time.Duration {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// unlisted returns the errors that need no rule in statusTable, with the reason.
func unlisted() map[string]string {
	return map[string]string{
		"consensus.ErrClusterIDNeeded": "startup only",
		"consensus.ErrDataDirInUse":    "startup only",
		"consensus.ErrForeignDataDir":  "startup only",
		"consensus.ErrDataDirDamaged":  "startup only",
		"consensus.ErrDataDirNotEmpty": "offline only",
		"consensus.ErrLogStore":        "startup only",
		"consensus.ErrNotAgreed":       "startup only",
		"consensus.ErrMemberFounded":   "startup only",
		"consensus.ErrRemoved":         "stops the server",
		"consensus.ErrSuperseded":      "stops the server",
		"keeper.RevisionChangedError":  "listed as keeper.ErrRevisionChanged",
		"keeper.RequestEndedError":     "listed as keeper.ErrRequestEnded",
		"keeper.RequestReusedError":    "listed as keeper.ErrRequestReused",
		"keeper.RequestTooOldError":    "listed as keeper.ErrRequestTooOld",
		"keeper.NoSuchPermitError":     "listed as keeper.ErrNoSuchPermit",
		"keeper.ConflictError":         "listed as keeper.ErrConflict",
		"keeper.RefusedError":          "listed as keeper.ErrRefused",
		"keeper.EditFieldError":        "wraps a semaphore.FieldError",
		"keeper.NoSuchCordonError":     "listed as keeper.ErrNoSuchCordon",
		"keeper.FeatureLevelError":     "listed as keeper.ErrFeatureLevel",
		"keeper.RecoveringError":       "listed as keeper.ErrRecovering",
		"fsm.ErrUnknownCommand":        "stops the server",
		"fsm.ErrMalformed":             "stops the server",
		"fsm.ErrOutOfOrder":            "stops the server",
		"fsm.ErrSnapshot":              "restores only",
		"fsm.ErrNewer":                 "restores only",
		"fsm.ErrForeign":               "restores only",
		"watch.ErrClosed":              "a subscription is closed only by its handler, on return",
		"api.conflictError":            "wraps a keeper.ConflictError",
		"api.errPanic":                 "INTERNAL",
		"api.errNoNotices":             "becomes a consensus.NotLeaderError",
		"consensus.AddressTakenError":  "startup only",
		"api.errLeadershipChanged":     "wrapped in a brokenHopError",
		"oidc.RefusedError":            "becomes an unauthenticatedError",
		"api.RefusedError":             "returned by BindAdministrator, not to clients",
		"oidc.SourceError":             "wrapped in an UnavailableError, or startup only",
	}
}

// TestStatusTable_ListsEveryError parses the packages whose errors may reach clients. It fails if a new
// error is missing from statusTable, or if a removed error is still listed.
func TestStatusTable_ListsEveryError(t *testing.T) {
	declared := map[string]bool{"context.Canceled": true, "context.DeadlineExceeded": true}
	for pkg, dir := range map[string]string{
		"semaphore": "../../../semaphore", "fsm": "../../../fsm", "consensus": "../consensus", "batcher": "../batcher", "admission": "../admission",
		"lessor": "../lessor", "queue": "../queue", "watch": "../watch", "keeper": "../keeper", "preview": "../preview", "timers": "../timers", "selector": "../selector", "undo": "../undo", "work": "../work", "guessing": "../guessing",
		"oidc": "../oidc", "api": ".",
	} {
		for _, name := range errorsOf(t, dir, pkg == "api") {
			declared[pkg+"."+name] = true
		}
	}
	listed := make(map[string]bool)
	for _, r := range statusTable {
		listed[r.name] = true
		if !declared[r.name] {
			t.Errorf("the table lists %s, which no package declares", r.name)
		}
	}
	tested := make(map[string]bool)
	for _, c := range errorCases() {
		tested[c.name] = true
	}
	for name := range declared {
		if _, ok := unlisted()[name]; !ok && !listed[name] {
			t.Errorf("%s is missing from the table: add its status, or list it in unlisted with a reason", name)
		}
		if listed[name] && !tested[name] {
			t.Errorf("%s is missing from errorCases", name)
		}
	}
}

// TestStatusTable_ProducesEveryReason checks that the errors produce exactly the frozen reasons.
func TestStatusTable_ProducesEveryReason(t *testing.T) {
	frozen := strings.Fields(`NOT_LEADER NO_LEADER NOT_CONFIRMED OUTCOME_UNKNOWN NOT_APPENDED SHUTTING_DOWN INVALID_FIELD STALE_VERSION
		ALREADY_EXISTS NO_SUCH_DEFINITION REVISION_CHANGED REQUEST_ENDED REQUEST_REUSED REQUEST_TOO_OLD NO_SUCH_PERMIT MEMBER_RETIRED MEMBER_EXISTS NO_SUCH_MEMBER
		NOT_A_VOTER LAST_VOTER HOP_LIMIT SUPERSEDED REFUSED TRANSFER_FAILED TOO_LARGE INTERNAL NO_SUCH_CORDON NO_SUCH_CHANGE
		UNDO_CONFLICT UNDO_INCOMPLETE NO_MATCH FEATURE_LEVEL RECOVERING NO_SUCH_FIRING FIRING_CONFLICT
		WRONG_CLUSTER WOULD_LOSE_QUORUM HAS_VOTE ADDED_WITHOUT_VOTE CHANGED_SINCE
		NO_SUCH_JOB JOB_DIFFERS JOB_NOT_FINISHED SUBMISSION_LOST WORK_LIMIT
		UNAUTHENTICATED FORBIDDEN TOO_MANY_FAILURES NO_SUCH_BINDING SUBJECT_TAKEN LAST_ADMIN ACCESS_LIMIT`)
	produced := make(map[string]bool)
	for _, c := range errorCases() {
		if r := reasonOf(status.Convert(toStatus(c.err))); r != "" {
			produced[r] = true
		}
	}
	if got := slices.Sorted(maps.Keys(produced)); !slices.Equal(got, slices.Sorted(slices.Values(frozen))) {
		t.Errorf("got reasons %v, want %v", got, frozen)
	}
}

// errorsOf returns the names of the errors that a package declares: variables named ErrX (and errX if unexported is
// set) and types named XError.
func errorsOf(t *testing.T, dir string, unexported bool) (names []string) {
	t.Helper()
	isSource := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), dir, isSource, parser.SkipObjectResolution) //nolint:staticcheck // no types needed
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		for _, file := range p.Files {
			for _, d := range file.Decls {
				names = append(names, errorsDeclared(d, unexported)...)
			}
		}
	}
	return names
}

func errorsDeclared(d ast.Decl, unexported bool) (names []string) {
	decl, ok := d.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range decl.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if decl.Tok == token.VAR && (strings.HasPrefix(n.Name, "Err") || unexported && strings.HasPrefix(n.Name, "err")) {
					names = append(names, n.Name)
				}
			}
		case *ast.TypeSpec:
			if strings.HasSuffix(s.Name.Name, "Error") && (unexported || s.Name.IsExported()) {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}
