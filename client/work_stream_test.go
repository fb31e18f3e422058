package client

import (
	"testing"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A permit counts from the frame that is named in its grant, or from an earlier one. A worker that sends hundreds of
// frames a second remembers only some of them, and a grant may name a frame that was sent seconds ago.
func TestSentBefore_RecentFrame_FindsItOrOneShortlyBefore(t *testing.T) {
	clock := &stepClock{}
	w := &WorkStream{client: &Client{settings: &settings{clock: clock}}}
	const each = time.Millisecond / 2
	sent := map[uint64]time.Duration{}
	for range 60_000 {
		clock.now += each
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
		t.Errorf("%d frames are remembered, want at most keptFrames", len(w.sent))
	}
}

// stepClock is a clock that the test sets.
type stepClock struct {
	Clock

	now time.Duration
}

func (c *stepClock) Now() time.Duration { return c.now }
