package client

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// errorKinds returns an error of every kind in the package, with the type and the sentinels that match it when wrapped.
func errorKinds() []struct {
	err error
	as  func(error) bool
	is  []error
} {
	base := &StatusError{Code: codes.NotFound, Reason: "X", Message: "nothing there"}
	stop := func(cause gatekeeperv1.StopCause) *StopError { return &StopError{Cause: cause, Until: time.Unix(0, 0)} }
	return []struct {
		err error
		as  func(error) bool
		is  []error
	}{
		{&DeniedError{Semaphore: "job", Reason: ReasonPaused}, found[*DeniedError], []error{ErrDenied}},
		{&UnavailableError{Ended: context.Canceled}, found[*UnavailableError], []error{ErrUnavailable, context.Canceled}},
		{&UnavailableError{Unknown: true}, found[*UnavailableError], []error{ErrUnavailable, ErrOutcomeUnknown}},
		{&CertificateError{Endpoint: "gk1:7420", Err: x509.UnknownAuthorityError{}}, found[*CertificateError], []error{x509.UnknownAuthorityError{}}},
		{&WrongClusterError{Endpoint: "gk1:7420", Cluster: "a.1", Bound: "b.1"}, found[*WrongClusterError], []error{ErrWrongCluster}},
		{&InUseError{Semaphore: "job"}, found[*InUseError], nil},
		{base, found[*StatusError], nil},
		{&InvalidFieldError{StatusError: base}, found[*InvalidFieldError], []error{base}},
		{&StaleVersionError{StatusError: base}, found[*StaleVersionError], []error{base}},
		{&AlreadyExistsError{StatusError: base}, found[*AlreadyExistsError], []error{base}},
		{&NoSuchDefinitionError{StatusError: base}, found[*NoSuchDefinitionError], []error{base}},
		{&NoMatchError{StatusError: base}, found[*NoMatchError], []error{base}},
		{&NoSuchPermitError{StatusError: base}, found[*NoSuchPermitError], []error{base}},
		{&NoSuchCordonError{StatusError: base}, found[*NoSuchCordonError], []error{base}},
		{&ChangedSinceError{StatusError: base}, found[*ChangedSinceError], []error{base}},
		{&RevisionChangedError{StatusError: base}, found[*RevisionChangedError], []error{base}},
		{&RequestEndedError{StatusError: base}, found[*RequestEndedError], []error{base}},
		{&UnauthenticatedError{base}, found[*UnauthenticatedError], []error{base}},
		{&ForbiddenError{StatusError: base}, found[*ForbiddenError], []error{base}},
		{&EndedError{Token: 7, Message: "it expired"}, found[*EndedError], nil},
		{&NotValidError{Token: 7}, found[*NotValidError], nil},
		{&TooShortError{}, found[*TooShortError], nil},
		{&StopTimeError{}, found[*StopTimeError], nil},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED), found[*StopError], []error{ErrExpiring}},
		{&StopError{stalled: true}, found[*StopError], []error{ErrStalled}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_REVOKED), found[*StopError], []error{ErrStopped, ErrRevoked}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_DRAINED), found[*StopError], []error{ErrStopped, ErrMoved}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_NO_LONGER_ADMITTED), found[*StopError], []error{ErrStopped, ErrMoved}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER), found[*StopError], []error{ErrStopped, ErrTakenOver}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_HELD_TOO_LONG), found[*StopError], []error{ErrStopped, ErrHeldTooLong}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_PAUSED), found[*StopError], []error{ErrStopped, ErrPaused}},
		{stop(gatekeeperv1.StopCause_STOP_CAUSE_CORDONED), found[*StopError], []error{ErrStopped, ErrCordoned}},
	}
}

func found[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// sentinels are the exported sentinel errors. They do not match each other.
var sentinels = []error{
	ErrDenied, ErrUnavailable, ErrOutcomeUnknown, ErrClosed, ErrWrongCluster, ErrStopped, ErrRevoked, ErrMoved, ErrTakenOver, ErrHeldTooLong, ErrPaused,
	ErrCordoned, ErrExpiring, ErrStalled, ErrLost, ErrReleased, ErrCutShort, ErrSuperseded, ErrReleasePending,
}

func TestErrors_AreFoundByTypeAndSentinel(t *testing.T) {
	for _, kind := range errorKinds() {
		wrapped := fmt.Errorf("export: %w", kind.err)
		if !kind.as(wrapped) {
			t.Errorf("errors.AsType does not find %T", kind.err)
		}
		for _, want := range kind.is {
			if !errors.Is(wrapped, want) {
				t.Errorf("%T %q does not match %q", kind.err, kind.err, want)
			}
		}
		for _, s := range sentinels {
			if wanted := slices.Contains(kind.is, s); errors.Is(wrapped, s) != wanted {
				t.Errorf("errors.Is(%T %q, %q) = %t", kind.err, kind.err, s, !wanted)
			}
		}
	}
}

// Error messages have no package prefix. Callers that wrap an error can add one.
func TestErrors_HaveNoPrefix(t *testing.T) {
	all := sentinels
	for _, kind := range errorKinds() {
		all = append(all[:len(all):len(all)], kind.err)
	}
	for _, opts := range [][]Option{{WithAttemptTimeout(0)}, {WithLogger(nil)}, {WithCluster("")}, {WithTLS(TLS{CAFile: "/no/such/file"})}} {
		_, err := Dial(t.Context(), nil, opts...)
		all = append(all, err)
	}
	_, err := Dial(t.Context(), []string{"http://gk1"})
	for _, err := range append(all, err) {
		if text := err.Error(); text == "" || strings.HasPrefix(text, "client:") || strings.HasPrefix(text, "gatekeeper:") {
			t.Errorf("%T message = %q, want no prefix", err, text)
		}
	}
}
