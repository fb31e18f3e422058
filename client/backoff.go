package client

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	minBackoff = 25 * time.Millisecond
	maxBackoff = time.Second
)

// backoff returns the wait before the n-th round of attempts, counted from 0. It doubles with each round and is
// jittered so that clients that failed together do not retry together.
func backoff(n int) time.Duration {
	d := maxBackoff
	if n < 6 {
		d = min(minBackoff<<n, maxBackoff)
	}
	return d/2 + rand.N(d/2+1)
}

// jitter changes d by up to a tenth in either direction.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}

// sleep waits for d or until ctx ends, and reports whether it waited for all of d.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
