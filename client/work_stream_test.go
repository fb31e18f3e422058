package client

import (
	"testing"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A permit's duration counts from the frame named in its grant, or from an earlier one. A worker sending hundreds of
// frames per second remembers only some of them, and a grant may name a frame sent seconds ago.
func TestSentBefore_RecentFrame_ReturnsItsTimeOrSlightlyEarlier(t *testing.T) {
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
			t.Fatalf("frame %d was sent at %v: sentBefore() = %v, %v, want that time or slightly earlier", frame, sent[frame], at, ok)
		}
	}
	for _, unknown := range []uint64{0, 1, w.frame + 1} {
		if at, ok := w.sentBefore(unknown); ok {
			t.Errorf("sentBefore(%d) = %v, want none", unknown, at)
		}
	}
	if len(w.sent) > keptFrames {
		t.Errorf("len(w.sent) = %d, want at most %d", len(w.sent), keptFrames)
	}
}

// stepClock is a clock set by the test.
type stepClock struct {
	Clock

	now time.Duration
}

func (c *stepClock) Now() time.Duration { return c.now }
