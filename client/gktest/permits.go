package gktest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Expire ends a permit immediately, as if its deadline had passed. For a cooling permit, it ends the cooldown. The next
// waiter is granted a permit, and the holder is notified on its stream if it has one and is not cut off. Until then,
// the holder still relies on the permit; a real server would wait until it no longer does. To let a permit expire as in
// production, cut off its holder with Partition, and then Advance by more than the duration.
func (s *Server) Expire(t testing.TB, token uint64) {
	t.Helper()
	s.do(t, fmt.Sprintf("expire token %d", token), func(ctx context.Context) error { return s.expire(ctx, token) })
}

// ExpireAll calls Expire for every live or cooling permit of a semaphore.
func (s *Server) ExpireAll(t testing.TB, semaphore string) {
	t.Helper()
	for _, p := range s.Holders(t, semaphore) {
		if p.GetState() != gatekeeperv1.PermitState_PERMIT_STATE_HELD {
			s.Expire(t, p.GetToken())
		}
	}
}

func (s *Server) expire(ctx context.Context, token uint64) error {
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	if server == nil {
		return errStopped
	}
	return server.ExpireNow(ctx, token)
}

// Revoke orders the holder of a permit to stop, as an operator would. The slot remains occupied until the holder
// releases the permit or it expires.
func (s *Server) Revoke(t testing.TB, token uint64, reason string) {
	t.Helper()
	s.revoke(t, "revoke", &gatekeeperv1.RevokeRequest{Token: token, Reason: reason})
}

// Drain is like Revoke, but gives the holder time to stop: its refreshes succeed during the drain.
func (s *Server) Drain(t testing.TB, token uint64, reason string, drain time.Duration) {
	t.Helper()
	s.revoke(t, "drain", &gatekeeperv1.RevokeRequest{Token: token, Reason: reason, Drain: durationpb.New(drain)})
}

func (s *Server) revoke(t testing.TB, what string, req *gatekeeperv1.RevokeRequest) {
	t.Helper()
	req.Author = author
	s.do(t, fmt.Sprintf("%s token %d", what, req.GetToken()), func(ctx context.Context) error {
		_, err := s.ops.Permits().Revoke(ctx, req)
		return err
	})
}

// Holders returns the permits that occupy a semaphore's slots, ordered by token. They include permits that are cooling
// or held for an operator; see their State.
func (s *Server) Holders(t testing.TB, semaphore string) (permits []*gatekeeperv1.Permit) {
	t.Helper()
	s.do(t, "holders of "+semaphore, func(ctx context.Context) error {
		for p, err := range s.ops.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: []string{semaphore}}) {
			if err != nil {
				return err
			}
			permits = append(permits, p)
		}
		return nil
	})
	return permits
}

// Waiters returns the waiters in a semaphore's queue, in order.
func (s *Server) Waiters(t testing.TB, semaphore string) (waiters []*gatekeeperv1.Waiter) {
	t.Helper()
	s.do(t, "waiters for "+semaphore, func(ctx context.Context) error {
		waiters = nil // discard the results of an earlier attempt
		for w, err := range s.ops.AllWaiters(ctx, &gatekeeperv1.ListWaitersRequest{Names: []string{semaphore}}) {
			if err != nil {
				return err
			}
			waiters = append(waiters, w)
		}
		return nil
	})
	return waiters
}
