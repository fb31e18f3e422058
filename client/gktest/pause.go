package gktest

import (
	"context"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Pause pauses a semaphore as an operator would. The semaphore grants no permits until Resume, but its holders keep
// theirs.
func (s *Server) Pause(t testing.TB, semaphore, reason string) {
	t.Helper()
	s.pause(t, client.PauseRequest{Selector: only(semaphore), Reason: reason})
}

// PauseAndStop is like Pause, but the holders must stop. Their refreshes succeed during the drain; with a drain of 0,
// they fail immediately.
func (s *Server) PauseAndStop(t testing.TB, semaphore, reason string, drain time.Duration) {
	t.Helper()
	s.pause(t, client.PauseRequest{Selector: only(semaphore), Reason: reason, Stop: true, Drain: drain})
}

func (s *Server) pause(t testing.TB, req client.PauseRequest) {
	t.Helper()
	req.Author = author
	s.do(t, "pause "+req.Selector.Names[0], func(ctx context.Context) error {
		_, err := s.ops.Pause(ctx, req)
		return err
	})
}

// Resume ends a Pause.
func (s *Server) Resume(t testing.TB, semaphore string) {
	t.Helper()
	s.do(t, "resume "+semaphore, func(ctx context.Context) error {
		_, err := s.ops.Resume(ctx, client.ResumeRequest{Selector: only(semaphore), Author: author})
		return err
	})
}

func only(semaphore string) client.Selector { return client.Selector{Names: []string{semaphore}} }
