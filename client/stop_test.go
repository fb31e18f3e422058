package client

import (
	"errors"
	"testing"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestStopError_Error_IncludesDeadline(t *testing.T) {
	e := &StopError{
		Cause: gatekeeperv1.StopCause_STOP_CAUSE_REVOKED, Message: "storm", Drain: time.Minute,
		Until: time.Date(2026, 3, 1, 2, 0, 30, 250_000_000, time.FixedZone("CET", 3600)),
	}
	if got, want := e.Error(), "the permit was revoked: storm, with a drain of 1m0s: stop by 2026-03-01T01:00:30.250Z"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

func TestDenied_IsErrDenied(t *testing.T) {
	var err error = &DeniedError{Semaphore: "job", Reason: ReasonPaused}
	if !errors.Is(err, ErrDenied) || errors.Is(err, ErrUnavailable) {
		t.Errorf("errors.Is matches the wrong sentinels for %v", err)
	}
}
