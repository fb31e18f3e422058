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

// op is what one operation costs.
type op struct {
	// P50 is the median of what a lone caller waits, in µs; 0 where nobody waits for one alone.
	P50 float64 `json:"p50_us"`
	// CPU is what it takes of the server's, in µs, while many call at once.
	CPU   float64 `json:"server_cpu_us"`
	Count int     `json:"count"`
}

// costs are those of every kind of operation, on a server of one size.
type costs struct {
	Decision op `json:"decision"` // a denial: what is read for it is what a grant reads
	Refresh  op `json:"refresh"`  // of one permit, by a separate call
	Frame    op `json:"frame"`    // of one permit among inFrame in a call
	Grant    op `json:"grant"`    // with its release
	Expiry   op `json:"expiry"`
	// Idle is what the server takes when nobody asks it anything, in percent of one core.
	Idle float64 `json:"idle_cpu_percent"`
}

// atOnce is how many call at once where CPU is measured.
const atOnce = 16

// expiries are how many permits are left to expire.
const expiries = 4000

// measureCosts measures every kind of operation.
func (s *scale) measureCosts(ctx context.Context, server *servers.Server, f *fleet) (c costs, err error) {
	for _, kind := range []struct {
		what string
		to   *op
		call load.Call
	}{
		{"decision", &c.Decision, f.denied},
		{"refresh", &c.Refresh, f.refreshed},
		{"refresh of many", &c.Frame, f.frame},
		{"grant", &c.Grant, f.pair},
	} {
		if *kind.to, err = s.measureOp(ctx, server, kind.call); err != nil {
			return c, fmt.Errorf("%s: %w", kind.what, err)
		}
	}
	c.Frame.P50 = 0 // it is that of the whole call
	if c.Expiry, err = s.measureExpiry(ctx, server, f); err != nil {
		return c, fmt.Errorf("expiry: %w", err)
	}
	if err := pause(ctx, settling/2); err != nil { // callers are noted once a second
		return c, err
	}
	c.Idle, _, err = idle(ctx, server, s.window)
	return c, err
}

// measureOp has one caller call alone, for what it waits, and then many at once, for what that takes of the server. The
// same was called before for a little while: the first calls are others.
func (s *scale) measureOp(ctx context.Context, server *servers.Server, call load.Call) (op, error) {
	if _, err := load.Measure(ctx, s.window/8, atOnce, call); err != nil {
		return op{}, err
	}
	alone, err := load.Measure(ctx, s.window/2, 1, call)
	if err != nil {
		return op{}, err
	}
	var operations atomic.Int64
	counted := func(ctx context.Context, caller int) (int, error) {
		n, err := call(ctx, caller)
		operations.Add(int64(n))
		return n, err
	}
	before, err := used(ctx, server)
	if err != nil {
		return op{}, err
	}
	if _, err := load.Measure(ctx, s.window, atOnce, counted); err != nil {
		return op{}, err
	}
	after, err := used(ctx, server)
	count := int(operations.Load())
	return op{P50: alone.P50, CPU: load.Micros(after-before) / float64(count), Count: count}, err
}

// denied asks for what somebody else holds.
func (f *fleet) denied(ctx context.Context, caller int) (int, error) {
	answer, err := f.permits(caller).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: heldName, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: host(caller)},
	})
	if err == nil && answer.GetDenial().GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		err = fmt.Errorf("answered %v, want a denial for want of a free permit", answer)
	}
	return 1, err
}

// refreshed refreshes any one of the permits.
func (f *fleet) refreshed(ctx context.Context, caller int) (int, error) {
	return 1, f.refresh(ctx, caller, f.any())
}

// inFrame is how many permits are refreshed together, as a client does that holds many.
const inFrame = 100

// frame refreshes any of the permits, many in one call.
func (f *fleet) frame(ctx context.Context, caller int) (int, error) {
	tokens := make([]uint64, inFrame)
	for i := range tokens {
		tokens[i] = f.any()
	}
	return inFrame, f.refresh(ctx, caller, tokens...)
}

func (f *fleet) any() uint64 { return f.tokens[rand.IntN(len(f.tokens))] }

func (f *fleet) refresh(ctx context.Context, caller int, tokens ...uint64) error {
	request := &gatekeeperv1.RefreshRequest{}
	for _, token := range tokens {
		request.Tokens = append(request.Tokens, &gatekeeperv1.TokenRefresh{Token: token, Duration: durationpb.New(long)})
	}
	answer, err := f.permits(caller).Refresh(ctx, request)
	if err != nil {
		return err
	}
	if n := len(answer.GetResults()); n != len(tokens) {
		return fmt.Errorf("%d results for %d tokens", n, len(tokens))
	}
	for _, r := range answer.GetResults() {
		if r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
			return fmt.Errorf("permit lost: %v", r)
		}
	}
	return nil
}

// pair acquires and releases.
func (f *fleet) pair(ctx context.Context, caller int) (int, error) {
	token, err := f.acquire(ctx, caller, ownName(caller), host(caller), "")
	if err != nil {
		return 0, err
	}
	return 1, f.release(ctx, caller, token)
}

// measureExpiry makes permits that nobody refreshes, and counts what it takes of the server until they are gone.
func (s *scale) measureExpiry(ctx context.Context, server *servers.Server, f *fleet) (op, error) {
	left := func() (int, error) {
		status, err := server.Status(ctx)
		return int(status.GetPermits()), err
	}
	base, err := left()
	if err != nil {
		return op{}, err
	}
	var next atomic.Int64
	err = together(ctx, s.callers, func(ctx context.Context, caller int) error {
		for begin := time.Now(); time.Since(begin) < brief/2; {
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
	before, err := used(ctx, server)
	if err != nil {
		return op{}, err
	}
	count, err := left()
	if err != nil {
		return op{}, err
	}
	count -= base // some may have expired already
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("permits that nobody refreshes do not expire"))
	defer cancel()
	for {
		if err := pause(ctx, brief/10); err != nil {
			return op{}, context.Cause(ctx)
		}
		switch now, err := left(); {
		case err != nil:
			return op{}, err
		case now <= base:
			after, err := used(ctx, server)
			return op{CPU: load.Micros(after-before) / float64(max(count, 1)), Count: count}, err
		}
	}
}
