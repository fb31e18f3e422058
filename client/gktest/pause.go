package gktest

import (
	"context"
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Pause pauses a semaphore as an operator does: it grants nothing until Resume. With stop its holders are told to stop too.
func (s *Server) Pause(t testing.TB, semaphore, reason string, stop bool) {
	t.Helper()
	s.do(t, "pause "+semaphore, func(ctx context.Context) error {
		_, err := s.ops.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{Selector: only(semaphore), Reason: reason, Author: author, Stop: stop})
		return err
	})
}

// Resume ends a Pause.
func (s *Server) Resume(t testing.TB, semaphore string) {
	t.Helper()
	s.do(t, "resume "+semaphore, func(ctx context.Context) error {
		_, err := s.ops.Operator().Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: only(semaphore), Author: author})
		return err
	})
}

func only(semaphore string) *gatekeeperv1.Selector {
	return &gatekeeperv1.Selector{Names: []string{semaphore}}
}
