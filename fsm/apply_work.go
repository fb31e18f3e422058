package fsm

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// submitJob begins a submission. An unfinished submission with the same id is dropped, so its data does not count
// against the limits.
func (d *draft) submitJob(c SubmitJob) Result {
	if err := c.Spec.Validate(); err != nil {
		return invalid("submit job: %v", err)
	}
	if why := d.invalidTasks(nil, c.Tasks, c.Digest); why != "" {
		return invalid("submit job: %s", why)
	}
	before := d.Job(c.Spec.ID)
	// An unfinished submission by another principal is not dropped.
	if before != nil && (before.State != work.Receiving || before.Principal != c.Spec.Principal) {
		return SubmitResult{Outcome: SubmitExists, Job: before}
	}
	def := d.Definition(c.Spec.Semaphore)
	if def == nil {
		return SubmitResult{Outcome: SubmitNoSemaphore}
	}
	p := d.Permit(c.Submitter)
	if c.Submitter != 0 && (p == nil || p.State != semaphore.Live) {
		return SubmitResult{Outcome: SubmitNoSubmitter}
	}
	if own := c.Spec.Own; own != "" && (p == nil || p.Semaphore != own || !d.createdFor(own, c.Spec.ID)) {
		return invalid("submit job: own_semaphore %q must be the semaphore of the submitter's permit and have the label %s=%s", own, work.OwnLabel, c.Spec.ID)
	}
	stored, total := d.Work(c.Spec.Semaphore).Bytes, d.WorkBytes()
	if before != nil {
		total -= before.Bytes
		if before.Semaphore == c.Spec.Semaphore {
			stored -= before.Bytes
		}
	}
	if limit := d.settings.Work.Check(c.Spec, nil, c.Tasks, stored, total); limit != nil {
		return SubmitResult{Outcome: SubmitLimit, Limit: limit}
	}
	revision := d.advance()
	if before != nil {
		d.removeJob(before, c.At)
	}
	spec := *c.Spec
	spec.Semaphore = def.Definition.Name
	j := &work.Job{Spec: &spec, Number: revision, State: work.Receiving, Submitter: c.Submitter, SubmittedAt: c.At, Bytes: spec.Reserved()}
	return d.receive(nil, j, c.Tasks, c.Digest, c.At)
}

// createdFor reports whether a semaphore was created for the job with the given id.
func (s *State) createdFor(name, job string) bool {
	sd := s.Definition(name)
	if sd == nil {
		return false
	}
	id, _ := sd.Definition.Labels.Get(work.OwnLabel)
	return id == job
}

// OwnSemaphore returns the definition of the semaphore that was created for a job, or nil if it no longer exists.
func (s *State) OwnSemaphore(j *work.Job) *StoredDefinition {
	if j.Own == "" || !s.createdFor(j.Own, j.ID) {
		return nil
	}
	return s.Definition(j.Own)
}

// submitTasks continues a submission.
func (d *draft) submitTasks(c SubmitTasks) Result {
	before := d.JobByNumber(c.Job)
	if before == nil || before.State != work.Receiving || before.Tasks != c.Offset {
		return SubmitResult{Outcome: SubmitLost, Job: before}
	}
	if why := d.invalidTasks(before, c.Tasks, c.Digest); why != "" {
		return invalid("submit tasks: %s", why)
	}
	if limit := d.settings.Work.Check(before.Spec, before, c.Tasks, d.Work(before.Semaphore).Bytes, d.WorkBytes()); limit != nil {
		return SubmitResult{Outcome: SubmitLimit, Job: before, Limit: limit}
	}
	d.advance()
	after := *before
	return d.receive(before, &after, c.Tasks, c.Digest, c.At)
}

// invalidTasks describes what is wrong with the tasks of a submission, or returns "".
func (d *draft) invalidTasks(j *work.Job, tasks [][]byte, digest string) string {
	switch {
	case digest != "" && len(digest) != sha256.Size:
		return fmt.Sprintf("the digest is %d bytes long", len(digest))
	case len(tasks) == 0 && (digest == "" || j == nil || j.Tasks == 0):
		return "there are no tasks"
	}
	return ""
}

// receive adds tasks to a job. If there is a digest, the submission is complete and the tasks can be handed out.
func (d *draft) receive(before, j *work.Job, tasks [][]byte, digest string, at time.Time) Result {
	for _, payload := range tasks {
		t := &work.Task{Ref: work.Ref{Job: j.Number, Index: j.Tasks}, State: work.Waiting, Payload: payload}
		j.Tasks++
		d.setTask(j, nil, t)
		j.Payload += uint64(len(payload))
	}
	j.Revision = d.revision
	if digest != "" {
		j.State, j.Digest, j.Submitted, j.SubmittedAt = work.Open, digest, d.revision, at
	}
	d.setJob(before, j)
	d.emit(Event{Kind: JobSubmitted, Semaphore: j.Semaphore, Job: j, Author: j.Author, At: at})
	return SubmitResult{Outcome: SubmitAccepted, Job: j}
}

// handOut assigns the semaphore's next task to a new permit. The grant's decision ensures that a task is waiting.
func (d *draft) handOut(p *semaphore.Permit) (*work.Job, *work.Task) {
	before, waiting := d.NextTask(p.Semaphore)
	after := *before
	if waiting.Index == after.Fresh {
		after.Fresh++
		after.Returned++ // setTask subtracts it
	}
	held := *waiting
	held.State, held.Token = work.Held, p.Token
	held.Attempts++
	d.setTask(&after, waiting, &held)
	d.setJob(before, &after)
	return &after, &held
}

// settleTask updates the task that a permit carries when the permit ends or has cooled. If the task would be handed out
// again while its lost worker may still be running, it remains held until the slot has cooled. A worker that returns
// its task has stopped, so the task goes back to waiting immediately, even if the slot cools for min_hold.
func (d *draft) settleTask(p *semaphore.Permit, e ending) {
	t := d.TaskOf(p.Token)
	if t == nil || t.State != work.Held {
		return // the worker reported the outcome while its permit was held for an operator
	}
	run := semaphore.Run{End: e.how, Job: e.job, Stop: p.Stop}
	after := d.JobByNumber(t.Job).Settle(t, run, work.Report{Result: e.result, Failure: e.failure})
	if after.State == work.Waiting && e.cooling > 0 && run.CutShort() && (e.how != semaphore.EndReleased || p.OldTokensInUse) {
		return
	}
	d.updateTask(t, &after, e.at)
}

// settleLate records a report from a worker that had lost its permit, unless the task has since ended in some other
// way. It returns the revision of the change, or 0.
func (d *draft) settleLate(c Release) uint64 {
	t := d.TaskOf(c.Token)
	if t == nil || c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed {
		return 0
	}
	j := d.JobByNumber(t.Job)
	if !j.Late(t, c.Token) {
		return 0
	}
	after := j.Settle(t, semaphore.Run{End: semaphore.EndReleased, Job: c.Job}, work.Report{Result: c.Result, Failure: c.Failure})
	if after.State == work.Waiting && t.State == work.Waiting {
		return 0 // it is already waiting for its next attempt
	}
	revision := d.advance()
	d.updateTask(t, &after, c.At)
	return revision
}

// updateTask stores the new state of a task and updates its job.
func (d *draft) updateTask(t, after *work.Task, at time.Time) {
	before := d.JobByNumber(t.Job)
	j := *before
	d.setTask(&j, t, after)
	if j.State == work.Open && j.Waiting() == 0 && j.Held == 0 {
		j.State, j.EndedAt = work.Ended, at
	}
	d.setJob(before, &j)
	d.emit(Event{Kind: TaskSettled, Semaphore: j.Semaphore, Job: &j, Task: after, At: at})
}

// reported adds the effect on the task to a release's result. A failure counts as recorded only if the task stores the
// same message, because a task can also fail when it loses its last worker. If no task has the token, either another
// worker has the task or its job was removed. A repeated release is still reported as recorded, because the token's
// first release recorded its report. The two reports may differ.
func (d *draft) reported(c Release, r ReleaseResult) Result {
	r.Task = d.TaskOf(c.Token)
	released := r.Released || r.Ended != nil && r.Ended.Outcome == semaphore.EndReleased
	switch t := r.Task; {
	case c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed: // the task is returned
	case t == nil:
		r.Recorded = released && !r.Released
	case c.Job == semaphore.JobDone:
		r.Recorded = t.State == work.Done
	default:
		ended := t.State == work.Failed || t.State == work.Dropped
		r.Recorded = t.Failure == c.Failure && (ended || t.State == work.Waiting && (released || c.Failure != ""))
	}
	return r
}

// invalidResult describes what is wrong with the result of a release, or returns "". A result for a task that no longer
// exists is ignored.
func (d *draft) invalidResult(c Release) string {
	t := d.TaskOf(c.Token)
	if t == nil || len(c.Result) == 0 {
		return ""
	}
	switch j := d.JobByNumber(t.Job); {
	case uint64(len(c.Result)) > uint64(j.MaxResult):
		return fmt.Sprintf("the result is %d bytes long, but job %q has a max_result of %d", len(c.Result), j.ID, j.MaxResult)
	case c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed:
		return "a task can have a result only after it has ended"
	}
	return ""
}

// applyCancelJob applies a CancelJob command.
func (d *draft) applyCancelJob(c CancelJob) Result {
	j := d.JobByNumber(c.Job)
	if c.Term != 0 && !d.inCurrentTerm(c.Term) || j == nil || j.State != work.Open {
		return JobResult{Job: j}
	}
	d.advance()
	return JobResult{Applied: true, Job: d.cancelJob(j, work.Cancel{Cause: c.Cause, Author: c.Author, Reason: c.Reason}, c.At)}
}

// cancelJob cancels an open job within the current change.
func (d *draft) cancelJob(before *work.Job, why work.Cancel, at time.Time) *work.Job {
	j := *before
	j.State, j.Cancel, j.EndedAt, j.Revision = work.Cancelled, &why, at, d.revision
	d.setJob(before, &j)
	d.emit(Event{Kind: JobCancelled, Semaphore: j.Semaphore, Job: &j, Author: why.Author, Reason: why.Reason, At: at})
	if j.Held == 0 {
		return &j
	}
	for _, p := range slices.Collect(d.Holders(j.Semaphore)) {
		t := d.TaskOf(p.Token)
		if t == nil || t.Job != j.Number || t.State != work.Held || p.State != semaphore.Live || p.Stop != semaphore.NotStopping && p.StopOrder().Drain == 0 {
			continue
		}
		stopping := *p
		stopping.Stop, stopping.Order = semaphore.StopTaskCancelled, &semaphore.StopOrder{Reason: why.Reason, Revision: d.revision}
		d.setPermit(p, &stopping)
		d.emit(Event{Kind: StoppingEvent, Semaphore: p.Semaphore, Permit: &stopping, Author: why.Author, Reason: why.Reason, At: at})
	}
	return &j
}

// submitterEnded drops the unfinished submissions and cancels the open jobs bound to a permit that has ended.
func (d *draft) submitterEnded(token uint64, at time.Time) {
	var jobs []uint64
	d.submitters.Ascend(submitter{token: token}, func(s submitter) bool {
		if s.token == token {
			jobs = append(jobs, s.job)
		}
		return s.token == token
	})
	for _, number := range jobs {
		switch j := d.JobByNumber(number); j.State {
		case work.Receiving:
			d.removeJob(j, at)
		case work.Open:
			d.cancelJob(j, work.Cancel{Cause: work.CancelSubmitterGone}, at)
		case work.Ended, work.Cancelled:
		}
	}
}

// submitterSuperseded binds jobs to their submitter's new token.
func (d *draft) submitterSuperseded(old, replacement uint64) {
	var bound []uint64
	d.submitters.Ascend(submitter{token: old}, func(s submitter) bool {
		if s.token == old {
			bound = append(bound, s.job)
		}
		return s.token == old
	})
	for _, number := range bound {
		before := d.JobByNumber(number)
		j := *before
		j.Submitter, j.Revision = replacement, d.revision
		d.setJob(before, &j)
	}
}

// changeTasks makes failed tasks available again or drops them.
func (d *draft) changeTasks(c ChangeTasks) Result {
	before := d.JobByNumber(c.Job)
	if before == nil || before.State != work.Open && before.State != work.Ended {
		return JobResult{Job: before}
	}
	var failed []*work.Task
	add := func(t *work.Task) {
		if t != nil && t.State == work.Failed && (c.AsOf == 0 || t.Revision <= c.AsOf) {
			failed = append(failed, t)
		}
	}
	if len(c.Indexes) == 0 {
		for t := range d.Tasks(before.Number, 0) {
			add(t)
		}
	}
	for _, index := range slices.Compact(slices.Sorted(slices.Values(c.Indexes))) {
		add(d.Task(work.Ref{Job: before.Number, Index: index}))
	}
	if len(failed) == 0 {
		return JobResult{Job: before}
	}
	after := make([]*work.Task, len(failed))
	var storedBefore, storedAfter uint64
	for i, t := range failed {
		replacement := *t
		if c.Drop {
			replacement.State, replacement.Payload, replacement.Result = work.Dropped, nil, nil
		} else {
			// Remove the token: otherwise, repeating the release that reported the failure would fail the task again.
			replacement.State, replacement.Attempts, replacement.Returns, replacement.Token, replacement.Result = work.Waiting, 0, 0, 0, nil
		}
		after[i] = &replacement
		storedBefore += before.Stored(t)
		storedAfter += before.Stored(&replacement)
	}
	if storedAfter > storedBefore {
		if limit := d.settings.Work.Grow(before.Spec, storedAfter-storedBefore, d.Work(before.Semaphore).Bytes, d.WorkBytes()); limit != nil {
			return JobResult{Job: before, Limit: limit}
		}
	}
	d.advance()
	j := *before
	for i, t := range failed {
		d.setTask(&j, t, after[i])
	}
	if !c.Drop {
		j.State, j.EndedAt = work.Open, time.Time{}
		if p := d.Permit(j.Submitter); p == nil || p.State == semaphore.Cooling {
			j.Submitter = 0 // the permit ended after the job did, so it can no longer cancel the retried job
		}
	}
	d.setJob(before, &j)
	d.emit(Event{Kind: TasksChanged, Semaphore: j.Semaphore, Job: &j, At: c.At})
	return JobResult{Applied: true, Job: &j, Tasks: uint32(len(failed))}
}

// deleteJob removes a finished job. The leader can also use it to remove an unfinished submission.
func (d *draft) deleteJob(c DeleteJob) Result {
	j := d.JobByNumber(c.Job)
	if c.Term != 0 && !d.inCurrentTerm(c.Term) || j == nil || !j.Finished() && (c.Term == 0 || j.State != work.Receiving) {
		return JobResult{Job: j}
	}
	d.advance()
	d.removeJob(j, c.At)
	return JobResult{Applied: true, Job: j}
}

// removeJob removes a job and its tasks, none of which may be held.
func (d *draft) removeJob(j *work.Job, at time.Time) {
	last := *j
	for _, t := range slices.Collect(d.Tasks(j.Number, 0)) {
		d.setTask(&last, t, nil)
	}
	d.setJob(j, nil)
	d.emit(Event{Kind: JobDeleted, Semaphore: j.Semaphore, Job: j, At: at})
}
