package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// op is the cost of one operation.
type op struct {
	// P50 is the median latency for a single caller, in µs. It is 0 for operations that are not measured with a single
	// caller.
	P50 float64 `json:"p50_us"`
	// CPU is the server's CPU time per operation with many concurrent callers, in µs.
	CPU   float64 `json:"server_cpu_us"`
	Count int     `json:"count"`
}

// costs holds the costs of every kind of operation on a server of one size.
type costs struct {
	Decision op `json:"decision"` // a denial, which reads the same data as a grant
	Refresh  op `json:"refresh"`  // a refresh of one permit in a separate call
	Frame    op `json:"frame"`    // a refresh of one permit in a call with tokensPerFrame permits
	Grant    op `json:"grant"`    // a grant and its release
	Expiry   op `json:"expiry"`
	// Idle is the server's CPU usage without requests, as a percentage of one core.
	Idle float64 `json:"idle_cpu_percent"`
}

// concurrentCallers is the number of concurrent callers when CPU is measured.
const concurrentCallers = 16

// expiries is the number of permits that expire while expiry is measured.
const expiries = 4000

// measureCosts measures every kind of operation.
func (s *scale) measureCosts(ctx context.Context, server *servers.Server, f *fleet) (c costs, err error) {
	for _, kind := range []struct {
		what string
		to   *op
		call load.Call
	}{
		{"decision", &c.Decision, f.requestDenied},
		{"refresh", &c.Refresh, f.refreshOne},
		{"refresh of many", &c.Frame, f.refreshFrame},
		{"grant", &c.Grant, f.acquireAndRelease},
	} {
		if *kind.to, err = s.measureOp(ctx, server, kind.call); err != nil {
			return c, fmt.Errorf("%s: %w", kind.what, err)
		}
	}
	c.Frame.P50 = 0 // the median would be the latency of the whole call
	if c.Expiry, err = s.measureExpiry(ctx, server, f); err != nil {
		return c, fmt.Errorf("expiry: %w", err)
	}
	if err := pause(ctx, settleTime/2); err != nil { // the server records new callers once a second
		return c, err
	}
	c.Idle, _, err = idle(ctx, server, s.window)
	return c, err
}

// measureOp measures the latency for a single caller, and then the server's CPU time with many callers. It warms up
// briefly first, because the first calls are slower.
func (s *scale) measureOp(ctx context.Context, server *servers.Server, call load.Call) (op, error) {
	if _, err := load.Measure(ctx, s.window/8, concurrentCallers, call); err != nil {
		return op{}, err
	}
	single, err := load.Measure(ctx, s.window/2, 1, call)
	if err != nil {
		return op{}, err
	}
	var operations atomic.Int64
	counted := func(ctx context.Context, caller int) (int, error) {
		n, err := call(ctx, caller)
		operations.Add(int64(n))
		return n, err
	}
	before, err := cpuTime(ctx, server)
	if err != nil {
		return op{}, err
	}
	if _, err := load.Measure(ctx, s.window, concurrentCallers, counted); err != nil {
		return op{}, err
	}
	after, err := cpuTime(ctx, server)
	count := int(operations.Load())
	return op{P50: single.P50, CPU: load.Micros(after-before) / float64(count), Count: count}, err
}

// requestDenied requests a permit that another caller holds.
func (f *fleet) requestDenied(ctx context.Context, caller int) (int, error) {
	resp, err := f.permits(caller).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: heldName, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: host(caller)},
	})
	if err == nil && resp.GetDenial().GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		err = fmt.Errorf("got %v, want a denial because no permit is free", resp)
	}
	return 1, err
}

// refreshOne refreshes a random permit.
func (f *fleet) refreshOne(ctx context.Context, caller int) (int, error) {
	return 1, f.refresh(ctx, caller, f.randomToken())
}

// tokensPerFrame is the number of permits refreshed in one call. A client that holds many permits also refreshes them
// together.
const tokensPerFrame = 100

// refreshFrame refreshes many random permits in one call.
func (f *fleet) refreshFrame(ctx context.Context, caller int) (int, error) {
	tokens := make([]uint64, tokensPerFrame)
	for i := range tokens {
		tokens[i] = f.randomToken()
	}
	return tokensPerFrame, f.refresh(ctx, caller, tokens...)
}

func (f *fleet) randomToken() uint64 { return f.tokens[rand.IntN(len(f.tokens))] }

func (f *fleet) refresh(ctx context.Context, caller int, tokens ...uint64) error {
	request := &gatekeeperv1.RefreshRequest{}
	for _, token := range tokens {
		request.Tokens = append(request.Tokens, &gatekeeperv1.TokenRefresh{Token: token, Duration: durationpb.New(longDuration)})
	}
	resp, err := f.permits(caller).Refresh(ctx, request)
	if err != nil {
		return err
	}
	if n := len(resp.GetResults()); n != len(tokens) {
		return fmt.Errorf("%d results for %d tokens", n, len(tokens))
	}
	for _, r := range resp.GetResults() {
		if r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
			return fmt.Errorf("permit lost: %v", r)
		}
	}
	return nil
}

// acquireAndRelease acquires and releases a permit.
func (f *fleet) acquireAndRelease(ctx context.Context, caller int) (int, error) {
	token, err := f.acquire(ctx, caller, ownName(caller), host(caller), "")
	if err != nil {
		return 0, err
	}
	return 1, f.release(ctx, caller, token)
}

// measureExpiry acquires permits without refreshing them and measures the server's CPU time until they have expired.
func (s *scale) measureExpiry(ctx context.Context, server *servers.Server, f *fleet) (op, error) {
	remaining := func() (int, error) {
		status, err := server.Status(ctx)
		return int(status.GetPermits()), err
	}
	base, err := remaining()
	if err != nil {
		return op{}, err
	}
	var next atomic.Int64
	err = runConcurrently(ctx, s.callers, func(ctx context.Context, caller int) error {
		for start := time.Now(); time.Since(start) < briefDuration/2; {
			i := int(next.Add(1))
			if i > expiries {
				return nil
			}
			if _, err := f.acquire(ctx, caller, briefName, host(i), newHolder()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return op{}, err
	}
	before, err := cpuTime(ctx, server)
	if err != nil {
		return op{}, err
	}
	count, err := remaining()
	if err != nil {
		return op{}, err
	}
	count -= base // exclude permits that existed before the measurement
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("permits that were not refreshed have not expired"))
	defer cancel()
	for {
		if err := pause(ctx, briefDuration/10); err != nil {
			return op{}, context.Cause(ctx)
		}
		switch now, err := remaining(); {
		case err != nil:
			return op{}, err
		case now <= base:
			after, err := cpuTime(ctx, server)
			return op{CPU: load.Micros(after-before) / float64(max(count, 1)), Count: count}, err
		}
	}
}
