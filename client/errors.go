package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	// ErrDenied means that the servers denied a request. It is always in a *DeniedError, which contains the reason.
	ErrDenied = errors.New("denied")
	// ErrUnavailable means that no server is known to have carried out the call before the context ended. The attempts
	// end earlier if a retry is not safe, or if every endpoint has failed with a *CertificateError. With
	// ErrOutcomeUnknown, they also end if a retry is refused because the servers may have forgotten an earlier attempt
	// or because the permit has ended in the meantime. It is always in an *UnavailableError, whose Ended is nil in
	// these cases.
	ErrUnavailable = errors.New("no server responded")
	// ErrOutcomeUnknown means that the call may or may not have been carried out. It is always in an *UnavailableError.
	ErrOutcomeUnknown = errors.New("it is unknown whether the call was carried out")
	// ErrClosed means that the Client was closed.
	ErrClosed = errors.New("the client is closed")
)

// UnavailableError lists the endpoints that were tried and the error of each. It matches ErrUnavailable, and
// ErrOutcomeUnknown if an attempt may have been carried out. It wraps the error of the last attempt, every
// *CertificateError, and the context's error.
type UnavailableError struct {
	Tried []Attempt
	// Unknown is set if an attempt may have been carried out.
	Unknown bool
	// Ended is the error of the context that ended the attempts. It is nil if they ended because a retry was not safe,
	// because every endpoint failed with a *CertificateError, or because a retry was refused after an attempt that may
	// have been carried out.
	Ended error
}

// Attempt is the last attempt on an endpoint.
type Attempt struct {
	Endpoint string
	Err      error
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	switch {
	case e.Unknown:
		b.WriteString(ErrOutcomeUnknown.Error())
	case e.Recovering():
		b.WriteString("the servers are responding, but are not granting permits yet")
	case e.NoLeader():
		b.WriteString("the servers are responding, but none of them is the leader")
	case e.Throttled():
		b.WriteString("the servers are responding, but are not checking tokens from this address for now")
	default:
		b.WriteString(ErrUnavailable.Error())
	}
	for i, a := range e.Tried {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(a.Endpoint + ": " + plainText(a.Err))
	}
	if len(e.Tried) == 0 && e.Ended != nil {
		b.WriteString(": the context ended before a server was called")
	}
	return b.String()
}

// NoLeader reports whether servers responded, but none of them is the leader: an election is in progress, or too few
// voters are running. The call was not carried out. Other servers may not have responded at all.
func (e *UnavailableError) NoLeader() bool {
	return !e.Unknown && slices.ContainsFunc(e.Tried, func(a Attempt) bool { return leaderless(a.Err) })
}

// Recovering reports whether a server responded that it is not granting permits yet, because the cluster was recovered
// without its majority and holders may still rely on earlier permits. The call was not carried out. The error message
// says how long this will take.
func (e *UnavailableError) Recovering() bool {
	return !e.Unknown && slices.ContainsFunc(e.Tried, func(a Attempt) bool {
		s, ok := grpcStatus(a.Err)
		return ok && info(s).GetReason() == reasonRecovering
	})
}

// Throttled reports whether a server refused to check the bearer token because too many invalid tokens came from this
// address. The call was not carried out. The error message says when to try again.
func (e *UnavailableError) Throttled() bool {
	return !e.Unknown && slices.ContainsFunc(e.Tried, func(a Attempt) bool {
		s, ok := grpcStatus(a.Err)
		return ok && info(s).GetReason() == reasonTooManyFailures
	})
}

// Is reports whether target is ErrUnavailable, or ErrOutcomeUnknown if the outcome is unknown.
func (e *UnavailableError) Is(target error) bool {
	return target == ErrUnavailable || e.Unknown && target == ErrOutcomeUnknown
}

// Unwrap returns the error of the last attempt, all certificate errors of other attempts, and the context's error.
func (e *UnavailableError) Unwrap() []error {
	var errs []error
	if n := len(e.Tried); n > 0 {
		errs = append(errs, e.Tried[n-1].Err)
		for _, a := range e.Tried[:n-1] {
			if c, ok := errors.AsType[*CertificateError](a.Err); ok {
				errs = append(errs, c)
			}
		}
	}
	if e.Ended != nil {
		errs = append(errs, e.Ended)
	}
	return errs
}

// StatusError is a refusal by a server. Every error from a server is a StatusError or wraps one.
type StatusError struct {
	Code codes.Code
	// Reason is the reason in google.rpc.ErrorInfo; empty if the error is not from Gatekeeper.
	Reason   string
	Message  string
	Metadata map[string]string
	status   *status.Status
}

func (e *StatusError) Error() string {
	switch {
	case e.Reason != "" || e.Code == codes.OK:
		return e.Message
	case e.Code == codes.Unavailable || e.Code == codes.DeadlineExceeded || e.Code == codes.Unimplemented || e.Code == codes.Canceled:
		return plainText(status.Error(e.Code, e.Message)) // from gRPC itself, not from a server
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// GRPCStatus makes the error usable with gRPC's status package.
func (e *StatusError) GRPCStatus() *status.Status { return e.status }

// InvalidFieldError identifies a field of the request that violates a rule.
type InvalidFieldError struct {
	// Field is the path of the field, such as "edits[3].create.permits".
	Field, Value, Rule string
	*StatusError
}

// StaleVersionError reports that a definition, or a binding of AuthService, was changed after the caller read it.
type StaleVersionError struct {
	Name              string
	Expected, Current uint64
	Index             int // the position of the invalid edit in a batch
	*StatusError
}

// AlreadyExistsError reports that a definition cannot be created because its name is taken.
type AlreadyExistsError struct {
	Name    string
	Current uint64 // the version of the existing definition
	Index   int    // the position of the invalid edit in a batch
	*StatusError
}

// NoSuchDefinitionError reports that no definition has that name.
type NoSuchDefinitionError struct {
	Name       string
	Suggestion string // the most similar definition name, or empty
	Index      int    // the position of the invalid edit in a batch
	*StatusError
}

// NoMatchError reports that no definitions match the names and labels in a change. Nothing was changed.
type NoMatchError struct {
	Suggestion string // the most similar glob or labels, or empty
	*StatusError
}

// NoSuchPermitError reports that no permit has that token, or that the call does not apply to the permit.
type NoSuchPermitError struct {
	Token uint64
	*StatusError
}

// NoSuchCordonError reports that no cordon has that id.
type NoSuchCordonError struct {
	ID         string
	Suggestion string // the most similar id, or empty
	*StatusError
}

// ChangedSinceError reports that a change would no longer have the effect that its dry run or preview showed. Nothing
// was changed.
type ChangedSinceError struct {
	// Semaphores lists the semaphores for which the effect would differ; the message says how. It is empty if the
	// change does not concern semaphores.
	Semaphores []string
	*StatusError
}

// RevisionChangedError reports that the semaphore's permit revision is not the expected one: a permit has been
// acquired, released or lost since that revision was read.
type RevisionChangedError struct {
	Semaphore         string
	Expected, Current uint64
	*StatusError
}

// RequestEndedError reports that the acquisition with this request id has ended, so no more permits are granted for it.
type RequestEndedError struct {
	// How says how the acquisition ended, such as "released" or "cancelled".
	How string
	// Token is the token of the acquisition's permit, or 0 if it had none.
	Token uint64
	*StatusError
}

// NoSuchJobError reports that no job has that id: it was never submitted, or it was deleted, either by an operator or
// automatically some time after it ended.
type NoSuchJobError struct {
	ID string
	*StatusError
}

// JobDiffersError reports that a job with this id has already been submitted with different tasks or settings. Nothing
// was stored.
type JobDiffersError struct {
	ID string
	*StatusError
}

// JobNotFinishedError reports that a job cannot be deleted, because some of its tasks are waiting or held.
type JobNotFinishedError struct {
	ID string
	*StatusError
}

// WorkLimitError reports which limit a job, a task or its result would exceed. Nothing was stored.
type WorkLimitError struct {
	// Limit is the name of the limit: a cluster setting, or the job's max_result.
	Limit string
	// Needed and Max are in bytes, except for a limit on the number of tasks.
	Needed, Max uint64
	*StatusError
}

// UnauthenticatedError reports that the servers cannot identify the caller: it sent no credential, or one that is
// unknown, revoked, expired, or not named by any binding. The call was not carried out and is not retried. The Client
// continues to refresh the permits that it holds, as in an outage, because the credential may be renewed.
type UnauthenticatedError struct{ *StatusError }

// ForbiddenError reports that the caller lacks a role for the call. The message names the object and says who can grant
// the role. The call was not carried out and is not retried.
type ForbiddenError struct {
	// Principal is the name of the caller's binding.
	Principal string
	// Role is the missing role, such as "operator".
	Role string
	*StatusError
}

func (e *InvalidFieldError) Unwrap() error     { return e.StatusError }
func (e *StaleVersionError) Unwrap() error     { return e.StatusError }
func (e *AlreadyExistsError) Unwrap() error    { return e.StatusError }
func (e *NoSuchDefinitionError) Unwrap() error { return e.StatusError }
func (e *NoMatchError) Unwrap() error          { return e.StatusError }
func (e *NoSuchPermitError) Unwrap() error     { return e.StatusError }
func (e *NoSuchCordonError) Unwrap() error     { return e.StatusError }
func (e *ChangedSinceError) Unwrap() error     { return e.StatusError }
func (e *RevisionChangedError) Unwrap() error  { return e.StatusError }
func (e *RequestEndedError) Unwrap() error     { return e.StatusError }
func (e *NoSuchJobError) Unwrap() error        { return e.StatusError }
func (e *JobDiffersError) Unwrap() error       { return e.StatusError }
func (e *JobNotFinishedError) Unwrap() error   { return e.StatusError }
func (e *WorkLimitError) Unwrap() error        { return e.StatusError }
func (e *UnauthenticatedError) Unwrap() error  { return e.StatusError }
func (e *ForbiddenError) Unwrap() error        { return e.StatusError }

// tooOldSince reports whether a request was refused because the servers may have forgotten it, and returns the
// cluster's revision at that time.
func tooOldSince(err error) (revision uint64, tooOld bool) {
	e, ok := errors.AsType[*StatusError](err)
	if !ok || e.Reason != reasonRequestTooOld {
		return 0, false
	}
	revision, _ = strconv.ParseUint(e.Metadata["revision"], 10, 64) // 0 if absent: unknown
	return revision, true
}

// typed converts a gRPC error into one of the errors above. If the call failed because ctx ended, typed returns ctx's
// error.
func typed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if _, certificate := errors.AsType[*CertificateError](err); !ok || certificate {
		return err
	}
	i := info(s)
	if i == nil && ctx.Err() != nil && (s.Code() == codes.Canceled || s.Code() == codes.DeadlineExceeded) {
		return ctx.Err()
	}
	base := &StatusError{Code: s.Code(), Reason: i.GetReason(), Message: s.Message(), Metadata: i.GetMetadata(), status: s}
	return specific(i, base)
}

// specific returns the typed error for the reason in i, or base if there is none.
func specific(i *errdetails.ErrorInfo, base *StatusError) error {
	text := i.GetMetadata()
	number := func(key string) uint64 {
		n, _ := strconv.ParseUint(text[key], 10, 64) // 0 if absent
		return n
	}
	index := int(number("index"))
	switch i.GetReason() {
	case reasonInvalidField:
		return &InvalidFieldError{Field: text["field"], Value: text["value"], Rule: text["rule"], StatusError: base}
	case reasonStaleVersion:
		return &StaleVersionError{Name: cmp.Or(text["name"], text["binding"]), Expected: number("expected"), Current: number("current"), Index: index, StatusError: base}
	case reasonAlreadyExists:
		return &AlreadyExistsError{Name: text["name"], Current: number("current"), Index: index, StatusError: base}
	case reasonNoSuchDefinition:
		return &NoSuchDefinitionError{Name: text["name"], Suggestion: text["suggestion"], Index: index, StatusError: base}
	case reasonNoMatch:
		return &NoMatchError{Suggestion: text["suggestion"], StatusError: base}
	case reasonNoSuchPermit:
		return &NoSuchPermitError{Token: number("token"), StatusError: base}
	case reasonNoSuchCordon:
		return &NoSuchCordonError{ID: text["id"], Suggestion: text["suggestion"], StatusError: base}
	case reasonChangedSince:
		names := strings.FieldsFunc(text["semaphores"], func(r rune) bool { return r == '\n' })
		return &ChangedSinceError{Semaphores: names, StatusError: base}
	case reasonRevisionChanged:
		return &RevisionChangedError{Semaphore: text["semaphore"], Expected: number("expected"), Current: number("current"), StatusError: base}
	case reasonNoSuchJob:
		return &NoSuchJobError{ID: text["id"], StatusError: base}
	case reasonJobDiffers:
		return &JobDiffersError{ID: text["id"], StatusError: base}
	case reasonJobNotFinished:
		return &JobNotFinishedError{ID: text["id"], StatusError: base}
	case reasonWorkLimit:
		return &WorkLimitError{Limit: text["limit"], Needed: number("needed"), Max: number("max"), StatusError: base}
	case reasonUnauthenticated:
		return &UnauthenticatedError{base}
	case reasonForbidden:
		return &ForbiddenError{Principal: text["principal"], Role: text["role"], StatusError: base}
	case reasonRequestEnded:
		return &RequestEndedError{How: text["how"], Token: number("token"), StatusError: base}
	}
	return base
}
