package workload

import (
	"context"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Kind is a kind of traffic.
type Kind struct {
	// Name is what a person calls it.
	Name string
	// Short says what one call of it is, and what is counted as an operation.
	Short string
	// Edits says that it changes definitions, which the journal keeps.
	Edits bool
	// needs are the definitions it works with; their names are completed by the field.
	needs func(Settings) []*gatekeeperv1.Definition
	// prepare makes everything ready for so many callers. What it began when it fails, the field clears away.
	prepare func(ctx context.Context, f *Field, callers int) (*Session, error)
}

// Kinds are all of them, in the order in which they are run.
func Kinds() []*Kind {
	return []*Kind{newAcquire(), newQueue(), newDeny(), newRefresh(), newStream(), newWatch(), newBatch(), newMixed()}
}

// Session is a kind of traffic that is ready for a number of callers.
type Session struct {
	// Call is what is measured.
	Call loop.Call
	// Callers is how many may make it at once.
	Callers int
	// Parts are measured beside it.
	Parts []*Part
	// close gives back every permit that was taken, and ends every stream.
	close func(context.Context) error
}

// Part is something that happens within calls and has its own latency.
type Part struct {
	// Name is below that of the kind.
	Name string
	*loop.Recorder
}

func newPart(name string) *Part { return &Part{name, loop.NewRecorder()} }

// Prepare makes everything ready for so many callers. Close must follow when there is no error. The session lives until
// ctx ends.
func (k *Kind) Prepare(ctx context.Context, f *Field, callers int) (*Session, error) {
	return k.prepare(ctx, f, callers)
}

// Forget forgets what the parts have measured, as after the warm-up.
func (s *Session) Forget() {
	for _, p := range s.Parts {
		p.Reset()
	}
}

// Close gives back every permit that the session took, and returns the first error of that.
func (s *Session) Close(ctx context.Context) error {
	if s.close == nil {
		return nil
	}
	return s.close(ctx)
}

// permits is a definition that grants so many.
func permits(name string, most uint32) *gatekeeperv1.Definition {
	return &gatekeeperv1.Definition{Name: name, Permits: &most}
}

// wide is how many permits a semaphore has that everybody is to fit in.
const wide = 1_000_000

// since records what has lasted from then to now.
func (p *Part) since(caller int, begin time.Time) { p.Record(caller, time.Since(begin)) }
