// Package failover measures how long a cluster of three servers grants nothing after its leader was killed: of
// Gatekeeper, and of whatever else is given as a Cluster, by turns.
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

// Cluster is a cluster whose servers can be killed and started again. Ask and AskAll are called from many goroutines at
// once, everything else from one.
type Cluster interface {
	// Leader is which server leads, from 0; it waits until one does.
	Leader(ctx context.Context) (int, error)
	// Kill is kill -9; it returns when the process is gone.
	Kill(server int)
	// Restart starts a server that was killed, and waits until it has everything that the leader had when it came back.
	Restart(ctx context.Context, server int) error
	// Ask asks one server, once, for a permit that is free. nil means that it was granted, by a majority.
	Ask(ctx context.Context, server int) error
	// AskAll asks until a permit is granted, as an application does by the system's client library that knows all
	// servers.
	AskAll(ctx context.Context) error
}

// Contestant is a cluster of a name.
type Contestant struct {
	Name    string
	Cluster Cluster
}

// Result is what one contestant took, in ms, in the order of its runs.
type Result struct {
	Name string `json:"name"`
	// First is from the kill to the first grant that any of the servers left gave.
	First []float64 `json:"first_grant_ms"`
	// Library is from the kill to the grant of a caller who asked through the client library just after it.
	Library []float64 `json:"library_grant_ms"`
}

const (
	count = 3
	// askEvery is how often each of the servers left is asked, whether or not it has answered: one that keeps quiet
	// about a request that was lost with the leader delays no other. It is also how far a figure may be above the
	// truth.
	askEvery = 10 * time.Millisecond
	// grantWithin is when a cluster that does not grant has failed: long after what is looked for, since disks may
	// stall for seconds.
	grantWithin = 2 * time.Minute
	// restoreWithin is when a server that is started again and does not catch up has failed.
	restoreWithin = 2 * time.Minute
)

// Measure kills the leader of each contestant by turns, as often as runs says. The first that does not come back ends
// it.
func Measure(ctx context.Context, contestants []Contestant, runs int) ([]Result, error) {
	results := make([]Result, len(contestants))
	for i, c := range contestants {
		results[i].Name = c.Name
	}
	for run := range runs {
		for i, c := range contestants {
			first, library, err := once(ctx, c.Cluster)
			if err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", c.Name, run+1, err)
			}
			results[i].First = append(results[i].First, millis(first))
			results[i].Library = append(results[i].Library, millis(library))
		}
	}
	return results, nil
}

// once kills the leader, takes the time until permits are granted again, and brings the server back.
func once(ctx context.Context, c Cluster) (first, library time.Duration, err error) {
	within, cancel := context.WithTimeoutCause(ctx, grantWithin, fmt.Errorf("nothing was granted within %v of the leader's death", grantWithin))
	defer cancel()
	leader, err := c.Leader(within)
	if err != nil {
		return 0, 0, err
	}
	// The caller is connected, as clients are.
	for server := range count {
		if err := c.Ask(within, server); err != nil {
			return 0, 0, fmt.Errorf("server %d grants nothing before the leader is killed: %w", server+1, err)
		}
	}
	if err := c.AskAll(within); err != nil {
		return 0, 0, fmt.Errorf("nothing is granted before the leader is killed: %w", err)
	}

	killed := time.Now()
	c.Kill(leader) // and only then is anybody asked, so that no grant is the old leader's
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		failed = c.AskAll(within)
		library = time.Since(killed)
	})
	first, err = firstGrant(within, c, leader, killed)
	wg.Wait()
	if err = errors.Join(err, failed); err != nil {
		return 0, 0, fmt.Errorf("after server %d, the leader, was killed: %w", leader+1, err)
	}

	within, cancel = context.WithTimeoutCause(ctx, restoreWithin, fmt.Errorf("it did not catch up within %v", restoreWithin))
	defer cancel()
	if err := c.Restart(within, leader); err != nil {
		return 0, 0, fmt.Errorf("server %d, after it was killed: %w", leader+1, errors.Join(err, context.Cause(within)))
	}
	return first, library, nil
}

// firstGrant asks every server but the one that is gone, again and again, until one of them has granted.
func firstGrant(ctx context.Context, c Cluster, gone int, since time.Time) (time.Duration, error) {
	asking, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	granted := make(chan time.Duration, 1)
	var last atomic.Pointer[error] // the newest refusal, for people
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		for server := range count {
			if server == gone {
				continue
			}
			wg.Go(func() {
				if err := c.Ask(asking, server); err != nil {
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
				err = fmt.Errorf("%w; the last answer: %w", err, *refused)
			}
			return 0, err
		}
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Median is the middle of what was measured, of which there must be some.
func Median(took []float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
