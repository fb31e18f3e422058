package consensus

import (
	"testing"
	"time"
)

func TestWrites_AreOfTheLatest(t *testing.T) {
	t.Parallel()
	var w writes
	if got := w.latest(); got != (Writes{}) {
		t.Errorf("before the first: %+v", got)
	}
	w.note(time.Hour) // forgotten in the end
	for i := range 128 {
		w.note(time.Duration(i+1) * time.Millisecond)
		if got := w.latest(); i < 127 && got.Longest != time.Hour {
			t.Fatalf("after %d: %+v", i+2, got)
		}
	}
	if got := w.latest(); got != (Writes{Count: 128, Median: 65 * time.Millisecond, Longest: 128 * time.Millisecond}) {
		t.Errorf("the latest 128: %+v", got)
	}
}
