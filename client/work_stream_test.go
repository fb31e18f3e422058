package client

import (
	"testing"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A permit's duration starts when the frame named in its grant was sent, which may be seconds ago. At hundreds of
// frames per second, only some send times are recorded, so sentBefore may return an earlier one.
func TestSentBefore_RecentFrame_ReturnsNearestEarlierTime(t *testing.T) {
	clock := &stepClock{}
	w := &WorkStream{client: &Client{settings: &settings{clock: clock}}}
	const interval = time.Millisecond / 2
	sent := map[uint64]time.Duration{}
	for range 60_000 {
		clock.now += interval
		w.stampLocked(new(gatekeeperv1.WorkRequest))
		sent[w.frame] = clock.now
	}
	for back := range uint64(16_000) { // 8 s
		frame := w.frame - back
		at, ok := w.sentBefore(frame)
		if !ok || at > sent[frame] || at < sent[frame]-frameGap {
			t.Fatalf("sentBefore(%d) = %v, %v, want %v or at most %v earlier", frame, at, ok, sent[frame], frameGap)
		}
	}
	for _, unknown := range []uint64{0, 1, w.frame + 1} {
		if at, ok := w.sentBefore(unknown); ok {
			t.Errorf("sentBefore(%d) = %v, want none", unknown, at)
		}
	}
	if len(w.sent) > maxRecordedFrames {
		t.Errorf("len(w.sent) = %d, want at most %d", len(w.sent), maxRecordedFrames)
	}
}

// stepClock is a clock set by the test.
type stepClock struct {
	Clock

	now time.Duration
}

func (c *stepClock) Now() time.Duration { return c.now }
