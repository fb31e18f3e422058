package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// libraryClient is a client that uses the client library and runs several concurrent jobs.
type libraryClient struct {
	caller
	client *client.Client
	world  []Semaphore
	host   string // acquirer name, which the process's successors also use
	shared string // acquirer of the identities that more than one client uses

	awaiting sync.WaitGroup // goroutines that await the outcomes of firings
}

// run runs jobs until the context is done.
func (l *libraryClient) run(ctx context.Context, jobs int, seed uint64) {
	var all sync.WaitGroup
	for i := range jobs {
		j := &job{
			libraryClient: l, number: i, holderID: fmt.Sprintf("job-%d", i), longFraction: 0.2, maxPause: 20 * time.Millisecond,
			random: rand.New(rand.NewPCG(seed, uint64(i))), last: map[string]uint64{},
		}
		all.Go(func() { j.run(ctx) })
	}
	all.Wait()
	l.awaiting.Wait()
}

// run runs rounds back to back until the context is done.
func (j *job) run(ctx context.Context) {
	for ctx.Err() == nil {
		j.runRound(ctx)
		pause(ctx, time.Duration(j.random.Int64N(int64(j.maxPause))))
	}
}

// job is one of a client's concurrent jobs.
type job struct {
	*libraryClient
	number int
	// holderID is the holder id of the identities that the job reuses.
	holderID string
	// longFraction is the fraction of permits that are held for longer than their duration, which requires refreshes.
	longFraction float64
	// maxPause is the longest pause between two rounds.
	maxPause time.Duration
	random   *rand.Rand
	lastID   int
	// last maps each semaphore and identity to the identity's last token. When the job acquires the next token, it no
	// longer relies on the last one, and the client library may report that to the servers.
	last map[string]uint64
}

// runRound performs one run with a fresh identity, or a sequence of runs under one of the job's reused identities. A
// reused identity simulates a restarted process, or is used at the same time by another client. Two jobs of the same
// client never share an identity, because the client library would reject it.
func (j *job) runRound(ctx context.Context) {
	s := j.world[j.random.IntN(len(j.world))]
	id := history.Identity{Group: "east", Acquirer: j.host, HolderID: j.holderID}
	runs := 1 + j.random.IntN(3)
	switch n := j.random.IntN(10); {
	case n < 4:
		j.lastID++
		id.Acquirer, id.HolderID, runs = j.Client(), fmt.Sprintf("%s%d-%d", j.Client(), j.number, j.lastID), 1
	case n < 7:
		id.Acquirer = j.shared
		s = j.world[(j.number*5+j.random.IntN(2))%len(j.world)] // a semaphore that the other clients also use
	}
	for range runs {
		j.lastID++
		r := history.Request{
			Kind: history.Acquire, Semaphore: s.Name, Weight: 1, Identity: id,
			RequestID: fmt.Sprintf("%s%d-%d", j.Client(), j.number, j.lastID),
		}
		r.Firing = s.firingAt(time.Now())
		if j.random.Float64() < 0.3 {
			r.RequestID = "" // the client library generates one, and cancels the request when it gives up
		}
		for unknown := true; unknown && ctx.Err() == nil && j.random.Float64() < 0.8; { // retry, or move on to the next request
			unknown = j.runOnce(ctx, s, r)
		}
	}
}

// runOnce acquires a permit, holds it for a while and releases it. It reports whether the acquire's outcome is unknown.
func (j *job) runOnce(ctx context.Context, s Semaphore, r history.Request) (unknown bool) {
	l, random := j.libraryClient, j.random
	key := fmt.Sprintf("%s %v", s.Name, r.Identity)
	r.Replaces = j.last[key]
	opts := []client.AcquireOption{
		client.WithGroup(r.Identity.Group), client.WithAcquirer(r.Identity.Acquirer), client.WithHolderID(r.Identity.HolderID),
	}
	if r.RequestID != "" {
		opts = append(opts, client.WithRequestID(r.RequestID))
	}
	if r.Firing != "" {
		f, due := firing(r.Firing)
		opts = append(opts, client.WithFiring(f.Name, due))
	}
	timeout := time.Duration(50+random.IntN(3000)) * time.Millisecond
	callCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	gate := l.client.Semaphore(s.Name)
	acquire := gate.TryAcquire
	if random.Float64() < 0.4 {
		acquire, r.Wait = gate.Acquire, true
	}
	done := l.Call(r)
	p, err := acquire(callCtx, opts...)
	if err != nil {
		if denied, ok := errors.AsType[*client.DeniedError](err); ok {
			what, response := history.Denial(string(denied.Reason), denied.QueueLength, denied.Stop != 0)
			done(what, response, err)
			if token := denied.Firing.GetToken(); token != 0 && random.Float64() < 0.1 {
				l.awaitFiring(ctx, history.Request{Kind: history.Await, Semaphore: s.Name, Firing: r.Firing, Token: token})
			}
			return false
		}
		what := outcome(err)
		done(what, history.Response{}, err)
		return what == history.Unknown
	}
	j.last[key] = p.Token()
	b := l.believe(p)
	done(history.Known, history.Response{Result: history.Granted, Token: p.Token(), SafeUntil: b.safe}, nil)
	go b.follow()
	length := time.Duration(random.IntN(50)) * time.Millisecond
	if random.Float64() < j.longFraction {
		length = time.Duration(random.Int64N(int64(3 * s.Definition.Duration)))
	}
	if random.Float64() < 0.1 {
		// Simulate a job that ignores its context and runs until it is done or its permit has ended.
		select {
		case <-time.After(length):
		case <-p.Done():
		}
	} else {
		pause(p.Context(), min(length, 10*time.Second))
	}
	b.stop()
	releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	end := randomOutcome(random)
	req := history.NewRelease(s.Name, p.Token(), string(end))
	released := l.Call(req)
	switch end {
	case jobNotRun:
		err = p.ReleaseNotRun(releaseCtx)
	case jobCutShort:
		err = p.ReleaseCutShort(releaseCtx)
	case jobFailed:
		err = p.ReleaseFailed(releaseCtx, errors.New(req.Failure))
	case jobDone:
		err = p.Release(releaseCtx)
	}
	if _, ok := errors.AsType[*client.EndedError](err); ok {
		released(history.Known, history.Response{Result: history.Ended}, nil)
		return false
	}
	released(outcome(err), history.Response{Result: history.Released}, err)
	return false
}

// belief repeatedly records how long the client believes that it holds a permit, so that the belief is known even if
// the client is killed.
type belief struct {
	*libraryClient
	permit   *client.Permit
	record   history.Belief
	safe     time.Duration
	stopping chan struct{} // closed by stop
	stopped  chan struct{} // closed after the last record
}

// pollInterval is the interval at which a holder records its belief.
const pollInterval = 5 * time.Millisecond

func (l *libraryClient) believe(p *client.Permit) *belief {
	b := &belief{libraryClient: l, permit: p, stopping: make(chan struct{}), stopped: make(chan struct{})}
	b.record = history.Belief{Semaphore: p.Semaphore(), Token: p.Token(), Weight: 1, From: l.Now()}
	b.poll()
	return b
}

// poll reads the permit's local deadline and records it if it has changed. If the permit no longer has a deadline, the
// previous one remains valid.
func (b *belief) poll() {
	var before, left time.Duration
	for torn := true; torn; torn = b.Now()-before > time.Millisecond { // retry if suspended between the two readings
		before = b.Now()
		until := b.permit.SafeUntil()
		if until.IsZero() {
			return
		}
		left = time.Until(until)
	}
	if safe := before + left; safe > b.safe+time.Millisecond || safe < b.safe-time.Millisecond {
		b.safe = safe
		b.record.Until, b.record.ReliedUntil = safe, safe
		b.Belief(b.record)
	}
}

// follow records the belief until the permit is lost or released.
func (b *belief) follow() {
	defer close(b.stopped)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-b.stopping:
			ended = true
		case <-b.permit.Done():
			ended = true
		case <-tick.C:
		}
		b.poll()
	}
	b.record.Until = min(b.Now(), b.safe)
	b.Belief(b.record)
}

// stop writes the last record. It is called before the release is sent, so that the belief ends first.
func (b *belief) stop() {
	close(b.stopping)
	<-b.stopped
}
