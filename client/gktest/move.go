package gktest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

// Move moves semaphores from one group to another in a single edit, as gkctl move does. Without names, it moves every
// semaphore that admits the old group but not the new one. Holders in the old group must stop. Their refreshes succeed
// during the drain; with a drain of 0, they fail immediately.
func (s *Server) Move(t testing.TB, from, to string, drain time.Duration, semaphores ...string) {
	t.Helper()
	s.do(t, fmt.Sprintf("move from %s to %s", from, to), func(ctx context.Context) error {
		move := client.MoveRequest{
			Selector: client.Selector{Names: semaphores, All: len(semaphores) == 0}, FromGroup: from, ToGroup: to, Drain: drain, Author: author, DryRun: true,
		}
		plan, err := s.ops.Move(ctx, move)
		if err != nil {
			return err
		}
		for _, n := range plan.GetNotMoved() {
			if n.GetProblem() {
				return fmt.Errorf("%s cannot be moved: %s", n.GetSemaphore(), n.GetWhy())
			}
		}
		if len(plan.GetMoves()) == 0 {
			return fmt.Errorf("no semaphore that admits %s can be moved", from)
		}
		move.DryRun, move.Expected = false, plan.GetDigest()
		_, err = s.ops.Move(ctx, move)
		return err
	})
}

// Cordon excludes a group or an acquirer from every semaphore until Uncordon, and makes its holders stop. At least one
// pattern is required, as in {AcquirerPattern: "app1", Drain: time.Minute}.
func (s *Server) Cordon(t testing.TB, cordon client.CordonRequest) (id string) {
	t.Helper()
	cordon.Author = author
	s.do(t, "cordon", func(ctx context.Context) error {
		r, err := s.ops.Cordon(ctx, cordon)
		id = r.GetCordon().GetId()
		return err
	})
	return id
}

// Uncordon ends a Cordon.
func (s *Server) Uncordon(t testing.TB, id string) {
	t.Helper()
	s.do(t, "uncordon "+id, func(ctx context.Context) error {
		_, err := s.ops.Uncordon(ctx, client.UncordonRequest{ID: id, Author: author})
		return err
	})
}
