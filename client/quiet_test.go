package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Only the caller's deadline is sent to the servers. Sending the deadline of each attempt would slow down every call.
func TestCall_SendsOnlyTheCallersDeadline(t *testing.T) {
	withServer(t, func(t *testing.T, c *Client, a *server) {
		type received struct {
			deadline time.Time
			ok       bool
		}
		var all []received
		record := func(ctx context.Context) {
			deadline, ok := ctx.Deadline()
			all = append(all, received{deadline, ok})
		}
		a.tryAcquire = func(ctx context.Context, _ *gatekeeperv1.TryAcquireRequest) (*gatekeeperv1.TryAcquireResponse, error) {
			record(ctx)
			return granted("nightly", 1, time.Minute), nil
		}
		a.release = func(ctx context.Context, q *gatekeeperv1.ReleaseRequest) (*gatekeeperv1.ReleaseResponse, error) {
			record(ctx)
			return releases(ctx, q)
		}
		pair := func(ctx context.Context) {
			p := must(c.Semaphore("nightly").TryAcquire(ctx))(t)
			if err := p.Release(ctx); err != nil {
				t.Fatal(err)
			}
		}
		pair(t.Context())
		limited, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		pair(limited)
		if len(all) != 4 || all[0].ok || all[1].ok || !all[2].ok || !all[3].ok {
			t.Fatalf("server received deadlines %v, want them only for the last two calls", all)
		}
		if left := time.Until(all[2].deadline); left < 59*time.Minute || left > time.Hour {
			t.Errorf("server received a deadline %s away, want the caller's", left)
		}
	})
}

// When an attempt times out, its call ends on the server too, and the error reports a timeout.
func TestCall_AttemptTimesOut_EndsOnServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCluster(t, "a")
		c := w.dial([]string{"a"}, WithAttemptTimeout(time.Second))
		start := time.Now()
		var ended []time.Duration
		w.servers["a"].list = func(ctx context.Context, _ *gatekeeperv1.ListDefinitionsRequest) (*gatekeeperv1.ListDefinitionsResponse, error) {
			<-ctx.Done()
			ended = append(ended, time.Since(start))
			return nil, status.FromContextError(ctx.Err()).Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		_, err := c.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{})
		synctest.Wait()
		if len(ended) != 2 || ended[0] != time.Second || ended[1] != 1500*time.Millisecond {
			t.Errorf("attempts ended on the server after %v, want [1s 1.5s]", ended)
		}
		if want := "no server responded: passthrough:///a: timed out waiting for a response"; err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ListDefinitions() error = %v, want %q", err, want)
		}
	})
}
