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
	// ErrDenied: the servers answered no. It always comes in a *DeniedError, which says why.
	ErrDenied = errors.New("denied")
	// ErrUnavailable: no server is known to have carried the call out before the context ended. Attempts end earlier if
	// a repeat is not safe, if every endpoint has failed by a *CertificateError, and, with ErrOutcomeUnknown, if a
	// retry is refused as too old because the servers may have forgotten an earlier attempt. It is always in an
	// *UnavailableError, whose Ended is nil in these cases.
	ErrUnavailable = errors.New("no server answered")
	// ErrOutcomeUnknown: the call may have been carried out, or not. It is always in an *UnavailableError.
	ErrOutcomeUnknown = errors.New("whether the call was carried out is not known")
	// ErrClosed: the Client was closed.
	ErrClosed = errors.New("the client is closed")
)

// UnavailableError says which endpoints were tried, and how each failed. It is ErrUnavailable, ErrOutcomeUnknown too
// when an attempt may have been carried out, and wraps the error of the last attempt, every *CertificateError, and that
// of the context.
type UnavailableError struct {
	Tried []Attempt
	// Unknown: an attempt may have been carried out.
	Unknown bool
	// Ended is the error of the context that ended the attempts; nil when they ended because a repeat was not safe,
	// because each endpoint has failed by a *CertificateError, or because the servers no longer knew whether an earlier
	// attempt was carried out.
	Ended error
}

// Attempt is the last one on an endpoint.
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
		b.WriteString("the servers answer, but grant nothing yet")
	case e.NoLeader():
		b.WriteString("the servers answer, but none of them leads")
	case e.Throttled():
		b.WriteString("the servers answer, but check no token from this address for now")
	default:
		b.WriteString(ErrUnavailable.Error())
	}
	for i, a := range e.Tried {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(a.Endpoint + ": " + plainText(a.Err))
	}
	if len(e.Tried) == 0 && e.Ended != nil {
		b.WriteString(": the time was over, or the call was given up, before one was asked")
	}
	return b.String()
}

// NoLeader reports whether servers were reached and answered that none of them leads: an election is under way, or too
// few voters run. Nothing was done then. That others did not answer does not matter.
func (e *UnavailableError) NoLeader() bool {
	return !e.Unknown && slices.ContainsFunc(e.Tried, func(a Attempt) bool { return leaderless(a.Err) })
}

// Recovering reports whether a server was reached and answered that it grants nothing yet, because the cluster was
// recovered without its majority and permits of before may still be believed in. Nothing was done then. The text of the
// error says for how long.
func (e *UnavailableError) Recovering() bool {
	return !e.Unknown && slices.ContainsFunc(e.Tried, func(a Attempt) bool {
		s, ok := grpcStatus(a.Err)
		return ok && info(s).GetReason() == reasonRecovering
	})
}

// Throttled reports whether a server was reached and did not look at the bearer token, because too many wrong ones
// came from this address. Nothing was done then. The text of the error says when to try again.
func (e *UnavailableError) Throttled() bool {
	return !e.Unknown && slices.ContainsFunc(e.Tried, func(a Attempt) bool {
		s, ok := grpcStatus(a.Err)
		return ok && info(s).GetReason() == reasonTooManyFailures
	})
}

// Is makes it one of the sentinels above.
func (e *UnavailableError) Is(target error) bool {
	return target == ErrUnavailable || e.Unknown && target == ErrOutcomeUnknown
}

// Unwrap returns the last attempt's error, those of others that were about certificates, and the context's.
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

// StatusError is a refusal as the server gave it. Every error of a server is one, or wraps one.
type StatusError struct {
	Code codes.Code
	// Reason is that of google.rpc.ErrorInfo; empty when the error is not Gatekeeper's.
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
		return plainText(status.Error(e.Code, e.Message)) // gRPC's own, not a server's
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// GRPCStatus lets gRPC's own package understand the error.
func (e *StatusError) GRPCStatus() *status.Status { return e.status }

// InvalidFieldError names a field of the request that breaks a rule.
type InvalidFieldError struct {
	// Field is its path, as in "edits[3].create.permits".
	Field, Value, Rule string
	*StatusError
}

// StaleVersionError says that a definition, or a binding of AuthService, was changed since the caller read it.
type StaleVersionError struct {
	Name              string
	Expected, Current uint64
	Index             int // of the edit at fault, in a batch
	*StatusError
}

// AlreadyExistsError says that the name of a definition to be created is taken.
type AlreadyExistsError struct {
	Name    string
	Current uint64 // its version
	Index   int    // of the edit at fault, in a batch
	*StatusError
}

// NoSuchDefinitionError says that there is no definition of that name.
type NoSuchDefinitionError struct {
	Name  string
	Meant string // the name of the definition that was likely meant; empty when none is near
	Index int    // of the edit at fault, in a batch
	*StatusError
}

// NothingChosenError says that no definition matches the names and labels of a change. Nothing was done.
type NothingChosenError struct {
	Meant string // the glob or the labels that were likely meant; empty when nothing is near
	*StatusError
}

// NoSuchPermitError says that there is no permit with that token, or none that the call is for.
type NoSuchPermitError struct {
	Token uint64
	*StatusError
}

// NoSuchCordonError says that there is no cordon with that id.
type NoSuchCordonError struct {
	ID    string
	Meant string // the id that was likely meant; empty when none is near
	*StatusError
}

// ChangedSinceError says that a change would not do what its dry run or preview showed. Nothing was done.
type ChangedSinceError struct {
	// Semaphores are those that differ; the message says how. Empty for a change of other things.
	Semaphores []string
	*StatusError
}

// RevisionChangedError says that the semaphore's permit revision is not the expected one: somebody acquired, released
// or lost a permit since.
type RevisionChangedError struct {
	Semaphore         string
	Expected, Current uint64
	*StatusError
}

// RequestEndedError says that the acquisition of this request id has ended, and grants no more.
type RequestEndedError struct {
	// How it ended, as in "released" or "cancelled".
	How string
	// Token of the permit that it had; 0 when it had none.
	Token uint64
	*StatusError
}

// NoSuchJobError says that there is no job of that id: it was not submitted, or it was deleted, by hand or some time
// after its end.
type NoSuchJobError struct {
	ID string
	*StatusError
}

// JobDiffersError says that the id of a job belongs to a job that was submitted with other tasks or settings. Nothing
// was done.
type JobDiffersError struct {
	ID string
	*StatusError
}

// JobNotOverError says that a job cannot be deleted, because its tasks wait or are held.
type JobNotOverError struct {
	ID string
	*StatusError
}

// WorkLimitError says which limit a job, a task or its result would exceed. Nothing was done.
type WorkLimitError struct {
	// Limit is its name, as in the settings of the cluster, or max_result of the job.
	Limit string
	// Needed and Max are in bytes, but for a limit of the number of tasks.
	Needed, Max uint64
	*StatusError
}

// UnauthenticatedError says that the servers do not know the caller: it shows no credential, or one that is unknown,
// revoked or expired, or that no binding names. The call was not carried out, and is not repeated. The Client goes on
// refreshing the permits that it holds, as in an outage: the credential may be renewed.
type UnauthenticatedError struct{ *StatusError }

// ForbiddenError says that the caller lacks a role for what it asked. The message says where, and who can grant it. The
// call was not carried out, and is not repeated.
type ForbiddenError struct {
	// Principal is who the caller is: the name of its binding.
	Principal string
	// Role is what it lacks, as in "operator".
	Role string
	*StatusError
}

func (e *InvalidFieldError) Unwrap() error     { return e.StatusError }
func (e *StaleVersionError) Unwrap() error     { return e.StatusError }
func (e *AlreadyExistsError) Unwrap() error    { return e.StatusError }
func (e *NoSuchDefinitionError) Unwrap() error { return e.StatusError }
func (e *NothingChosenError) Unwrap() error    { return e.StatusError }
func (e *NoSuchPermitError) Unwrap() error     { return e.StatusError }
func (e *NoSuchCordonError) Unwrap() error     { return e.StatusError }
func (e *ChangedSinceError) Unwrap() error     { return e.StatusError }
func (e *RevisionChangedError) Unwrap() error  { return e.StatusError }
func (e *RequestEndedError) Unwrap() error     { return e.StatusError }
func (e *NoSuchJobError) Unwrap() error        { return e.StatusError }
func (e *JobDiffersError) Unwrap() error       { return e.StatusError }
func (e *JobNotOverError) Unwrap() error       { return e.StatusError }
func (e *WorkLimitError) Unwrap() error        { return e.StatusError }
func (e *UnauthenticatedError) Unwrap() error  { return e.StatusError }
func (e *ForbiddenError) Unwrap() error        { return e.StatusError }

// tooOldSince reports whether a request was refused because the servers may have forgotten it, and the revision of the
// cluster then.
func tooOldSince(err error) (revision uint64, tooOld bool) {
	e, ok := errors.AsType[*StatusError](err)
	if !ok || e.Reason != reasonRequestTooOld {
		return 0, false
	}
	revision, _ = strconv.ParseUint(e.Metadata["revision"], 10, 64) // absent is 0: none is known
	return revision, true
}

// typed turns what gRPC returned into the errors above. The ends of a context stay what they are.
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

// specific is the error of its reason, or base itself.
func specific(i *errdetails.ErrorInfo, base *StatusError) error {
	text := i.GetMetadata()
	number := func(key string) uint64 {
		n, _ := strconv.ParseUint(text[key], 10, 64) // absent is 0
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
		return &NoSuchDefinitionError{Name: text["name"], Meant: text["meant"], Index: index, StatusError: base}
	case reasonNothingChosen:
		return &NothingChosenError{Meant: text["meant"], StatusError: base}
	case reasonNoSuchPermit:
		return &NoSuchPermitError{Token: number("token"), StatusError: base}
	case reasonNoSuchCordon:
		return &NoSuchCordonError{ID: text["id"], Meant: text["meant"], StatusError: base}
	case reasonChangedSince:
		names := strings.FieldsFunc(text["semaphores"], func(r rune) bool { return r == '\n' })
		return &ChangedSinceError{Semaphores: names, StatusError: base}
	case reasonRevisionChanged:
		return &RevisionChangedError{Semaphore: text["semaphore"], Expected: number("expected"), Current: number("current"), StatusError: base}
	case reasonNoSuchJob:
		return &NoSuchJobError{ID: text["id"], StatusError: base}
	case reasonJobDiffers:
		return &JobDiffersError{ID: text["id"], StatusError: base}
	case reasonJobNotOver:
		return &JobNotOverError{ID: text["id"], StatusError: base}
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
