package loop_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
)

// callTaking returns a call that takes the given time and counts as one operation.
func callTaking(d time.Duration) loop.Call {
	return func(ctx context.Context, _ loop.Turn) (int, error) {
		select {
		case <-time.After(d):
			return 1, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func TestRun_ClosedLoop_RunsCallsSequentiallyPerCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loop.Window{Callers: 4, Length: time.Second}.Run(t.Context(), callTaking(100*time.Millisecond))
		if r.Calls != 40 || r.Operations != 40 || r.PerSecond() != 40 || r.Errors != 0 || r.Missed != 0 || r.Latency.P50 != 100*time.Millisecond || r.Latency.Max != 100*time.Millisecond {
			t.Errorf("got %+v, want 10 calls by each of 4 callers", r)
		}
	})
}

func TestRun_ClosedLoop_EachCallerMakesAtLeastOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if r := (loop.Window{Callers: 3}).Run(t.Context(), callTaking(time.Second)); r.Calls != 3 || r.Latency.P50 != time.Second {
			t.Errorf("got %+v, want one call by each caller", r)
		}
	})
}

func TestRun_OpenLoop_SchedulesCallsAtFixedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var mu sync.Mutex // guards due
		var due []time.Duration
		call := callTaking(300 * time.Millisecond)
		r := loop.Window{Callers: 4, Length: time.Second, Rate: 10}.Run(t.Context(), func(ctx context.Context, turn loop.Turn) (int, error) {
			mu.Lock()
			due = append(due, turn.Since.Sub(begin))
			mu.Unlock()
			if now := time.Now(); !now.Equal(turn.Since) {
				t.Errorf("call due at %v started at %v", turn.Since.Sub(begin), now.Sub(begin))
			}
			return call(ctx, turn)
		})
		for i, at := range due {
			if want := time.Duration(50+100*i) * time.Millisecond; at != want {
				t.Errorf("call %d was due at %v, want %v", i, at, want)
			}
		}
		if len(due) != 10 || r.Calls != 10 || r.Late != 0 || r.Missed != 0 || r.Latency.Max != 300*time.Millisecond || r.Elapsed != 1250*time.Millisecond {
			t.Errorf("got %+v after %d calls, want 10 calls of 300 ms each", r, len(due))
		}
	})
}

// If the server stalls for a second, the stall must show in the latency of every call that was due in that second.
func TestRun_OpenLoop_StallDelaysAllDueCalls(t *testing.T) {
	stalling := func(begin time.Time) loop.Call {
		return func(ctx context.Context, _ loop.Turn) (int, error) {
			if at := time.Since(begin); at >= time.Second && at < 2*time.Second {
				return callTaking(2*time.Second-at)(ctx, loop.Turn{})
			}
			return callTaking(time.Millisecond)(ctx, loop.Turn{})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		closed := loop.Window{Callers: 1, Length: 4 * time.Second}.Run(t.Context(), stalling(time.Now()))
		open := loop.Window{Callers: 1, Length: 4 * time.Second, Rate: 100}.Run(t.Context(), stalling(time.Now()))
		if closed.Latency.P99 > 2*time.Millisecond {
			t.Errorf("closed loop: got p99 %v, want at most 2ms, because a closed loop hides the stall", closed.Latency.P99)
		}
		if open.Latency.P90 < 500*time.Millisecond || open.Latency.Max != 995*time.Millisecond || open.Calls != 400 || open.Late == 0 || open.Missed != 0 {
			t.Errorf("open loop: got %+v, want a quarter of the calls delayed", open)
		}
	})
}

func TestRun_OpenLoop_IncludesWaitOfMissedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loop.Window{Callers: 2, Length: time.Second, Rate: 100}.Run(t.Context(), callTaking(250*time.Millisecond))
		if r.Calls != 8 || r.Missed != 92 || r.Late == 0 {
			t.Errorf("got %d calls, %d missed, %d late; want 8 of the 100 calls that were due", r.Calls, r.Missed, r.Late)
		}
		if r.Latency.Max < 900*time.Millisecond || r.Latency.P50 < 400*time.Millisecond {
			t.Errorf("got %+v, want the waiting time of missed calls included", r.Latency)
		}
	})
}

func TestRun_CallFails_CountsErrorAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		begin := time.Now()
		r := loop.Window{Callers: 2, Length: time.Second}.Run(t.Context(), func(ctx context.Context, turn loop.Turn) (int, error) {
			if turn.Caller == 1 {
				return 0, refused
			}
			return callTaking(time.Second/4)(ctx, turn)
		})
		if r.Calls != 4 || r.Errors == 0 || r.Errors > 100 || !errors.Is(r.Err, refused) || r.Latency.P50 != time.Second/4 || time.Since(begin) != time.Second {
			t.Errorf("got %+v, want 4 calls and at most 100 errors, none of them in the latency", r)
		}
	})
}

func TestRun_FailFast_StopsAtFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		for _, rate := range []float64{0, 5} {
			begin := time.Now()
			r := loop.Window{Callers: 3, Length: time.Hour, FailFast: true, Rate: rate}.Run(t.Context(), func(ctx context.Context, turn loop.Turn) (int, error) {
				if turn.Caller == 2 {
					return 0, refused
				}
				return callTaking(2*time.Hour)(ctx, turn)
			})
			if !errors.Is(r.Err, refused) || r.Errors != 1 || time.Since(begin) > time.Minute {
				t.Errorf("rate %v: got %+v after %v, want the first error to end the window", rate, r, time.Since(begin))
			}
		}
	})
}

func TestRun_Interrupted_ReturnsPartialResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []float64{0, 10} {
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			r := loop.Window{Callers: 2, Length: time.Hour, Rate: rate}.Run(ctx, callTaking(time.Second))
			cancel()
			if r.Calls != 4 || r.Errors != 0 || r.Missed != 0 || r.Elapsed != 2500*time.Millisecond {
				t.Errorf("rate %v: got %+v, want 4 calls in 2.5 s and no error for the interrupted call", rate, r)
			}
		}
	})
}

func TestLatency_Percentiles_AccurateToOneThousandth(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	recorder := loop.NewRecorder()
	var all []time.Duration
	for i := range 20_000 {
		d := time.Duration(1) << rng.IntN(36) // up to a minute
		d += time.Duration(rng.Int64N(int64(d)))
		all = append(all, d)
		recorder.Record(i, d)
	}
	slices.Sort(all)
	got := recorder.Latency()
	for _, c := range []struct {
		got     time.Duration
		percent float64
	}{{got.P50, 50}, {got.P90, 90}, {got.P99, 99}, {got.P999, 99.9}, {got.Max, 100}} {
		want := all[int(c.percent/100*float64(len(all)))-1]
		if c.got < want || float64(c.got) > float64(want)*1.001+1 {
			t.Errorf("p%v = %v, want %v", c.percent, c.got, want)
		}
	}
	if got.Max != all[len(all)-1] || recorder.Count() != len(all) {
		t.Errorf("got max %v of %d calls, want %v of %d", got.Max, recorder.Count(), all[len(all)-1], len(all))
	}
	if recorder.Reset(); recorder.Count() != 0 || recorder.Latency() != (loop.Latency{}) {
		t.Errorf("got %+v of %d calls after Reset(), want zero", recorder.Latency(), recorder.Count())
	}
}

func TestLatency_OverOneHour_KeepsMaximum(t *testing.T) {
	recorder := loop.NewRecorder()
	recorder.Record(0, 3*time.Hour)
	recorder.Record(1, -time.Second) // negative, e.g. measured with two different clocks
	if got := recorder.Latency(); got.Max != 3*time.Hour || got.P50 != 0 || recorder.Count() != 2 {
		t.Errorf("got latency %+v of %d calls, want a maximum of 3h, a p50 of 0 and 2 calls", got, recorder.Count())
	}
}
