// Package failover measures how long a three-server cluster is unable to grant permits after its leader is killed. It
// compares Gatekeeper with other implementations of Cluster, alternating between them.
package failover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Cluster is a cluster whose servers can be killed and restarted. The methods that request permits must be safe for
// concurrent use. The rest are called from one goroutine.
type Cluster interface {
	// Leader returns the index of the leader. It waits until there is one.
	Leader(ctx context.Context) (int, error)
	// Kill kills a server (SIGKILL) and returns after the process has exited.
	Kill(server int)
	// Restart starts a killed server and waits until it has caught up with the state that the leader had when Restart
	// was called.
	Restart(ctx context.Context, server int) error
	// Acquire requests a free permit from one server, once. It returns nil if a majority granted the permit.
	Acquire(ctx context.Context, server int) error
	// AcquireAny requests a permit from any server until it is granted, as an application that uses the system's client
	// library would.
	AcquireAny(ctx context.Context) error
}

// Contestant is a named cluster.
type Contestant struct {
	Name    string
	Cluster Cluster
}

// Result holds one contestant's times, in ms, in the order of the runs.
type Result struct {
	Name string `json:"name"`
	// First is the time from the kill to the first grant by any remaining server.
	First []float64 `json:"first_grant_ms"`
	// Library is the time from the kill to the first grant to a caller that uses the client library.
	Library []float64 `json:"library_grant_ms"`
}

const (
	count = 3
	// requestInterval is the interval between requests to each remaining server. A request does not wait for the
	// response to the previous one, so a request that is lost with the leader does not delay the others. The interval
	// is also the measurement error.
	requestInterval = 10 * time.Millisecond
	// grantTimeout is how long to wait for a grant before giving up. It is far longer than the expected times, because
	// disks may stall for seconds.
	grantTimeout = 2 * time.Minute
	// restoreTimeout is how long to wait for a restarted server to catch up before giving up.
	restoreTimeout = 2 * time.Minute
)

// Measure kills the contestants' leaders in turn, once per run. It stops at the first contestant that does not
// recover.
func Measure(ctx context.Context, contestants []Contestant, runs int) ([]Result, error) {
	results := make([]Result, len(contestants))
	for i, c := range contestants {
		results[i].Name = c.Name
	}
	for run := range runs {
		for i, c := range contestants {
			first, library, err := measureOnce(ctx, c.Cluster)
			if err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", c.Name, run+1, err)
			}
			results[i].First = append(results[i].First, millis(first))
			results[i].Library = append(results[i].Library, millis(library))
		}
	}
	return results, nil
}

// measureOnce kills the leader, measures the time until permits are granted again, and restarts the server.
func measureOnce(ctx context.Context, c Cluster) (first, library time.Duration, err error) {
	timeoutCtx, cancel := context.WithTimeoutCause(ctx, grantTimeout, fmt.Errorf("no permit was granted within %v of killing the leader", grantTimeout))
	defer cancel()
	leader, err := c.Leader(timeoutCtx)
	if err != nil {
		return 0, 0, err
	}
	// Establish the connections first, because real clients also have open connections.
	for server := range count {
		if err := c.Acquire(timeoutCtx, server); err != nil {
			return 0, 0, fmt.Errorf("server %d did not grant a permit before the leader was killed: %w", server+1, err)
		}
	}
	if err := c.AcquireAny(timeoutCtx); err != nil {
		return 0, 0, fmt.Errorf("no permit was granted before the leader was killed: %w", err)
	}

	killed := time.Now()
	c.Kill(leader) // before the first request, so that the old leader grants nothing
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		failed = c.AcquireAny(timeoutCtx)
		library = time.Since(killed)
	})
	first, err = firstGrant(timeoutCtx, c, leader, killed)
	wg.Wait()
	if err = errors.Join(err, failed); err != nil {
		return 0, 0, fmt.Errorf("after killing the leader, server %d: %w", leader+1, err)
	}

	timeoutCtx, cancel = context.WithTimeoutCause(ctx, restoreTimeout, fmt.Errorf("the server did not catch up within %v", restoreTimeout))
	defer cancel()
	if err := c.Restart(timeoutCtx, leader); err != nil {
		return 0, 0, fmt.Errorf("restarting server %d: %w", leader+1, errors.Join(err, context.Cause(timeoutCtx)))
	}
	return first, library, nil
}

// firstGrant repeatedly requests a permit from every remaining server until one of them grants it.
func firstGrant(ctx context.Context, c Cluster, killedServer int, since time.Time) (time.Duration, error) {
	requesting, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	granted := make(chan time.Duration, 1)
	var last atomic.Pointer[error] // the latest refusal, for the error message
	tick := time.NewTicker(requestInterval)
	defer tick.Stop()
	for {
		for server := range count {
			if server == killedServer {
				continue
			}
			wg.Go(func() {
				if err := c.Acquire(requesting, server); err != nil {
					err = fmt.Errorf("server %d: %w", server+1, err)
					last.Store(&err)
					return
				}
				select {
				case granted <- time.Since(since):
				default:
				}
			})
		}
		select {
		case took := <-granted:
			return took, nil
		case <-tick.C:
		case <-ctx.Done():
			err := context.Cause(ctx)
			if refused := last.Load(); refused != nil {
				err = fmt.Errorf("%w; the last response: %w", err, *refused)
			}
			return 0, err
		}
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Median returns the median of took, which must not be empty.
func Median(took []float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
