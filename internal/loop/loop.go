// Package loop makes callers call something again and again, and measures them: in a closed loop, each caller one call
// after the other, or in an open loop, at a rate that does not wait for answers.
//
// A closed loop says how much a server can do for so many callers, and flatters its slow moments: while a call hangs,
// its caller makes none of those that would have hung too. This is called coordinated omission (Gil Tene, "How NOT to
// Measure Latency"). In an open loop each call has a time at which it is due, whatever became of those before it, and
// its latency is counted from then: a call that had to wait for a free caller has waited, and a call that was due and
// could not be begun at all is counted, with the time that it has waited so far.
package loop

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Turn is one call that is to be made.
type Turn struct {
	// Caller is who makes it, from 0. A caller makes one call at a time.
	Caller int
	// Since is when its latency begins: now in a closed loop, when it was due in an open one.
	Since time.Time
}

// Call does one piece of work and returns how many operations it was. It is called on many goroutines, for each caller
// on one. When ctx has ended it is to return soon.
type Call func(ctx context.Context, turn Turn) (operations int, err error)

// Window says what to measure.
type Window struct {
	// Callers is how many calls are made at once: in an open loop at most.
	Callers int
	// Length is for how long calls are begun, in a closed loop at least one by each caller. Those under way then are
	// waited for.
	Length time.Duration
	// Rate is how many calls are due in a second, of all callers together. 0 makes a closed loop.
	Rate float64
	// FailFast ends the window with the first error. Otherwise errors are counted.
	FailFast bool
}

// Result is what a window has measured.
type Result struct {
	// Elapsed is from the beginning until the last call has ended, in an open loop no less than the window's length.
	Elapsed time.Duration
	// Calls have succeeded, Operations is how much work they were, and Errors have failed. Calls that were cut off
	// because the context ended are none of these.
	Calls, Operations, Errors int
	// Err is the first error, with its caller.
	Err error
	// Late calls of an open loop found no free caller when they were due. Missed ones were due, and were never begun
	// before the window was over.
	Late, Missed int
	// Latency is of the calls that succeeded, and of those that were missed as far as they had waited.
	Latency Latency
}

// PerSecond is how many operations were done in a second.
func (r *Result) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Operations) / r.Elapsed.Seconds()
}

// errorPause is what a caller of a closed loop rests after a call that has failed: a server that refuses at once is not
// to be stormed.
const errorPause = 10 * time.Millisecond

// Run measures call. When ctx ends before the window does, the result is of what was done until then.
func (w Window) Run(ctx context.Context, call Call) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{Window: w, call: call, cancel: cancel, latency: NewRecorder(), begin: time.Now()}
	r.end = r.begin.Add(w.Length)
	var wg sync.WaitGroup
	for caller := range w.Callers {
		wg.Go(func() {
			if w.Rate > 0 {
				r.open(ctx, caller)
			} else {
				r.closed(ctx, caller)
			}
		})
	}
	wg.Wait()
	out := Result{
		Elapsed: time.Since(r.begin), Calls: r.calls, Operations: r.operations, Errors: r.errors, Err: r.err,
		Late: int(r.late.Load()), Missed: int(r.missed.Load()), Latency: r.latency.Latency(),
	}
	if w.Rate > 0 && ctx.Err() == nil {
		out.Elapsed = max(out.Elapsed, w.Length) // the last call was due before the end, and none after it
	}
	return out
}

// run is a window under way.
type run struct {
	Window
	call       Call
	cancel     context.CancelFunc
	latency    *Recorder
	begin, end time.Time

	next         atomic.Int64 // the next call of an open loop
	late, missed atomic.Int64

	mu                        sync.Mutex // guards everything below
	calls, operations, errors int
	err                       error
}

// closed makes the calls of one caller, one after the other: at least one, since on a busy machine a short window may
// be over before its goroutine begins.
func (r *run) closed(ctx context.Context, caller int) {
	var done tally
	for first := true; ctx.Err() == nil; first = false {
		start := time.Now()
		if !first && !start.Before(r.end) {
			break
		}
		if !r.one(ctx, Turn{caller, start}, &done) {
			wait(ctx, time.Now().Add(errorPause))
		}
	}
	r.add(done)
}

// open makes those calls that this caller finds due, or next to become due.
func (r *run) open(ctx context.Context, caller int) {
	var done tally
	for ctx.Err() == nil {
		due := r.due(r.next.Add(1) - 1)
		if !due.Before(r.end) {
			break
		}
		now := time.Now()
		if !now.Before(r.end) {
			r.latency.Record(caller, now.Sub(due))
			r.missed.Add(1)
			continue
		}
		if now.After(due) {
			r.late.Add(1)
		}
		if wait(ctx, due) {
			r.one(ctx, Turn{caller, due}, &done)
		}
	}
	r.add(done)
}

// due is when the n-th call is due. Half an interval leaves time to start the callers.
func (r *run) due(n int64) time.Time {
	return r.begin.Add(time.Duration(math.Round((float64(n) + 0.5) / r.Rate * float64(time.Second))))
}

// tally is what one caller has done.
type tally struct{ calls, operations int }

func (r *run) one(ctx context.Context, turn Turn, done *tally) bool {
	n, err := r.call(ctx, turn)
	if err == nil {
		r.latency.Record(turn.Caller, time.Since(turn.Since))
		done.calls++
		done.operations += n
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return false // cut off, or the first error has ended the window
	}
	r.errors++
	if r.err == nil {
		r.err = fmt.Errorf("caller %d: %w", turn.Caller, err)
	}
	if r.FailFast {
		r.cancel()
	}
	return false
}

func (r *run) add(t tally) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls += t.calls
	r.operations += t.operations
}

// wait waits until then, and says whether ctx let it.
func wait(ctx context.Context, then time.Time) bool {
	d := time.Until(then)
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
