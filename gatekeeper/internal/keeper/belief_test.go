package keeper

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// TestAcquire_UnderFaults_NeverExceedsPermits runs clients whose clocks run at slightly different rates, while leaders
// fail and operators make changes. The leader is paused, deposed and re-elected. Log entries are delayed, lost, or
// applied after their outcome was reported as unknown. The definition's duration changes, and operators pause, cordon,
// revoke, delete and make temporary edits, with and without drains. Some clients keep their identity across
// acquisitions, and two processes share an identity. They retry immediately with a new request id, or without one,
// while an earlier acquire, cancel or release is still in flight. Some claim firings, and their jobs end in every
// possible way. Callers take over permits from holders. At no time may the total weight of the identities that rely on
// a permit exceed the number of permits, and no firing may be attempted more often than its definition allows.
//
// GATEKEEPER_SEED runs a single seed, with the same workload, faults and virtual times. Goroutine scheduling may still
// differ.
func TestAcquire_UnderFaults_NeverExceedsPermits(t *testing.T) {
	seeds := make([]uint64, seedCount())
	for i := range seeds {
		seeds[i] = uint64(i) + 1
	}
	if s := os.Getenv("GATEKEEPER_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	total := beliefs{claimStates: make(map[semaphore.ClaimState]int)}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				b := w.storm(seed)
				b.check(t, 2)
				total.granted += b.granted
				total.refreshed += b.refreshed
				total.replayed += b.replayed
				total.drained += b.drained
				total.reacquired += b.reacquired
				total.takenOver += b.takenOver
				for c := range w.machine.State().Claims("job") {
					if total.claimStates[c.State]++; c.Attempts > attempts {
						t.Fatalf("firing %q had %d attempts, want at most %d", c.Firing.Name, c.Attempts, attempts)
					}
				}
			})
		})
	}
	t.Logf("%d grants, %d refreshes, %d of them while draining, %d replays, %d re-acquisitions, %d takeovers, firings: %v",
		total.granted, total.refreshed, total.drained, total.replayed, total.reacquired, total.takenOver, total.claimStates)
	if total.granted == 0 || total.refreshed == 0 || len(seeds) > 1 && (total.replayed == 0 || total.drained == 0 || total.reacquired == 0) {
		t.Fatal("the storm did not produce every outcome")
	}
	for _, end := range []semaphore.ClaimState{semaphore.ClaimDone, semaphore.ClaimFailed, semaphore.ClaimCutShort, semaphore.ClaimSpent, semaphore.ClaimOpen} {
		if len(seeds) > 1 && (total.claimStates[end] == 0 || total.takenOver == 0) {
			t.Errorf("the storm produced no firing in state %s, or no takeover", end)
		}
	}
}

// attempts is the semaphore's max_attempts.
const attempts = 2

// seedCount returns the number of seeds to run: GATEKEEPER_SEEDS, or a small default.
func seedCount() int {
	if n, err := strconv.Atoi(os.Getenv("GATEKEEPER_SEEDS")); err == nil && n > 0 {
		return n
	}
	return 30
}

// belief is a period during which a client relied on a permit.
type belief struct {
	identity    semaphore.Identity
	token       uint64
	weight      uint32
	from, until time.Time
}

type beliefs struct {
	mu                           sync.Mutex
	all                          []belief
	granted, refreshed, replayed int
	// drained counts refreshes by holders that had to stop.
	drained     int
	reacquired  int
	takenOver   int
	claimStates map[semaphore.ClaimState]int
}

func (b *beliefs) add(x belief) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, x)
}

func (b *beliefs) count(n *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*n++
}

// check sweeps over the beliefs in chronological order and fails if their total weight ever exceeds permits. Beliefs
// that end at the instant another starts do not overlap it. Overlapping beliefs of the same identity count once.
func (b *beliefs) check(t *testing.T, permits uint32) {
	t.Helper()
	type edge struct {
		at       time.Time
		weight   int64
		token    uint64
		identity semaphore.Identity
	}
	var edges []edge
	for _, x := range b.all {
		if x.until.After(x.from) {
			edges = append(edges, edge{x.from, int64(x.weight), x.token, x.identity}, edge{x.until, -int64(x.weight), x.token, x.identity})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.weight, b.weight)) })
	sum := int64(0)
	active := make(map[semaphore.Identity]int)
	for _, e := range edges {
		switch {
		case e.weight > 0:
			active[e.identity]++
			if active[e.identity] > 1 {
				continue
			}
		default:
			active[e.identity]--
			if active[e.identity] > 0 {
				continue
			}
		}
		if sum += e.weight; sum > int64(permits) {
			t.Fatalf("at %v: clients rely on a total weight of %d, the latest with token %d; want at most %d", e.at, sum, e.token, permits)
		}
	}
}

// storm runs clients and faults for a few minutes of virtual time.
func (w *world) storm(seed uint64) *beliefs {
	rng := rand.New(rand.NewPCG(seed, 0))
	w.raiseFeatureLevel()
	w.define("job", func(d *semaphore.Definition) {
		d.Permits, d.Duration, d.Takeover, d.FiringOnLoss, d.MaxAttempts = 2, 10*time.Second, true, semaphore.FiringFree, attempts
	})
	b := &beliefs{}
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for i := range 7 {
		c := &client{
			w: w, b: b, rng: rand.New(rand.NewPCG(seed, uint64(i)+1)), lateRequests: &clients,
			name: "host" + strconv.Itoa(min(i, 5)), process: strconv.Itoa(i), rate: 0.99 + 0.003*float64(i),
			stable: i >= 3, shared: i >= 5, holderID: []string{"", "holder"}[i%3%2],
		}
		if c.shared {
			c.holderID = "both"
		}
		clients.Go(func() { c.run(ctx) })
	}
	for range 150 {
		time.Sleep(time.Duration(rng.Int64N(int64(8 * time.Second))))
		w.fault(rng)
		w.takeOver(rng, b)
	}
	stop()
	w.lead.set(nil)
	w.tape.releaseHeld()
	clients.Wait()
	return b
}

// fault injects one fault.
func (w *world) fault(rng *rand.Rand) {
	pause := func() { time.Sleep(time.Duration(rng.Int64N(int64(12 * time.Second)))) }
	switch rng.IntN(9) {
	case 0: // entries are slow
		w.tape.hold()
		pause()
		w.tape.releaseHeld()
	case 1: // the leader is deposed with entries in flight, which may or may not be committed
		w.tape.hold()
		pause()
		lost := w.tape.failHeld()
		w.demote()
		pause()
		if rng.IntN(2) == 0 {
			w.tape.applyHeld(lost)
		}
		w.promote(w.term + 1)
	case 2: // the leader is deposed and immediately re-elected
		w.demote()
		w.promote(w.term + 1)
	case 3: // the leader is partitioned and cannot confirm its leadership
		w.lead.fail()
		pause()
		w.lead.set(nil)
	case 4: // Raft rejects entries
		w.tape.refuseAppends(consensus.ErrNotAppended)
		pause()
		w.tape.refuseAppends(nil)
	case 5:
		d := time.Duration(1+rng.IntN(4)) * 5 * time.Second
		_ = w.replace("job", func(def *semaphore.Definition) { def.Duration = d })
	default:
		w.operate(rng)
	}
	synctest.Wait()
}

// takeOver occasionally takes over a permit on behalf of a caller, as if the caller considered the holder dead.
func (w *world) takeOver(rng *rand.Rand, b *beliefs) {
	by := semaphore.Identity{Group: "prod", Acquirer: "host" + strconv.Itoa(rng.IntN(6))}
	for p := range w.machine.State().Holders("job") {
		if rng.IntN(10) == 0 {
			if r, err := w.TakeOver(context.Background(), fsm.TakeOver{Token: p.Token, By: by}); err == nil && r.Applied {
				b.count(&b.takenOver)
			}
		}
	}
}

// operate makes a random operator change, which may temporarily shut out some or all clients, with or without a drain.
func (w *world) operate(rng *rand.Rand) {
	ctx := context.Background()
	drain := []time.Duration{0, 3 * time.Second, 40 * time.Second}[rng.IntN(3)]
	end := Ending{Duration: time.Duration(1 + rng.Int64N(int64(25*time.Second)))}
	host := "host" + strconv.Itoa(rng.IntN(6))
	edit := func(c fsm.Change, end Ending) {
		c.Name = "job"
		if sd := w.machine.State().Definition("job"); sd != nil {
			c.ExpectedVersion = sd.Version
		}
		_, _ = w.Edit(ctx, fsm.EditBatch{Changes: []fsm.Change{c}, Drain: drain}, end)
	}
	switch rng.IntN(7) {
	case 0:
		_, _ = w.Pause(ctx, fsm.Pause{Names: []string{"job"}, Stop: true, Drain: drain}, end)
	case 1:
		_, _ = w.Pause(ctx, fsm.Pause{Names: []string{"job"}}, end)
	case 2:
		_, _ = w.Resume(ctx, fsm.Resume{Names: []string{"job"}})
	case 3:
		_, _ = w.Cordon(ctx, fsm.SetCordon{ID: "c" + strconv.Itoa(rng.IntN(2)), AcquirerPattern: host, Drain: drain}, end)
	case 4: // a temporary edit of the pattern
		d := w.machine.State().Definition("job").Definition.Clone()
		d.AcquirerPattern = "host[" + strconv.Itoa(rng.IntN(6)) + "-9]"
		edit(fsm.Change{Kind: fsm.Replace, Definition: d}, end)
	case 5:
		for p := range w.machine.State().Holders("job") {
			_, _ = w.Revoke(ctx, fsm.Revoke{Token: p.Token, Drain: drain})
			break
		}
	case 6: // delete and recreate; permits granted before the delete still count
		d := w.machine.State().Definition("job").Definition
		edit(fsm.Change{Kind: fsm.Delete}, Ending{})
		time.Sleep(time.Duration(rng.Int64N(int64(5 * time.Second))))
		edit(fsm.Change{Kind: fsm.Create, Definition: d}, Ending{})
	}
}

// client relies on a permit according to the rules in the package comment: for the time spent waiting plus the
// duration, counted from when it sent the attempt that was granted, less a margin of twice the allowed difference
// between clock rates.
type client struct {
	w            *world
	b            *beliefs
	rng          *rand.Rand
	name         string
	rate         float64 // clock rate
	requests     int
	lateRequests *sync.WaitGroup // late requests that no caller waits for

	// A stable client keeps its identity across acquisitions. A shared client is one of two processes with the same
	// identity.
	stable, shared    bool
	process, holderID string
	// last is the token of the last permit, if the client no longer relies on it; 0 otherwise.
	last uint64
}

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		c.acquire(ctx)
		time.Sleep(time.Duration(c.rng.Int64N(int64(3 * time.Second))))
	}
}

// deadline returns the time at which the belief ends, by the test's clock.
func (c *client) deadline(base time.Time, waited, duration time.Duration) time.Time {
	local := float64(waited+duration) * 0.98
	return base.Add(time.Duration(local / c.rate))
}

func (c *client) acquire(ctx context.Context) {
	c.requests++
	call := newCall(c.name, c.process+"-"+strconv.Itoa(c.requests))
	call.Identity.HolderID = call.RequestID
	call.Weight = 1 + uint32(c.rng.IntN(2))
	waits := c.rng.IntN(2) == 0
	if c.stable {
		call.Identity.HolderID, call.Weight = c.holderID, 1
		if !waits && c.rng.IntN(3) == 0 {
			call.RequestID = ""
		}
		if c.rng.IntN(2) == 0 && !c.shared {
			call.ReplacesToken = c.last
		}
	}
	if !c.stable && c.rng.IntN(4) > 0 {
		call.Firing = &semaphore.Firing{Name: strconv.FormatInt(time.Now().Unix()/90, 10)}
	}
	for range 5 { // retries carry the same request id
		attempt, cancel := context.WithTimeout(ctx, time.Duration(1+c.rng.IntN(15))*time.Second)
		again := *call
		base := time.Now()
		again.Received = base.Add(time.Duration(c.rng.Int64N(int64(time.Second))))
		time.Sleep(time.Until(again.Received)) // network delay of the request
		var a Answer
		var err error
		if waits {
			a, err = c.w.Acquire(attempt, &again, func(Place) error { return nil })
		} else {
			a, err = c.w.TryAcquire(attempt, &again)
		}
		cancel()
		switch {
		case err == nil && a.Permit != nil:
			switch a.Outcome {
			case semaphore.Refreshed:
				c.b.count(&c.b.replayed)
			case semaphore.Reacquired:
				c.b.count(&c.b.reacquired)
			default:
			}
			c.b.count(&c.b.granted)
			time.Sleep(time.Duration(c.rng.Int64N(int64(time.Second)))) // network delay of the response
			c.hold(a.Permit, base, a.Waited)
			return
		case err == nil && a.Denial != nil, ctx.Err() != nil:
			return
		case c.stable && c.rng.IntN(2) == 0: // retry with another request id, and perhaps cancel this one
			c.sendLate(call)
			return
		}
	}
}

// sendLate sends a request or its cancellation late, after the client has given up on it.
func (c *client) sendLate(call *AcquireCall) {
	delay := time.Duration(c.rng.Int64N(int64(12 * time.Second)))
	again, cancels := *call, c.rng.IntN(3) > 0 && call.RequestID != ""
	c.lateRequests.Go(func() {
		time.Sleep(delay)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if cancels {
			_, _ = c.w.Cancel(ctx, again.Semaphore, again.Identity, again.RequestID)
			return
		}
		again.Received = time.Now()
		_, _ = c.w.TryAcquire(ctx, &again) // the response is lost
	})
}

func (c *client) hold(p *semaphore.Permit, base time.Time, waited time.Duration) {
	c.last = 0
	x := belief{identity: p.Identity, token: p.Token, weight: p.Weight, from: time.Now(), until: c.deadline(base, waited, p.Duration)}
	defer func() {
		if c.b.add(x); !x.until.After(time.Now()) {
			c.last = p.Token
		}
	}()
	duration := p.Duration
	l := c.w.Listen()
	defer func() { l.Close() }()
	for n := c.rng.IntN(12); n > 0; n-- {
		time.Sleep(duration/3 + time.Duration(c.rng.Int64N(int64(time.Second))))
		if !time.Now().Before(x.until) {
			return // no longer relied on
		}
		if c.rng.IntN(8) == 0 { // switch to another stream
			l.Close()
			l = c.w.Listen()
		}
		send := time.Now()
		refresh := []TokenRefresh{{Token: p.Token, Duration: duration}}
		// The client relies on the permit for as long as the rules allow. A shorter duration ends an older, longer
		// belief only once the client has sent it.
		x.until = earlier(x.until, c.deadline(send, 0, duration))
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		var r []TokenResult
		var err error
		if c.rng.IntN(5) == 0 {
			r, err = c.w.Refresh(ctx, time.Now(), semaphore.Owner{}, refresh)
		} else {
			r, err = refreshWithContext(ctx, l.Receive(), refresh)
		}
		cancel()
		if !time.Now().Before(x.until) {
			return
		}
		switch {
		case err != nil || r[0].Status == StatusRetry:
		case r[0].Status == StatusRefreshed:
			c.b.count(&c.b.refreshed)
			if r[0].Stop != semaphore.NotStopping {
				c.b.count(&c.b.drained)
			}
			duration = r[0].Duration
			x.until = later(x.until, c.deadline(send, 0, duration))
		case r[0].Status == StatusLost:
			x.until = time.Now()
			return
		default:
			return
		}
	}
	if c.rng.IntN(3) > 0 {
		if x.until.After(time.Now()) {
			x.until = time.Now() // belief ends before the release is sent
		}
		delay, job := time.Duration(0), semaphore.JobEnd(c.rng.IntN(int(semaphore.JobFailed)+1))
		if c.stable && c.rng.IntN(2) == 0 {
			delay = time.Duration(c.rng.Int64N(int64(10 * time.Second))) // delayed by a forwarding follower
		}
		release := func() {
			time.Sleep(delay)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, _ = c.w.Release(ctx, fsm.Release{Token: p.Token, Job: job}, semaphore.Owner{Identity: &p.Identity})
		}
		if delay > 0 {
			c.lateRequests.Go(release)
			return
		}
		release()
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
