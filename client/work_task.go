package client

import (
	"context"
	"math"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxTaskText is how many bytes of a failure text or a progress text a server accepts.
const maxTaskText = 256

// WorkTask is a task that this process holds with a permit, until it calls End. Its methods are safe for concurrent
// use.
type WorkTask struct {
	Permit *Permit
	Task   *gatekeeperv1.Task
	Job    *gatekeeperv1.JobSpec

	stream *WorkStream
	ctx    context.Context //nolint:containedctx // the permit's, for the task
}

// Context returns the permit's context, extended so that PermitOf and TokenOf work.
func (t *WorkTask) Context() context.Context { return t.ctx }

// Stream returns the stream that delivered the task.
func (t *WorkTask) Stream() *WorkStream { return t.stream }

// WorkEnd says how a task has ended.
type WorkEnd struct {
	// Outcome is DONE with a result; FAILED with the Failure and perhaps a result; or NOT_RUN or CUT_SHORT, which give
	// the task back without counting the attempt.
	Outcome gatekeeperv1.ReleaseOutcome
	// Result is the result of the task. If the task has failed, Result is kept only if Result and Failure together fit
	// into the job's max_result, or into 256 bytes, whichever is larger.
	Result []byte
	// Failure says why the task has failed, or why it is given back. It is cut to 256 bytes.
	Failure string
	// Next asks for another task in the same message. It has no effect if the stream that delivered the task has ended.
	Next bool
}

// Progress reports the progress of the task, for operators. fraction is from 0 to 1. text is cut to 256 bytes. Progress
// is cheap enough to call in every iteration of a loop: if there are several reports within a short time, only the last
// one is sent. It also counts as a call to Permit.Progress.
func (t *WorkTask) Progress(fraction float64, text string) {
	t.Permit.Progress()
	if math.IsNaN(fraction) {
		fraction = 0
	}
	t.stream.report(t.Permit.Token(), &gatekeeperv1.Progress{Fraction: min(max(fraction, 0), 1), Text: cutText(text, maxTaskText)})
}

// End ends the task and releases its permit. Belief in the permit ends immediately, so the task must have stopped. The
// end is sent on the task's stream. If the stream is broken or gives no answer, it is sent in a separate call, which is
// retried like Permit.Release.
//
// It returns nil if the end is recorded, or if the task was given back. It returns an *EndedError if another worker has
// the task, or if its job is over or was deleted. It returns a *WorkLimitError or *InvalidFieldError if the servers
// refuse the end, for example because the result is too large: then End may be called again. It returns an
// *UnavailableError if no server answered.
func (t *WorkTask) End(ctx context.Context, e WorkEnd) error {
	p := t.Permit
	bound := p.renewer.drop(p) // before the lock: belief must end even while another release is in progress
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
		failure = "" // Release accepts a failure only for a failed job
	}
	// If the stream's answer was a refusal, send the end again, because the error of this call names the rule.
	r, err := p.renewer.client.sendRelease(ctx, max(bound, cleanupTimeout), &gatekeeperv1.ReleaseRequest{
		Token: p.Token(), Outcome: e.Outcome, Identity: p.identity, Failure: failure, Result: e.Result,
	})
	if err != nil {
		return err
	}
	p.released = true
	return reportError(e.Outcome, r.GetRecorded(), &EndedError{Token: p.Token(), Ended: r.GetEnded(), Message: r.GetMessage()})
}

// reportError returns the error for a server's response to a TaskEnd, or nil. If the task was given back, there is
// nothing to record.
func reportError(o gatekeeperv1.ReleaseOutcome, recorded bool, unrecorded *EndedError) error {
	switch {
	case recorded,
		o == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN,
		o == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
		return nil
	}
	return unrecorded
}
