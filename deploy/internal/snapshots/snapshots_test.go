package snapshots

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwait_ReturnsSnapshotTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "snapshots")
		createSnapshot := func(name string, size int) {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "state.bin"), bytes.Repeat([]byte{1}, size), 0o600); err != nil {
				t.Error(err)
			}
		}
		createSnapshot("2-10-1", 5)
		createSnapshot("2-20-2.tmp", 5) // already in progress, so its start time is unknown
		begin := time.Now()
		go func() {
			<-time.After(time.Second)
			if err := os.Rename(filepath.Join(dir, "2-20-2.tmp"), filepath.Join(dir, "2-20-2")); err != nil {
				t.Error(err)
			}
			<-time.After(time.Second)
			createSnapshot("2-30-3.tmp", 7)
			<-time.After(3 * time.Second)
			if err := os.Rename(filepath.Join(dir, "2-30-3.tmp"), filepath.Join(dir, "2-30-3")); err != nil {
				t.Error(err)
			}
		}()
		got, err := await(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		const tolerance = 4 * time.Millisecond
		if from, took := got.from.Sub(begin), got.to.Sub(got.from); from < 2*time.Second || from > 2*time.Second+tolerance ||
			took < 3*time.Second-tolerance || took > 3*time.Second+tolerance || got.bytes != 7 {
			t.Errorf("await() found a snapshot that began after %v, took %v and has %v bytes; want 2s, 3s and 7", from, took, got.bytes)
		}
	})
}

func TestAwait_NoSnapshot_StopsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if got, err := await(ctx, filepath.Join(t.TempDir(), "none")); err == nil {
			t.Errorf("await() = %+v, want an error", got)
		}
	})
}

func TestSpan_ComparesGrantsDuringAndBefore(t *testing.T) {
	t0 := time.Unix(1_000_000, 0)
	after := func(d time.Duration) time.Time { return t0.Add(d) }
	grants := []grant{
		{after(-3 * time.Second), 900 * time.Millisecond},      // long before the snapshot
		{after(-time.Second), 2 * time.Millisecond},            // shortly before
		{after(-5 * time.Millisecond), 30 * time.Millisecond},  // spans the start: counts in both periods
		{after(time.Second), 45 * time.Millisecond},            // during the snapshot
		{after(2*time.Second + time.Millisecond), time.Second}, // after the snapshot
	}
	got := span{from: t0, to: after(2 * time.Second), bytes: 9}.compare(grants)
	if got.Seconds != 2 || got.Grants != 2 || got.LongestDuring != 45 || got.LongestBefore != 30 || got.Added() != 15 || got.Bytes != 9 {
		t.Errorf("compare() = %+v, want only the grants during and shortly before the snapshot", got)
	}
}

func TestProbe_StoppedDuringAcquire_ReleasesThePermit(t *testing.T) {
	done := make(chan struct{})
	held := 0
	grants, err := probe(t.Context(), done, func(context.Context) (func(context.Context) error, error) {
		held++
		close(done)
		return func(ctx context.Context) error { held--; return ctx.Err() }, nil
	})
	if err != nil || len(grants) != 1 || held != 0 {
		t.Errorf("probe() = %d grants, %v, and %d permits are held; want 1, nil and 0", len(grants), err, held)
	}
}
