package main

import (
	"context"
	"errors"
	"strings"
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
			t.Errorf("%+v, want 2 callers with 1000 calls of 100 operations a second", f)
		}
	})
}

func TestLoop_OneErrorFailsTheRun(t *testing.T) {
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
		t.Errorf("%v, want the error of the caller", err)
	}
}

func TestParseMetrics_AddsUpOverLabels(t *testing.T) {
	sums, err := parseMetrics(strings.NewReader("# HELP a b\na 1\nb{x=\"y z\",q=\"}\"} 2\nb{x=\"w\"} 3.5 1700000000\n"))
	if err != nil || sums["a"] != 1 || sums["b"] != 5.5 {
		t.Errorf("%v, %v", sums, err)
	}
	if _, err := parseMetrics(strings.NewReader("a one\n")); err == nil {
		t.Error("a value that is no number is taken")
	}
}

func TestNumbers_WhatIsNone_IsRefused(t *testing.T) {
	for _, list := range []string{"", "1,", "0", "x", "1;2", "20000"} {
		if got, err := numbers("-callers", list); err == nil {
			t.Errorf("%q gave %v", list, got)
		}
	}
}
