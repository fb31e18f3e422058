package workload

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Kind is a kind of traffic.
type Kind struct {
	// Name is the name used on the command line and in reports.
	Name string
	// Short describes one call, and what counts as an operation.
	Short string
	// Edits reports whether the kind changes definitions, which adds to the journal.
	Edits bool
	// needs returns the definitions that the kind uses. The fixture adds its prefix to their names.
	needs func(Settings) []*gatekeeperv1.Definition
	// prepare sets up the traffic for a number of callers. If it fails, the fixture cleans up.
	prepare func(ctx context.Context, f *Fixture, callers int) (*Session, error)
}

// Kinds returns all kinds in the order in which they run.
func Kinds() []*Kind {
	return []*Kind{newAcquire(), newQueue(), newDeny(), newRefresh(), newStream(), newWatch(), newBatch(), newMixed()}
}

// Session is a kind of traffic prepared for a number of callers.
type Session struct {
	// Call is the call to measure.
	Call loop.Call
	// Callers is the maximum number of concurrent callers.
	Callers int
	// Parts are measured in addition to the call.
	Parts []*Part
	// close releases all permits and ends all streams.
	close func(context.Context) error
}

// Part is a part of a call whose latency is measured separately.
type Part struct {
	// Name is the name of the part within its kind.
	Name string
	*loop.Recorder
}

func newPart(name string) *Part { return &Part{name, loop.NewRecorder()} }

// Prepare sets up the traffic for a number of callers. If it succeeds, the caller must call Close. The session can
// be used until ctx ends.
func (k *Kind) Prepare(ctx context.Context, f *Fixture, callers int) (*Session, error) {
	return k.prepare(ctx, f, callers)
}

// Forget discards the measurements of the parts. Call it after the warm-up.
func (s *Session) Forget() {
	for _, p := range s.Parts {
		p.Reset()
	}
}

// Close releases every permit that the session acquired, and returns the first error.
func (s *Session) Close(ctx context.Context) error {
	if s.close == nil {
		return nil
	}
	return s.close(ctx)
}

// permits returns a definition with the given number of permits.
func permits(name string, n uint32) *gatekeeperv1.Definition {
	return &gatekeeperv1.Definition{Name: name, Permits: &n}
}

// wide is a number of permits large enough for all callers.
const wide = 1_000_000

// recordSince records the time since begin as the latency of a caller's call.
func (p *Part) recordSince(caller int, begin time.Time) { p.Record(caller, time.Since(begin)) }
