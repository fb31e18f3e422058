package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestLoop_CountsOperationsNotCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := windows{warmUp: time.Second, window: time.Second, count: 3}
		f, err := w.loop(t.Context(), 2, func(context.Context, int) (int, error) {
			<-time.After(time.Millisecond)
			return 100, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if f.PerSecond != 2*1000*100 || f.P50 != 1000 || f.P99 != 1000 {
			t.Errorf("got %+v, want 2 callers with 1000 calls of 100 operations per second", f)
		}
	})
}

func TestLoop_CallerError_FailsRun(t *testing.T) {
	w := windows{window: time.Hour, count: 1}
	refused := errors.New("refused")
	_, err := w.loop(t.Context(), 4, func(ctx context.Context, caller int) (int, error) {
		if caller == 3 {
			return 0, refused
		}
		<-ctx.Done()
		return 0, ctx.Err()
	})
	if !errors.Is(err, refused) {
		t.Errorf("got error %v, want the caller's error", err)
	}
}

func TestNumbers_InvalidList_IsRejected(t *testing.T) {
	for _, list := range []string{"", "1,", "0", "x", "1;2", "20000"} {
		if got, err := numbers("-callers", list); err == nil {
			t.Errorf("numbers(%q) = %v, want an error", list, got)
		}
	}
}

func TestCompare_AlternatesAndMeasuresDifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := windows{warmUp: time.Second, window: time.Second, count: 3}
		var raw, client int
		takes := func(d time.Duration, calls *int) work {
			return func(context.Context) error {
				*calls++
				<-time.After(d)
				return nil
			}
		}
		a, err := w.compare(t.Context(), takes(time.Millisecond, &raw), takes(1500*time.Microsecond, &client))
		if err != nil {
			t.Fatal(err)
		}
		if a.Raw != 1000 || a.Client != 1500 || a.PerRPC != 500 || a.Error != 0 || raw != client {
			t.Errorf("got %+v after %d and %d calls, want medians of 1000 and 1500 µs, a difference of 500, and the same number of calls", a, raw, client)
		}
	})
}

func TestCompare_CallError_FailsRun(t *testing.T) {
	refused := errors.New("refused")
	w := windows{window: time.Hour, count: 1}
	good := func(context.Context) error { return nil }
	if _, err := w.compare(t.Context(), good, func(context.Context) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("got error %v, want the client's error", err)
	}
}

func TestMedian_ErrorGrowsWithSpread(t *testing.T) {
	var narrow, wide []time.Duration
	for i := range 1001 {
		narrow = append(narrow, time.Millisecond+time.Duration(i)*time.Microsecond)
		wide = append(wide, time.Millisecond+time.Duration(i)*2*time.Microsecond)
	}
	mid, one := median(narrow)
	_, two := median(wide)
	if mid != 1500 || one <= 0 || two != 2*one {
		t.Errorf("median() = %v ± %v, and ± %v for twice the spread; want 1500 and twice the error", mid, one, two)
	}
}

func TestKeepResult_BrokenGuarantee_FailsRun(t *testing.T) {
	good := keeperReport{Permits: 10, Seconds: 24, Streams: 1, Frames: 3, Tokens: 20}
	if err := (&keepResult{keeperReport: good}).check(); err != nil {
		t.Error(err)
	}
	for name, mutate := range map[string]func(*keeperReport){
		"a lost permit":     func(r *keeperReport) { r.Lost, r.FirstLoss = 1, "its deadline passed" },
		"a missed refresh":  func(r *keeperReport) { r.Missed = 1 },
		"a refusal":         func(r *keeperReport) { r.NotRefreshed = 1 },
		"a reopened stream": func(r *keeperReport) { r.Streams = 2 },
		"uncounted tokens":  func(r *keeperReport) { r.Tokens = 9 },
		"no open stream":    func(r *keeperReport) { r.Streams = 0 },
	} {
		bad := good
		mutate(&bad)
		if (&keepResult{keeperReport: bad}).check() == nil {
			t.Errorf("check() = nil, want an error for %s", name)
		}
	}
}

func TestCheck_InvalidFlags_AreRejected(t *testing.T) {
	good := func() *bench {
		return &bench{windows: windows{window: time.Second, count: 1}, permits: 1, keepFor: twoRefreshes, runs: 1}
	}
	if err := good().check("core,calls,control,keep,profile,failover", "1,3", "1"); err != nil {
		t.Error(err)
	}
	if good().check("cores", "1", "1") == nil {
		t.Error("check() accepted an unknown part")
	}
	short, none, never := good(), good(), good()
	short.keepFor--
	none.permits, never.runs = 0, 0
	if short.check("keep", "1", "1") == nil || none.check("keep", "1", "1") == nil || never.check("failover", "1", "1") == nil {
		t.Error("check() accepted a window that is too short for two refreshes, no permits, or no runs")
	}
}
