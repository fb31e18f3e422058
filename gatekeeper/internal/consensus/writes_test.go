package consensus

import (
	"testing"
	"time"
)

func TestWrites_CoverLatest128(t *testing.T) {
	t.Parallel()
	var w writes
	if got := w.latest(); got != (Writes{}) {
		t.Errorf("latest() before the first write = %+v, want zero", got)
	}
	w.record(time.Hour) // overwritten by the last of the 128 writes below
	for i := range 128 {
		w.record(time.Duration(i+1) * time.Millisecond)
		if got := w.latest(); i < 127 && got.Longest != time.Hour {
			t.Fatalf("latest() after %d writes = %+v, want the longest write", i+2, got)
		}
	}
	if got := w.latest(); got != (Writes{Count: 128, Median: 65 * time.Millisecond, Longest: 128 * time.Millisecond}) {
		t.Errorf("latest() = %+v, want the latest 128 writes", got)
	}
}
