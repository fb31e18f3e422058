package client

import (
	"context"
	"math"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxTaskText is how many bytes of a failure and of a progress text a server takes.
const maxTaskText = 256

// WorkTask is a task that this process holds by a permit, until End. Its methods may be called from any goroutine.
type WorkTask struct {
	Permit *Permit
	Task   *gatekeeperv1.Task
	Job    *gatekeeperv1.JobSpec

	stream *WorkStream
	ctx    context.Context //nolint:containedctx // the permit's, for the task
}

// Context is the permit's, and PermitOf and TokenOf know the permit by it.
func (t *WorkTask) Context() context.Context { return t.ctx }

// Stream is the one that brought the task.
func (t *WorkTask) Stream() *WorkStream { return t.stream }

// WorkEnd says how a task has ended.
type WorkEnd struct {
	// Outcome is DONE with a result, FAILED with the Failure and perhaps a result, or NOT_RUN or CUT_SHORT: then the
	// task goes back, and the attempt is not counted.
	Outcome gatekeeperv1.ReleaseOutcome
	// Result of a failure is kept if it fits with the Failure into max_result of the job, or into 256 bytes if that is
	// more.
	Result []byte
	// Failure is why it has FAILED, or why it goes back. It is cut to 256 bytes.
	Failure string
	// Next asks for another task in the same message. It does nothing if the stream that brought the task has ended.
	Next bool
}

// Progress reports how far the task has come, for people. fraction is from 0 to 1; text has at most 256 bytes, more is
// cut. It is cheap enough for every turn of a loop: of several reports in a short time the last one is sent. It counts
// as Permit.Progress too.
func (t *WorkTask) Progress(fraction float64, text string) {
	t.Permit.Progress()
	if math.IsNaN(fraction) {
		fraction = 0
	}
	t.stream.report(t.Permit.Token(), &gatekeeperv1.Progress{Fraction: min(max(fraction, 0), 1), Text: cutText(text, maxTaskText)})
}

// End ends the task, and releases its permit. Belief in the permit ends at once, so the task must have stopped. The end
// is sent on the task's stream; if that has broken or gives no answer, in a separate call, which is repeated as that of
// Permit.Release.
//
// It returns nil when the end is recorded, or the task has gone back; an *EndedError if another worker has the task, or
// its job is over or was deleted; a *WorkLimitError or *InvalidFieldError if the servers refuse the end, for example
// because the result is too large: then End may be called again; and an *UnavailableError if no server answered.
func (t *WorkTask) End(ctx context.Context, e WorkEnd) error {
	p := t.Permit
	bound := p.renewer.drop(p) // before the lock: belief ends also while another release is under way
	p.releasing.Lock()
	defer p.releasing.Unlock()
	if p.released {
		return nil
	}
	if ctx.Err() != nil {
		ctx, bound = context.WithoutCancel(ctx), 0
	}
	failure := cutText(e.Failure, maxTaskText)
	message := &gatekeeperv1.TaskEnd{Token: p.Token(), Outcome: e.Outcome, Result: e.Result, Failure: failure, Next: e.Next}
	patience := min(max(p.Duration()/8, minFrameTimeout), maxFrameTimeout)
	if ended := t.stream.settle(ctx, message, patience); ended != nil && !ended.GetRefused() {
		p.released = true
		return reportError(e.Outcome, ended.GetRecorded(), &EndedError{Token: p.Token(), Message: ended.GetMessage()})
	}
	if e.Outcome != gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED {
		failure = "" // Release takes none of a job that has not failed
	}
	// What was refused is asked for again, because the answer to this call says by which rule.
	r, err := p.renewer.client.sendRelease(ctx, max(bound, lastWord), &gatekeeperv1.ReleaseRequest{
		Token: p.Token(), Outcome: e.Outcome, Identity: p.identity, Failure: failure, Result: e.Result,
	})
	if err != nil {
		return err
	}
	p.released = true
	return reportError(e.Outcome, r.GetRecorded(), &EndedError{Token: p.Token(), Ended: r.GetEnded(), Message: r.GetMessage()})
}

// reportError is the error of an end that was answered. Of a task that goes back nothing is recorded.
func reportError(o gatekeeperv1.ReleaseOutcome, recorded bool, unrecorded *EndedError) error {
	switch {
	case recorded,
		o == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN,
		o == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
		return nil
	}
	return unrecorded
}
