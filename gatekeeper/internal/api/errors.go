package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/phrase"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/undo"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Domain is the domain of our google.rpc.ErrorInfo details. It is frozen.
const Domain = "gatekeeper"

// Reasons in google.rpc.ErrorInfo. They are frozen, because clients act on them.
const (
	reasonNotLeader        = "NOT_LEADER"
	reasonNoLeader         = "NO_LEADER"
	reasonNotConfirmed     = "NOT_CONFIRMED"
	reasonOutcomeUnknown   = "OUTCOME_UNKNOWN"
	reasonNotAppended      = "NOT_APPENDED"
	reasonShuttingDown     = "SHUTTING_DOWN"
	reasonInvalidField     = "INVALID_FIELD"
	reasonStaleVersion     = "STALE_VERSION"
	reasonAlreadyExists    = "ALREADY_EXISTS"
	reasonNoSuchDefinition = "NO_SUCH_DEFINITION"
	reasonRevisionChanged  = "REVISION_CHANGED"
	reasonRequestEnded     = "REQUEST_ENDED"
	reasonRequestReused    = "REQUEST_REUSED"
	reasonRequestTooOld    = "REQUEST_TOO_OLD"
	reasonNoSuchPermit     = "NO_SUCH_PERMIT"
	reasonMemberRetired    = "MEMBER_RETIRED"
	reasonMemberExists     = "MEMBER_EXISTS"
	reasonNoSuchMember     = "NO_SUCH_MEMBER"
	reasonNotAVoter        = "NOT_A_VOTER"
	reasonLastVoter        = "LAST_VOTER"
	reasonWouldLoseQuorum  = "WOULD_LOSE_QUORUM"
	reasonHasVote          = "HAS_VOTE"
	reasonAddedNonVoter    = "ADDED_WITHOUT_VOTE"
	reasonHopLimit         = "HOP_LIMIT"
	reasonWrongCluster     = "WRONG_CLUSTER"
	reasonSuperseded       = "SUPERSEDED"
	reasonRefused          = "REFUSED"
	reasonTransferFailed   = "TRANSFER_FAILED"
	reasonTooLarge         = "TOO_LARGE"
	reasonNoSuchCordon     = "NO_SUCH_CORDON"
	reasonNoSuchChange     = "NO_SUCH_CHANGE"
	reasonChangedSince     = "CHANGED_SINCE"
	reasonUndoConflict     = "UNDO_CONFLICT"
	reasonUndoIncomplete   = "UNDO_INCOMPLETE"
	reasonNoSuchFiring     = "NO_SUCH_FIRING"
	reasonFiringConflict   = "FIRING_CONFLICT"
	reasonNoMatch          = "NO_MATCH"
	reasonFeatureLevel     = "FEATURE_LEVEL"
	reasonRecovering       = "RECOVERING"
	reasonNoSuchJob        = "NO_SUCH_JOB"
	reasonJobDiffers       = "JOB_DIFFERS"
	reasonJobNotFinished   = "JOB_NOT_FINISHED"
	reasonSubmissionLost   = "SUBMISSION_LOST"
	reasonWorkLimit        = "WORK_LIMIT"
	reasonUnauthenticated  = "UNAUTHENTICATED"
	reasonForbidden        = "FORBIDDEN"
	reasonTooManyFailures  = "TOO_MANY_FAILURES"
	reasonNoSuchBinding    = "NO_SUCH_BINDING"
	reasonSubjectTaken     = "SUBJECT_TAKEN"
	reasonLastAdmin        = "LAST_ADMIN"
	reasonAccessLimit      = "ACCESS_LIMIT"
	reasonInternal         = "INTERNAL"
)

// overloadRetry is the minimum time, and half the maximum time, that a caller must wait after an overload. The minimum
// lets current work finish. The jitter keeps callers that were refused at the same time from retrying at the same time.
const overloadRetry = 250 * time.Millisecond

// A rule maps the errors that it matches to a status with a code and a reason.
type rule struct {
	// name is the name of the sentinel or type in its package. A test checks it against the source code.
	name   string
	code   codes.Code
	reason string // empty if there is no ErrorInfo
	// match reports whether an error matches, and returns the metadata for its ErrorInfo.
	match func(error) (map[string]string, bool)
	// details returns further details. It may be nil.
	details func(error) []protoadapt.MessageV1
}

// statusTable maps errors to statuses. The first match wins. Unknown outcomes come before the errors that they wrap,
// because a definite refusal would tell the caller that nothing was done.
var statusTable = []rule{ //nolint:gochecknoglobals // a table, never changed
	{"consensus.ErrUnknownOutcome", codes.Unavailable, reasonOutcomeUnknown, is(consensus.ErrUnknownOutcome), nil},
	{"api.brokenHopError", codes.Unavailable, reasonOutcomeUnknown, as(func(e *brokenHopError) map[string]string { return hint(e.leader) }), nil},

	{"semaphore.FieldError", codes.InvalidArgument, reasonInvalidField, as(func(e *semaphore.FieldError) map[string]string {
		return map[string]string{"field": e.Field, "value": e.Value, "rule": e.Rule}
	}), badRequest},

	{"api.unreadableError", codes.InvalidArgument, reasonInvalidField, as(func(*unreadableError) map[string]string {
		return map[string]string{"field": "", "rule": "must be a valid request message for this method"}
	}), nil},
	{"api.tooLargeError", codes.ResourceExhausted, reasonTooLarge, as(func(e *tooLargeError) map[string]string {
		return map[string]string{"size": strconv.Itoa(e.size), "limit": strconv.Itoa(MaxMessage)}
	}), nil},

	{"consensus.NotLeaderError", codes.Unavailable, reasonNotLeader, func(err error) (map[string]string, bool) {
		e, ok := errors.AsType[*consensus.NotLeaderError](err)
		if !ok || e.Leader.ID == "" {
			return nil, false
		}
		return hint(e.Leader), true
	}, nil},
	{"consensus.NotLeaderError", codes.Unavailable, reasonNoLeader, as(func(*consensus.NotLeaderError) map[string]string { return nil }), nil},
	{"api.retryableError", codes.Unavailable, reasonNoLeader, as(func(*retryableError) map[string]string { return nil }), nil},
	{"api.unreachableError", codes.Unavailable, reasonNoLeader, as(func(e *unreachableError) map[string]string { return hint(e.leader) }), nil},
	{"api.wrongClusterError", codes.FailedPrecondition, reasonWrongCluster, as(func(e *wrongClusterError) map[string]string {
		return map[string]string{"cluster": e.own, "requested": e.requested}
	}), nil},
	{"api.misdirectedError", codes.Unavailable, reasonNoLeader, as(func(*misdirectedError) map[string]string { return nil }), nil},
	{"api.hopError", codes.Unavailable, reasonHopLimit, as(func(e *hopError) map[string]string { return hint(e.leader) }), nil},
	{"api.ErrShuttingDown", codes.Unavailable, reasonShuttingDown, is(ErrShuttingDown), nil},
	{"consensus.ErrClosed", codes.Unavailable, reasonShuttingDown, is(consensus.ErrClosed), nil},
	{"consensus.ErrNotConfirmed", codes.Unavailable, reasonNotConfirmed, is(consensus.ErrNotConfirmed), nil},
	// The next two errors mean the same to clients: nothing was done, try again later.
	{"admission.OverloadedError", codes.ResourceExhausted, reasonNotAppended, as(func(e *admission.OverloadedError) map[string]string {
		return map[string]string{"limit": strconv.Itoa(e.Limit), "of": e.Scope.String(), "kind": e.Kind.String()}
	}), retryLater},
	{"batcher.ErrOverloaded", codes.ResourceExhausted, reasonNotAppended, is(batcher.ErrOverloaded), retryLater},
	{"oidc.UnavailableError", codes.Unavailable, reasonNotAppended, as(func(*oidc.UnavailableError) map[string]string { return nil }), nil},
	{"consensus.ErrNotAppended", codes.Unavailable, reasonNotAppended, is(consensus.ErrNotAppended), nil},

	{"keeper.ErrRevisionChanged", codes.Aborted, reasonRevisionChanged, as(func(e *keeper.RevisionChangedError) map[string]string {
		return map[string]string{"semaphore": e.Semaphore, "expected": decimal(e.Expected), "current": decimal(e.Current)}
	}), nil},
	{"keeper.ErrRequestEnded", codes.FailedPrecondition, reasonRequestEnded, as(func(e *keeper.RequestEndedError) map[string]string {
		return map[string]string{"how": e.Outcome.String(), "token": decimal(e.Token)}
	}), nil},
	{"keeper.ErrRequestReused", codes.InvalidArgument, reasonRequestReused, as(func(e *keeper.RequestReusedError) map[string]string {
		return map[string]string{"request_id": e.RequestID, "semaphore": e.Semaphore, "change": decimal(e.ChangeID())}
	}), nil},
	{"keeper.ErrRequestTooOld", codes.FailedPrecondition, reasonRequestTooOld, as(func(e *keeper.RequestTooOldError) map[string]string {
		return map[string]string{
			"request_revision": decimal(e.RequestRevision), "forgotten": decimal(e.Forgotten), "revision": decimal(e.Revision),
		}
	}), nil},
	{"keeper.ErrNoSuchPermit", codes.NotFound, reasonNoSuchPermit, as(func(e *keeper.NoSuchPermitError) map[string]string {
		return map[string]string{"token": decimal(e.Token)}
	}), nil},
	{"keeper.ErrConflict", codes.AlreadyExists, reasonAlreadyExists, conflict(fsm.ConflictExists), nil},
	{"keeper.ErrConflict", codes.NotFound, reasonNoSuchDefinition, conflict(fsm.ConflictAbsent), nil},
	{"keeper.ErrConflict", codes.Aborted, reasonStaleVersion, conflict(fsm.ConflictStale), nil},
	{"keeper.NoSuchJobError", codes.NotFound, reasonNoSuchJob, as(func(e *keeper.NoSuchJobError) map[string]string {
		return map[string]string{"id": e.ID}
	}), nil},
	{"keeper.JobNotFinishedError", codes.FailedPrecondition, reasonJobNotFinished, as(func(e *keeper.JobNotFinishedError) map[string]string {
		return map[string]string{"id": e.ID}
	}), nil},
	{"keeper.SubmissionLostError", codes.Aborted, reasonSubmissionLost, as(func(e *keeper.SubmissionLostError) map[string]string {
		return map[string]string{"id": e.ID}
	}), nil},
	{"keeper.WorkLimitError", codes.ResourceExhausted, reasonWorkLimit, as(func(e *keeper.WorkLimitError) map[string]string {
		return map[string]string{"limit": e.Limit, "needed": decimal(e.Needed), "max": decimal(e.Max)}
	}), nil},
	{"work.DiffersError", codes.AlreadyExists, reasonJobDiffers, as(func(e *work.DiffersError) map[string]string {
		return map[string]string{"id": e.ID}
	}), nil},
	{"keeper.ErrSuperseded", codes.Aborted, reasonSuperseded, is(keeper.ErrSuperseded), nil},
	{"keeper.ErrRefused", codes.FailedPrecondition, reasonRefused, is(keeper.ErrRefused), nil},
	{"keeper.ErrNoSuchCordon", codes.NotFound, reasonNoSuchCordon, as(func(e *keeper.NoSuchCordonError) map[string]string {
		return withSuggestion(map[string]string{"id": e.ID}, e.Suggestion)
	}), nil},
	{"keeper.ErrFeatureLevel", codes.FailedPrecondition, reasonFeatureLevel, as(func(e *keeper.FeatureLevelError) map[string]string {
		return map[string]string{"needed": decimal(uint64(e.Needed)), "in_force": decimal(uint64(e.InForce))}
	}), nil},
	{"keeper.ErrRecovering", codes.Unavailable, reasonRecovering, is(keeper.ErrRecovering), nil},
	{"undo.NoSuchChangeError", codes.NotFound, reasonNoSuchChange, as(func(e *undo.NoSuchChangeError) map[string]string {
		return map[string]string{"change": decimal(e.Change), "oldest": decimal(e.Oldest)}
	}), nil},
	{"undo.ConflictError", codes.FailedPrecondition, reasonUndoConflict, as(func(e *undo.ConflictError) map[string]string {
		return map[string]string{"change": decimal(e.Changes[0]), "conflicts": strings.Join(e.Conflicts, "\n")}
	}), nil},
	{"undo.IncompleteError", codes.FailedPrecondition, reasonUndoIncomplete, as(func(e *undo.IncompleteError) map[string]string {
		return map[string]string{"missing": strings.Join(e.Missing, "\n")}
	}), nil},
	{"preview.ChangedError", codes.Aborted, reasonChangedSince, as(func(e *preview.ChangedError) map[string]string {
		return map[string]string{"semaphores": strings.Join(e.Names(), "\n")}
	}), nil},
	{"preview.NoFiringError", codes.NotFound, reasonNoSuchFiring, as(func(e *preview.NoFiringError) map[string]string {
		return map[string]string{"semaphore": e.Semaphore, "firing": phrase.Firing(e.Firing)}
	}), nil},
	{"preview.FiringConflictError", codes.FailedPrecondition, reasonFiringConflict, as(func(e *preview.FiringConflictError) map[string]string {
		return map[string]string{"semaphore": e.Semaphore, "conflicts": strings.Join(e.Conflicts, "\n")}
	}), nil},
	{"selector.NoMatchError", codes.NotFound, reasonNoMatch, as(func(e *selector.NoMatchError) map[string]string {
		return withSuggestion(map[string]string{}, e.Suggestion)
	}), nil},
	{"selector.NoDefinitionError", codes.NotFound, reasonNoSuchDefinition, as(func(e *selector.NoDefinitionError) map[string]string {
		return withSuggestion(map[string]string{"name": e.Name}, e.Suggestion)
	}), nil},

	{"consensus.ErrMemberExists", codes.AlreadyExists, reasonMemberExists, is(consensus.ErrMemberExists), nil},
	{"consensus.ErrMemberRetired", codes.FailedPrecondition, reasonMemberRetired, is(consensus.ErrMemberRetired), nil},
	{"consensus.ErrNoSuchMember", codes.NotFound, reasonNoSuchMember, is(consensus.ErrNoSuchMember), nil},
	{"consensus.ErrNotAVoter", codes.FailedPrecondition, reasonNotAVoter, is(consensus.ErrNotAVoter), nil},
	{"consensus.ErrLastVoter", codes.FailedPrecondition, reasonLastVoter, is(consensus.ErrLastVoter), nil},
	{"consensus.QuorumError", codes.FailedPrecondition, reasonWouldLoseQuorum, as(func(e *consensus.QuorumError) map[string]string {
		return map[string]string{
			"id": e.ID, "voters": strconv.Itoa(e.Voters), "majority": strconv.Itoa(e.Majority), "silent": strings.Join(e.Silent, ","),
		}
	}), nil},
	{"consensus.ErrHasVote", codes.FailedPrecondition, reasonHasVote, is(consensus.ErrHasVote), nil},
	{"consensus.ErrAddedWithoutVote", codes.FailedPrecondition, reasonAddedNonVoter, is(consensus.ErrAddedWithoutVote), nil},
	{"consensus.ErrInvalidMember", codes.InvalidArgument, reasonInvalidField, is(consensus.ErrInvalidMember), nil},

	{"context.Canceled", codes.Canceled, "", is(context.Canceled), nil},
	{"context.DeadlineExceeded", codes.DeadlineExceeded, "", is(context.DeadlineExceeded), nil},

	{"api.unauthenticatedError", codes.Unauthenticated, reasonUnauthenticated, as(func(*unauthenticatedError) map[string]string { return nil }), nil},
	{"api.forbiddenError", codes.PermissionDenied, reasonForbidden, as(func(e *forbiddenError) map[string]string {
		return map[string]string{"principal": e.principal, "role": e.role.String()}
	}), nil},
	{"guessing.BlockedError", codes.ResourceExhausted, reasonTooManyFailures, as(func(e *guessing.BlockedError) map[string]string {
		return map[string]string{"source": e.Source.String()}
	}), func(err error) []protoadapt.MessageV1 {
		blocked, _ := errors.AsType[*guessing.BlockedError](err)
		return []protoadapt.MessageV1{&errdetails.RetryInfo{RetryDelay: durationpb.New(blocked.Retry)}}
	}},
	{"api.accessError", codes.NotFound, reasonNoSuchBinding, accessOutcome(fsm.AccessAbsent), nil},
	{"api.accessError", codes.Aborted, reasonStaleVersion, accessOutcome(fsm.AccessStale), nil},
	{"api.accessError", codes.AlreadyExists, reasonSubjectTaken, accessOutcome(fsm.AccessSubjectTaken), nil},
	{"api.accessError", codes.FailedPrecondition, reasonLastAdmin, accessOutcome(fsm.AccessLastAdmin), nil},
	{"api.accessError", codes.ResourceExhausted, reasonAccessLimit, accessOutcome(fsm.AccessFull), nil},

	{"api.transferError", codes.Unavailable, reasonTransferFailed, as(func(*transferError) map[string]string { return nil }), nil},
}

// toStatus converts an error to a gRPC status. An error that is already a status, such as the leader's response to a
// forwarded call, is returned unchanged. An error that is not in the table becomes INTERNAL.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return err
	}
	for i := range statusTable {
		r := &statusTable[i]
		metadata, ok := r.match(err)
		if !ok {
			continue
		}
		var details []protoadapt.MessageV1
		if r.reason != "" {
			details = append(details, &errdetails.ErrorInfo{Domain: Domain, Reason: r.reason, Metadata: metadata})
		}
		if r.details != nil {
			details = append(details, r.details(err)...)
		}
		text := strings.TrimPrefix(err.Error(), "consensus: ") // callers do not need the package name
		return withDetails(r.code, text, details...)
	}
	return withDetails(codes.Internal, err.Error(), &errdetails.ErrorInfo{Domain: Domain, Reason: reasonInternal})
}

func withDetails(code codes.Code, text string, details ...protoadapt.MessageV1) error {
	plain := status.New(code, text)
	full, err := plain.WithDetails(details...)
	if err != nil { // the code matters more than a detail that cannot be encoded
		return plain.Err()
	}
	return full.Err()
}

// reasonOf returns the reason of a status, or an empty string if the status is not ours.
func reasonOf(s *status.Status) string {
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetDomain() == Domain {
			return info.GetReason()
		}
	}
	return ""
}

// is returns a matcher for a sentinel.
func is(sentinel error) func(error) (map[string]string, bool) {
	return func(err error) (map[string]string, bool) { return nil, errors.Is(err, sentinel) }
}

// as returns a matcher for an error type. metadata extracts the metadata from a matching error.
func as[E error](metadata func(E) map[string]string) func(error) (map[string]string, bool) {
	return func(err error) (map[string]string, bool) {
		e, ok := errors.AsType[E](err)
		if !ok {
			return nil, false
		}
		return metadata(e), true
	}
}

func conflict(kind fsm.ConflictKind) func(error) (map[string]string, bool) {
	return func(err error) (map[string]string, bool) {
		e, ok := errors.AsType[*keeper.ConflictError](err)
		if !ok || e.Kind != kind {
			return nil, false
		}
		info := map[string]string{"name": e.Name, "index": strconv.Itoa(e.Index)}
		if e.Current != nil {
			info["current"] = decimal(e.Current.Version)
		}
		if e, ok := errors.AsType[*conflictError](err); ok {
			if kind == fsm.ConflictStale {
				info["expected"] = decimal(e.expected)
			}
			info = withSuggestion(info, e.suggestion)
		}
		return info, true
	}
}

// withSuggestion adds the name that the caller probably meant, if any.
func withSuggestion(metadata map[string]string, suggestion string) map[string]string {
	if suggestion != "" {
		metadata["suggestion"] = suggestion
	}
	return metadata
}

func badRequest(err error) []protoadapt.MessageV1 {
	e, ok := errors.AsType[*semaphore.FieldError](err)
	if !ok {
		return nil
	}
	return []protoadapt.MessageV1{&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: e.Field, Description: e.Rule, Reason: reasonInvalidField},
	}}}
}

func retryLater(error) []protoadapt.MessageV1 {
	return []protoadapt.MessageV1{&errdetails.RetryInfo{RetryDelay: durationpb.New(overloadRetry + rand.N(overloadRetry))}}
}

// hint returns metadata that names the leader.
func hint(l consensus.Leader) map[string]string {
	if l.ID == "" {
		return nil
	}
	info := map[string]string{"leader_id": l.ID, "leader_api": l.APIAddress, "term": decimal(l.Term)}
	if l.Name != "" {
		info["leader_name"] = l.Name // the caller should send it as HopToHeader
	}
	return info
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
