package fsm

import (
	"slices"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// This file converts jobs and tasks in commands and in records.

func specToProto(s *work.Spec) *logv1.JobSpec {
	if s == nil {
		return nil
	}
	return &logv1.JobSpec{
		Id: s.ID, Semaphore: s.Semaphore, Labels: labelsToProto(s.Labels), Author: s.Author, Timeout: int64(s.Timeout),
		Retention: int64(s.Retention), Priority: s.Priority, MaxAttempts: s.MaxAttempts, MaxResult: s.MaxResult,
		RetryFailed: s.RetryFailed, Own: s.Own, Principal: s.Principal,
	}
}

func (r *reader) spec(in *logv1.JobSpec) *work.Spec {
	if in == nil {
		r.fail("a job has no spec")
		return nil
	}
	return &work.Spec{
		ID: in.GetId(), Semaphore: r.intern(in.GetSemaphore()), Labels: r.labels(in.GetLabels()), Author: r.intern(in.GetAuthor()),
		Timeout: duration(in.GetTimeout()), Retention: duration(in.GetRetention()), Priority: in.GetPriority(),
		MaxAttempts: in.GetMaxAttempts(), MaxResult: in.GetMaxResult(), RetryFailed: in.GetRetryFailed(), Own: in.GetOwn(),
		Principal: r.intern(in.GetPrincipal()),
	}
}

// payloads returns a submission's task payloads. An empty payload becomes nil, as it does when read from a record.
func payloads(tasks [][]byte) [][]byte { return each(tasks, clipBytes) }

// clipBytes returns b without excess capacity, or nil if it is empty.
func clipBytes(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return slices.Clip(b)
}

func (w *writer) job(j *work.Job) *logv1.StoredJob {
	out := &logv1.StoredJob{
		Spec: specToProto(j.Spec), Number: j.Number, Submitted: j.Submitted, Revision: j.Revision, Digest: []byte(j.Digest),
		Submitter: j.Submitter, SubmittedAt: w.time(j.SubmittedAt), EndedAt: w.time(j.EndedAt), State: uint32(j.State),
		Payload: j.Payload, Tasks: j.Tasks, Fresh: j.Fresh,
	}
	if c := j.Cancel; c != nil {
		out.CancelCause, out.CancelAuthor, out.CancelReason = uint32(c.Cause), c.Author, c.Reason
	}
	return out
}

// storedJob reads a job without its task totals.
func (r *reader) storedJob(in *logv1.StoredJob) *work.Job {
	r.requires(4)
	j := &work.Job{
		Spec: r.spec(in.GetSpec()), Number: in.GetNumber(), Submitted: in.GetSubmitted(), Revision: in.GetRevision(),
		Digest: string(in.GetDigest()), Submitter: in.GetSubmitter(), SubmittedAt: timeFromProto(in.GetSubmittedAt()),
		EndedAt: timeFromProto(in.GetEndedAt()), Payload: in.GetPayload(), Tasks: in.GetTasks(), Fresh: in.GetFresh(),
		State: work.JobState(r.enum(in.GetState(), uint32(work.Receiving), uint32(work.Cancelled), "job state")),
	}
	if j.State == work.Cancelled {
		j.Cancel = &work.Cancel{
			Cause:  work.CancelCause(r.enum(in.GetCancelCause(), uint32(work.CancelRequested), uint32(work.CancelSubmitterGone), "cancel cause")),
			Author: in.GetCancelAuthor(), Reason: in.GetCancelReason(),
		}
	} else if in.GetCancelCause() != 0 {
		r.fail("job %d has a cancel cause but is not cancelled", j.Number)
	}
	return j
}

func taskToProto(t *work.Task) *logv1.StoredTask {
	return &logv1.StoredTask{
		Ref: &logv1.TaskRef{Job: t.Job, Index: t.Index}, Attempts: t.Attempts, State: uint32(t.State), Token: t.Token, Revision: t.Revision,
		Payload: t.Payload, Result: t.Result, Failure: t.Failure, Returns: t.Returns,
	}
}

func (r *reader) task(in *logv1.StoredTask) *work.Task {
	return &work.Task{
		Ref: work.Ref{Job: in.GetRef().GetJob(), Index: in.GetRef().GetIndex()}, Attempts: in.GetAttempts(), Token: in.GetToken(),
		State:    work.TaskState(r.enum(in.GetState(), uint32(work.Waiting), uint32(work.Dropped), "task state")),
		Revision: in.GetRevision(), Payload: clipBytes(in.GetPayload()), Result: clipBytes(in.GetResult()), Failure: in.GetFailure(),
		Returns: in.GetReturns(),
	}
}

// job adds a job without tasks. The task records that follow update its counts.
func (in *restorer) job(j *work.Job) {
	if in.r.err != nil {
		return
	}
	if err := j.Validate(); err != nil {
		in.r.fail("job %d: %w", j.Number, err)
	}
	last, _, _ := in.d.jobs.numbers.Max()
	in.require(j.Number > last, "job %d follows job %d", j.Number, last)
	in.require(in.d.Job(j.ID) == nil, "job %d has the same id as another job, %q", j.Number, j.ID)
	in.requireRevision(j.Number, "a job")
	in.requireRevision(j.Revision, "a job")
	in.require(j.Fresh <= j.Tasks && j.Tasks <= work.MaxTasks, "job %d has %d tasks, but the first %d were handed out", j.Number, j.Tasks, j.Fresh)
	if j.State == work.Receiving {
		in.require(j.Submitted == 0 && j.Digest == "" && j.Fresh == 0, "job %d is incomplete but was submitted", j.Number)
	} else {
		in.requireRevision(j.Submitted, "a submitted job")
		in.require(j.Tasks > 0 && j.Digest != "" && j.Submitted >= j.Number, "job %d was submitted at revision %d, with %d tasks", j.Number, j.Submitted, j.Tasks)
	}
	if def := in.d.Definition(j.Semaphore); def != nil {
		j.Spec.Semaphore = def.Definition.Name
	}
	if p := in.d.Permit(j.Submitter); j.Submitter != 0 && j.State <= work.Open && (p == nil || p.State == semaphore.Cooling) {
		in.r.fail("job %d was submitted under permit %d, which does not exist", j.Number, j.Submitter)
	}
	j.Bytes = j.Reserved()
	in.d.setJob(nil, j)
}

// task adds a task and counts it in its job.
func (in *restorer) task(t *work.Task) {
	if in.r.err != nil {
		return
	}
	before := in.d.JobByNumber(t.Job)
	if before == nil || t.Index >= before.Tasks {
		in.r.fail("task %d does not exist in job %d", t.Index, t.Job)
		return
	}
	var last work.Ref
	if t, found := in.d.jobs.tasks.Max(); found {
		last = t.Ref
	}
	if last.Compare(t.Ref) >= 0 || t.Index > 0 && last != (work.Ref{Job: t.Job, Index: t.Index - 1}) {
		in.r.fail("task %d of job %d is out of order", t.Index, t.Job)
		return
	}
	in.requireRevision(t.Revision, "a task")
	in.require(t.Revision <= before.Revision, "task %d of job %d has a later revision than its job", t.Index, t.Job)
	if fresh := t.Index >= before.Fresh; fresh && (t.State != work.Waiting || t.Token != 0) ||
		t.Token == 0 && (t.State != work.Waiting || t.Attempts != 0 || t.Returns != 0) || t.State == work.Held && t.Attempts == 0 {
		in.r.fail("task %d of job %d is in state %d after %d attempts, but the job has handed out %d tasks", t.Index, t.Job, t.State, t.Attempts, before.Fresh)
	}
	if t.Token != 0 && (t.Token > in.d.lastToken || in.d.TaskOf(t.Token) != nil) {
		in.r.fail("task %d of job %d has token %d, which has not been granted yet or belongs to another task", t.Index, t.Job, t.Token)
	}
	if p := in.d.Permit(t.Token); t.State == work.Held && (p == nil || p.Semaphore != before.Semaphore) {
		in.r.fail("task %d of job %d is held by permit %d, which does not exist", t.Index, t.Job, t.Token)
	}
	after := *before
	in.d.addTask(&after, t)
	in.d.setJob(before, &after)
}

// checkJobs checks that jobs and their tasks are consistent.
func (in *restorer) checkJobs() {
	for j := range in.d.Jobs(0) {
		last, found := &work.Task{}, false
		in.d.jobs.tasks.Descend(&work.Task{Ref: work.Ref{Job: j.Number, Index: work.MaxTasks}}, func(t *work.Task) bool {
			last, found = t, t.Job == j.Number
			return false
		})
		in.require(found == (j.Tasks > 0) && (!found || last.Index == j.Tasks-1), "job %d has %d tasks, but some are missing", j.Number, j.Tasks)
		if first, _ := in.d.jobs.open.Get(j); j.HasWaitingTasks() && first != j {
			in.r.fail("job %d has the same position in the task order as another job", j.Number)
		}
		ended := j.Waiting() == 0 && j.Held == 0
		in.require((j.State == work.Open) != ended || j.State == work.Receiving || j.State == work.Cancelled,
			"job %d is in state %d, but has %d tasks waiting and %d held", j.Number, j.State, j.Waiting(), j.Held)
	}
}
