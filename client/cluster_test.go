package client

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestBinding_FollowsOnlyLaterIncarnations(t *testing.T) {
	for _, c := range []struct{ bound, observed, want string }{
		{"", "a.1", "a.1"},
		{"a.1", "a.1", "a.1"},
		{"a", "a.3", "a.3"},
		{"a.1", "a.f", "a.f"},
		{"a.f", "a.10", "a.10"}, // hexadecimal
		{"a.2", "a.1", "refused"},
		{"a.1", "b.1", "refused"},
		{"a", "b.1", "refused"},
		{"a.1", "", "a.1"}, // the server does not send its cluster
	} {
		b := newBinding(c.bound)
		err := b.observe("there", c.observed)
		if refused := errors.Is(err, ErrWrongCluster); refused != (c.want == "refused") {
			t.Errorf("bound to %q, observed %q: error = %v", c.bound, c.observed, err)
		} else if to := b.to.Load(); !refused && to.id != c.want {
			t.Errorf("bound to %q, observed %q: now bound to %q, want %q", c.bound, c.observed, to.id, c.want)
		}
	}
}

// twoClusters starts a server in each of two clusters. Both grant and release every permit.
func twoClusters(t *testing.T) *cluster {
	c := newCluster(t, "a", "b")
	for name, s := range c.servers {
		s.cluster = name + ".1"
		s.tryAcquire = func(_ context.Context, q *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			return granted(q.GetSemaphore(), 1, time.Minute), nil
		}
		s.release = func(context.Context, *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
			return &gatekeeperv1.ReleaseResponse{Released: true}, nil
		}
	}
	return c
}

func TestClient_EndpointsInTwoClusters_ChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := twoClusters(t)
		client := c.dial([]string{"a", "b"})
		_, err := client.Semaphore("job").TryAcquire(t.Context())
		if _, ok := errors.AsType[*WrongClusterError](err); !ok {
			t.Errorf("TryAcquire() error = %v, want *WrongClusterError", err)
		}
		_, err = client.Definitions().BatchEdit(t.Context(), new(gatekeeperv1.BatchEditRequest))
		if !errors.Is(err, ErrWrongCluster) {
			t.Errorf("BatchEdit() error = %v, want ErrWrongCluster", err)
		}
		for name, s := range c.servers {
			if calls := get(s, func(s *server) []string { return s.calls }); slices.ContainsFunc(calls, func(c string) bool { return c != "GetStatus" }) {
				t.Errorf("%s received the calls %v, want only GetStatus", name, calls)
			}
		}
	})
}

// The second endpoint is down when the client starts, and belongs to another cluster when it comes up.
func TestClient_EndpointInAnotherClusterAppears_KeepsItsPermits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := twoClusters(t)
		c.servers["b"].down()
		client := c.dial([]string{"a", "b"})
		held := acquire(t, client.Semaphore("job"))
		c.servers["b"].up()
		pass(2 * recheckInterval)
		_, err := client.Semaphore("other").TryAcquire(t.Context())
		wrong, ok := errors.AsType[*WrongClusterError](err)
		if !ok || wrong.Endpoint != endpoint("b") || wrong.Cluster != "b.1" || wrong.Bound != "a.1" || wrong.BoundBy != endpoint("a") {
			t.Errorf("TryAcquire() error = %v, want *WrongClusterError", err)
		}
		client.router.failed(endpoint("a")) // calls try b first from now on
		c.servers["a"].hangUp()
		pass(2 * time.Minute)
		if !held.Held() {
			t.Errorf("held permit was lost: %v", context.Cause(held.Context()))
		}
		if err := held.Release(t.Context()); err != nil {
			t.Errorf("Release() = %v", err)
		}
	})
}

// An address may resolve to servers in two clusters, so every call names the expected cluster.
func TestClient_OneAddressForTwoClusters_IsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := twoClusters(t)
		client := c.dial([]string{"a"})
		acquire(t, client.Semaphore("job"))
		c.servers["a"].set(func(s *server) { s.redirect = c.servers["b"] })
		c.servers["a"].grpc.Stop()
		if _, err := client.Semaphore("other").TryAcquire(t.Context()); !errors.Is(err, ErrWrongCluster) {
			t.Errorf("TryAcquire() error = %v, want ErrWrongCluster", err)
		}
	})
}

// The first caller is checking a slow endpoint. A second caller must still return when its own context ends.
func TestClient_AnotherCallerChecksTheEndpoints_ReturnsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "a", "b")
		client := c.dial([]string{"a", "b"})
		c.servers["b"].set(func(s *server) {
			s.status = func() *gatekeeperv1.GetStatusResponse {
				<-time.After(checkTimeout / 2)
				return new(gatekeeperv1.GetStatusResponse)
			}
		})
		first := make(chan struct{})
		go func() {
			defer close(first)
			_, _ = client.Semaphore("job").TryAcquire(t.Context())
		}()
		synctest.Wait()
		started := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), checkTimeout/4)
		defer cancel()
		if _, err := client.Semaphore("job").TryAcquire(ctx); err == nil || time.Since(started) != checkTimeout/4 {
			t.Errorf("TryAcquire() returned after %s, error = %v; want an error when its context ends", time.Since(started), err)
		}
		<-first
	})
}
