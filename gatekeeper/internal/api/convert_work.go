package api

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// specFrom reads a job's specification and fills in defaults, so that the stored job has the effective values.
func specFrom(m *gatekeeperv1.JobSpec) (*rules.Spec, error) {
	if m == nil {
		return nil, invalid("job", "", "must be in the first message")
	}
	timeout, err := durationFrom("job.timeout", m.GetTimeout(), 0)
	if err != nil {
		return nil, err
	}
	retention, err := durationFrom("job.retention", m.GetRetention(), 0)
	if err != nil {
		return nil, err
	}
	author, err := authorFrom(m.GetAuthor())
	if err != nil {
		return nil, err
	}
	s := &rules.Spec{
		ID: m.GetId(), Semaphore: m.GetSemaphore(), Labels: semaphore.LabelsOf(m.GetLabels()), Author: author, Priority: m.GetPriority(),
		MaxAttempts: m.GetMaxAttempts(), MaxResult: rules.DefaultMaxResult, RetryFailed: m.GetRetryFailed(), Timeout: timeout,
		Retention: retention, Own: m.GetOwnSemaphore(),
	}
	if m.MaxResult != nil {
		s.MaxResult = m.GetMaxResult()
	}
	if s.MaxAttempts == 0 {
		s.MaxAttempts = rules.DefaultMaxAttempts
	}
	if s.Retention == 0 {
		s.Retention = rules.DefaultRetention
	}
	if s.Own != "" && m.GetSubmitterToken() == 0 {
		return nil, invalid("job.own_semaphore", s.Own, "must be empty without a submitter_token")
	}
	return s, within("job", s.Validate())
}

func toSpec(j *rules.Job) *gatekeeperv1.JobSpec {
	maxResult := j.MaxResult
	return &gatekeeperv1.JobSpec{
		Id: j.ID, Semaphore: j.Semaphore, Labels: j.Labels.Map(), Author: j.Author, Priority: j.Priority, MaxAttempts: j.MaxAttempts,
		MaxResult: &maxResult, RetryFailed: j.RetryFailed, Timeout: toOptionalDuration(j.Timeout), Retention: durationpb.New(j.RetentionOrDefault()),
		SubmitterToken: j.Submitter, OwnSemaphore: j.Own,
	}
}

func toJob(j *rules.Job) *gatekeeperv1.Job {
	out := &gatekeeperv1.Job{
		Spec: toSpec(j), State: gatekeeperv1.JobState(j.State), Over: j.Finished(), Revision: j.Revision, SubmittedRevision: j.Submitted,
		SubmittedAt: toTimestamp(j.SubmittedAt), Tasks: j.Tasks, Waiting: j.Waiting(), Held: j.Held, Done: j.Done, Failed: j.Failed,
		Dropped: j.Dropped, Bytes: j.Bytes,
	}
	if j.Finished() {
		out.EndedAt = toTimestamp(j.EndedAt)
	}
	if c := j.Cancel; c != nil {
		out.CancelCause, out.CancelAuthor, out.CancelReason = gatekeeperv1.CancelCause(c.Cause), c.Author, c.Reason
		out.CancelText = j.CancelText()
		out.Waiting, out.Cancelled = 0, out.GetWaiting()
	}
	return out
}

// maxWaitingJobs is the maximum number of jobs in a list of waiting tasks.
const maxWaitingJobs = 1000

// toWaitingTasks returns at most limit of a semaphore's jobs with waiting tasks, in the order in which workers receive
// their tasks.
func toWaitingTasks(state *fsm.State, sem string, limit int) (out []*gatekeeperv1.WaitingTasks) {
	for j := range state.OpenJobs(sem) {
		if len(out) >= limit {
			break
		}
		out = append(out, &gatekeeperv1.WaitingTasks{Semaphore: sem, Job: j.ID, Priority: j.Priority, Tasks: j.Waiting()})
	}
	return out
}

// toTask converts a task without its payload and result.
func toTask(state *fsm.State, j *rules.Job, t *rules.Task) *gatekeeperv1.Task {
	out := &gatekeeperv1.Task{
		Index: t.Index, State: gatekeeperv1.TaskState(j.StateOf(t)), Attempts: t.Attempts, Token: t.Token, Revision: t.Revision, Failure: t.Failure,
		Returns: t.Returns,
	}
	if out.GetState() == gatekeeperv1.TaskState_TASK_STATE_CANCELLED {
		out.Failure = j.CancelText()
	}
	if p := state.Permit(t.Token); p != nil && t.State == rules.Held {
		out.Worker = toIdentity(p.Identity)
	}
	return out
}

func toProgress(p *work.Progress) *gatekeeperv1.Progress {
	if p == nil {
		return nil
	}
	return &gatekeeperv1.Progress{Fraction: p.Fraction, Text: p.Text}
}

func progressFrom(m *gatekeeperv1.Progress) (work.Progress, error) {
	if f := m.GetFraction(); math.IsNaN(f) || f < 0 || f > 1 {
		return work.Progress{}, invalid("progress.fraction", strconv.FormatFloat(f, 'g', -1, 64), "must be 0 to 1")
	}
	return work.Progress{Fraction: m.GetFraction(), Text: failureFrom(m.GetText())}, nil
}

// offerFrom reads a worker's first message.
func offerFrom(m *gatekeeperv1.WorkOffer) (work.Offer, error) {
	if m == nil {
		return work.Offer{}, invalid("offer", "", "must be in the first message")
	}
	o := work.Offer{Semaphore: m.GetSemaphore(), Identity: identityFrom(m.GetIdentity()), Weight: max(1, m.GetWeight()), Metadata: m.GetMetadata()}
	if n := len(o.Identity.HolderID); n > work.MaxHolderID {
		return o, invalid("offer.identity.holder_id", o.Identity.HolderID, "must be at most "+strconv.Itoa(work.MaxHolderID)+" bytes, not "+strconv.Itoa(n))
	}
	request := semaphore.Request{Semaphore: o.Semaphore, Identity: o.Identity, Weight: o.Weight}
	if err := within("offer", request.Validate()); err != nil {
		return o, err
	}
	return o, within("offer", semaphore.ValidateMetadata(o.Metadata))
}

func releaseFrom(m *gatekeeperv1.TaskEnd) (fsm.Release, error) {
	if err := validToken(m.GetToken()); err != nil {
		return fsm.Release{}, within("end", err)
	}
	job, err := jobEndFrom(m.GetOutcome())
	if err != nil {
		return fsm.Release{}, within("end", err)
	}
	cmd := fsm.Release{Token: m.GetToken(), Job: job, Result: m.GetResult()}
	if job != semaphore.JobDone {
		cmd.Failure = failureFrom(m.GetFailure())
	}
	return cmd, nil
}

func toTaskEnded(e *work.Ended) *gatekeeperv1.TaskEnded {
	out := &gatekeeperv1.TaskEnded{Token: e.Token, Recorded: e.Result.Recorded}
	switch t := e.Result.Task; {
	case e.Refused != nil:
		out.Refused, out.Message = true, e.Refused.Error()
	case out.Recorded:
	case t == nil:
		out.Message = "this worker no longer has the task: another worker has it, or its job was deleted"
	case t.Finished():
		out.Message = "the task had already ended with a different outcome"
	default:
		out.Message = "the task is waiting for a worker again"
	}
	return out
}

// messageBytes is the size after which a stream starts a new message.
const messageBytes = 256 << 10

// toTaskGrant converts a task grant for a worker.
func toTaskGrant(g *work.Grant) *gatekeeperv1.TaskGrant {
	return &gatekeeperv1.TaskGrant{
		Grant: toGrant(&g.Answer), Frame: g.Frame, Job: toSpec(g.Job),
		Task: &gatekeeperv1.Task{
			Index: g.Task.Index, State: gatekeeperv1.TaskState_TASK_STATE_HELD, Attempts: g.Task.Attempts, Token: g.Task.Token,
			Worker: toIdentity(g.Permit.Identity), Revision: g.Task.Revision, Payload: g.Task.Payload, Failure: g.Task.Failure,
		},
	}
}
