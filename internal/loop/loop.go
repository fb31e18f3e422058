// Package loop is a load generator: its callers repeat a call, and it measures the calls. In a closed loop, each caller
// makes one call after another. In an open loop, calls are due at a fixed rate that does not depend on responses.
//
// A closed loop shows how much a server can do for a given number of callers, but hides its slow moments: while a call
// hangs, its caller makes none of the calls that would have hung too. This is called coordinated omission (Gil Tene,
// "How NOT to Measure Latency"). In an open loop each call has a due time that does not depend on earlier calls, and
// its latency is measured from that time. The latency includes the wait for a free caller. A call that was due but
// could not start is counted with the time that it waited.
package loop

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Turn identifies a call to make.
type Turn struct {
	// Caller is the caller's number, starting at 0. A caller makes one call at a time.
	Caller int
	// Since is the time from which the call's latency is measured: the start time in a closed loop, the due time in an
	// open loop.
	Since time.Time
}

// Call does one piece of work and returns the number of operations that it contained. It is called from many
// goroutines, one for each caller. It should return soon after ctx is done.
type Call func(ctx context.Context, turn Turn) (operations int, err error)

// Window configures a measurement.
type Window struct {
	// Callers is the number of concurrent calls. In an open loop it is the maximum number.
	Callers int
	// Length is the time for which new calls are started. In a closed loop each caller makes at least one call. Run
	// waits for the calls in progress at the end.
	Length time.Duration
	// Rate is the number of calls due per second, across all callers. 0 selects a closed loop.
	Rate float64
	// FailFast ends the window at the first error. Otherwise errors are only counted.
	FailFast bool
}

// Result is the result of a measurement.
type Result struct {
	// Elapsed is the time from the start until the last call returned. In an open loop it is at least the length of the
	// window.
	Elapsed time.Duration
	// Calls is the number of successful calls, Operations is the number of operations in them, and Errors is the number
	// of failed calls. A call interrupted by the end of the context counts as neither successful nor failed.
	Calls, Operations, Errors int
	// Err is the first error, with its caller.
	Err error
	// Late is the number of calls in an open loop that were due when no caller was free. Missed is the number of calls
	// that were due but not started before the window ended.
	Late, Missed int
	// Latency covers the successful calls, and the missed ones with the time that they waited.
	Latency Latency
}

// PerSecond returns the number of operations per second.
func (r *Result) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Operations) / r.Elapsed.Seconds()
}

// errorPause is how long a caller in a closed loop pauses after a failed call, to avoid flooding a server that refuses
// calls immediately.
const errorPause = 10 * time.Millisecond

// Run measures call. If ctx ends before the window does, the result covers the time until then.
func (w Window) Run(ctx context.Context, call Call) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{Window: w, call: call, cancel: cancel, latency: NewRecorder(), begin: time.Now()}
	r.end = r.begin.Add(w.Length)
	var wg sync.WaitGroup
	for caller := range w.Callers {
		wg.Go(func() {
			if w.Rate > 0 {
				r.openLoop(ctx, caller)
			} else {
				r.closedLoop(ctx, caller)
			}
		})
	}
	wg.Wait()
	out := Result{
		Elapsed: time.Since(r.begin), Calls: r.calls, Operations: r.operations, Errors: r.errors, Err: r.err,
		Late: int(r.late.Load()), Missed: int(r.missed.Load()), Latency: r.latency.Latency(),
	}
	if w.Rate > 0 && ctx.Err() == nil {
		out.Elapsed = max(out.Elapsed, w.Length) // the last call may have returned before the window ended
	}
	return out
}

// run is the state of a measurement in progress.
type run struct {
	Window
	call       Call
	cancel     context.CancelFunc
	latency    *Recorder
	begin, end time.Time

	next         atomic.Int64 // the index of the next call in an open loop
	late, missed atomic.Int64

	mu                        sync.Mutex // guards the fields below
	calls, operations, errors int
	err                       error
}

// closedLoop makes one caller's calls in a closed loop. It makes at least one, because on a busy machine a short
// window may end before the goroutine runs.
func (r *run) closedLoop(ctx context.Context, caller int) {
	var done tally
	for first := true; ctx.Err() == nil; first = false {
		start := time.Now()
		if !first && !start.Before(r.end) {
			break
		}
		if !r.doCall(ctx, Turn{caller, start}, &done) {
			wait(ctx, time.Now().Add(errorPause))
		}
	}
	r.add(done)
}

// openLoop makes one caller's calls in an open loop. It takes the next call and, if the call is not due yet, waits for
// it.
func (r *run) openLoop(ctx context.Context, caller int) {
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
			r.doCall(ctx, Turn{caller, due}, &done)
		}
	}
	r.add(done)
}

// due returns when the n-th call is due. The offset of half an interval leaves time to start the callers.
func (r *run) due(n int64) time.Time {
	return r.begin.Add(time.Duration(math.Round((float64(n) + 0.5) / r.Rate * float64(time.Second))))
}

// tally counts one caller's successful calls and their operations.
type tally struct{ calls, operations int }

func (r *run) doCall(ctx context.Context, turn Turn, done *tally) bool {
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
		return false // interrupted, or the first error ended the window
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

// wait waits until the given time. It returns false if ctx ended first.
func wait(ctx context.Context, until time.Time) bool {
	d := time.Until(until)
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
