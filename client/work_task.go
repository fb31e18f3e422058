package client

import (
	"context"
	"math"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxTaskText is the maximum length, in bytes, of a failure or progress text that a server accepts.
const maxTaskText = 256

// WorkTask is a task that this process holds under a permit, until it calls End. Its methods are safe for concurrent
// use.
type WorkTask struct {
	Permit *Permit
	Task   *gatekeeperv1.Task
	Job    *gatekeeperv1.JobSpec

	stream *WorkStream
	ctx    context.Context //nolint:containedctx // the permit's context, extended for the task
}

// Context returns the permit's context, extended so that PermitOf and TokenOf work.
func (t *WorkTask) Context() context.Context { return t.ctx }

// Stream returns the stream that delivered the task.
func (t *WorkTask) Stream() *WorkStream { return t.stream }

// WorkEnd describes how a task ended.
type WorkEnd struct {
	// Outcome is DONE, with a Result; FAILED, with a Failure and optionally a Result; or NOT_RUN or CUT_SHORT, which
	// return the task without counting the attempt.
	Outcome gatekeeperv1.ReleaseOutcome
	// Result is the task's result. If the task failed, Result is kept only if Result and Failure together fit in
	// the job's max_result or in 256 bytes, whichever is larger.
	Result []byte
	// Failure says why the task failed or was returned. It is truncated to 256 bytes.
	Failure string
	// Next requests another task in the same message. It has no effect if the stream that delivered the task has ended.
	Next bool
}

// Progress reports the task's progress to operators. fraction ranges from 0 to 1, and text is truncated to 256 bytes.
// Progress is cheap enough to call in every iteration of a loop: if it is called several times in quick succession,
// only the last report is sent. It also counts as a call to Permit.Progress.
func (t *WorkTask) Progress(fraction float64, text string) {
	t.Permit.Progress()
	if math.IsNaN(fraction) {
		fraction = 0
	}
	t.stream.report(t.Permit.Token(), &gatekeeperv1.Progress{Fraction: min(max(fraction, 0), 1), Text: truncate(text, maxTaskText)})
}

// End ends the task and releases its permit. The permit ends as soon as End is called, so the task must already have
// stopped. The outcome is sent on the task's stream. If the stream is broken or there is no response, the outcome is
// sent in a separate call, which is retried like Permit.Release.
//
// End returns nil if the outcome was recorded, or if the task was returned. It returns an *EndedError if another worker
// has the task, or if its job has finished or was deleted. It returns a *WorkLimitError or *InvalidFieldError if the
// servers reject the outcome, for example because the result is too large; End may then be called again. It returns an
// *UnavailableError if no server responded.
func (t *WorkTask) End(ctx context.Context, e WorkEnd) error {
	p := t.Permit
	bound := p.renewer.drop(p) // before the lock: the permit must not count as held while another release is in progress
	p.releasing.Lock()
	defer p.releasing.Unlock()
	if p.released {
		return nil
	}
	if ctx.Err() != nil {
		ctx, bound = context.WithoutCancel(ctx), 0
	}
	failure := truncate(e.Failure, maxTaskText)
	message := &gatekeeperv1.TaskEnd{Token: p.Token(), Outcome: e.Outcome, Result: e.Result, Failure: failure, Next: e.Next}
	timeout := min(max(p.Duration()/8, minFrameTimeout), maxFrameTimeout)
	if ended := t.stream.settle(ctx, message, timeout); ended != nil && !ended.GetRefused() {
		p.released = true
		return reportError(e.Outcome, ended.GetRecorded(), &EndedError{Token: p.Token(), Message: ended.GetMessage()})
	}
	if e.Outcome != gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED {
		failure = "" // Release accepts a failure only with the outcome FAILED
	}
	// If the servers rejected the outcome on the stream, send it in a call, whose error names the violated rule.
	r, err := p.renewer.client.sendRelease(ctx, max(bound, cleanupTimeout), &gatekeeperv1.ReleaseRequest{
		Token: p.Token(), Outcome: e.Outcome, Identity: p.identity, Failure: failure, Result: e.Result,
	})
	if err != nil {
		return err
	}
	p.released = true
	return reportError(e.Outcome, r.GetRecorded(), &EndedError{Token: p.Token(), Ended: r.GetEnded(), Message: r.GetMessage()})
}

// reportError returns unrecorded if the servers did not record the task's outcome. It returns nil if they did, or if
// the task was returned, because then there is no outcome to record.
func reportError(o gatekeeperv1.ReleaseOutcome, recorded bool, unrecorded *EndedError) error {
	switch {
	case recorded,
		o == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN,
		o == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
		return nil
	}
	return unrecorded
}
