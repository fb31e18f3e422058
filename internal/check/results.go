package check

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// finalOutcome is the outcome of a task that must not be handed out again.
type finalOutcome struct {
	task
	token  uint64
	failed bool
}

// checkResults finds tasks that were handed out after they had ended, outcomes that no worker reported, and jobs and
// results that disappeared or never appeared.
func (s *jobHistory) checkResults(h *history.History) {
	finals := map[finalOutcome]bool{}
	type recorded struct {
		*history.Operation
		task
	}
	var done []recorded
	for token, all := range s.ends {
		t, ok := s.byToken[token]
		for _, op := range all {
			if answer, answered := op.Response(); !ok || !answered || answer.Result != history.Recorded {
				continue
			}
			if !op.Request.Failed {
				done = append(done, recorded{op, taskOf(t)})
			}
			if !op.Request.Failed || !s.retries(taskOf(t)) {
				finals[finalOutcome{taskOf(t), token, op.Request.Failed}] = true
			}
		}
	}
	var ends []*history.Operation
	for i := range h.Operations {
		op := &h.Operations[i]
		answer, ok := op.Response()
		if k := op.Request.Kind; !ok || k != history.FollowJob && k != history.JobEnd {
			continue
		}
		id := op.Request.Job.ID
		if answer.Result == history.NoJob {
			if op.Request.Kind == history.JobEnd && s.acknowledged(id, op.At) && !s.mayHaveChanged(history.DeleteJob, id, op.Return.At) {
				s.report(JobNotLost, "job %q was acknowledged, but no longer exists", id)
			}
			continue
		}
		s.checkJob(op, answer.State)
		for _, t := range answer.State.Tasks {
			if f, ok := s.checkOutcome(op, t); ok {
				finals[f] = true
			}
		}
		for _, r := range done {
			if r.job == id && r.Return.At < op.At && s.submittedAt(r.task, answer.Revision) && !s.recreated(r.task, op.Return.At) {
				s.checkKept(op, answer.State, r.task, r.Request)
			}
		}
		if op.Request.Kind == history.JobEnd {
			ends = append(ends, op)
		}
	}
	s.checkRepeatedReads(ends)
	for f := range finals {
		for _, later := range s.byTask[f.task] {
			retried := f.failed && s.countRetries(f.task, s.reportedAt(f.token), later.At) > 0
			if later.Token > f.token && !retried && !s.recreated(f.task, later.At) {
				s.report(OneResult, "%v was handed to %s with token %d, although it had already ended with token %d", f.task, later.Client, later.Token, f.token)
			}
		}
	}
}

// reportedAt returns when a worker first reported the outcome of its task, or 0 if it never did.
func (s *jobHistory) reportedAt(token uint64) time.Duration {
	if all := s.ends[token]; len(all) > 0 {
		return all[0].At // sorted by the time of the call
	}
	return 0
}

// retries reports whether a failure of the task may have ended only the attempt, not the task.
func (s *jobHistory) retries(t task) bool {
	return slices.ContainsFunc(s.submissions(t, never), func(op *history.Operation) bool { return op.Request.Job.RetryFailed })
}

// acknowledged reports whether a response before the given time confirmed that the job was stored.
func (s *jobHistory) acknowledged(id string, before time.Duration) bool {
	return slices.ContainsFunc(s.submitted[id], func(op *history.Operation) bool {
		answer, ok := op.Response()
		return ok && answer.Result == history.Submitted && op.Return.At < before
	})
}

// submittedAt reports whether the task definitely belongs to the job that was submitted at the given revision.
func (s *jobHistory) submittedAt(t task, revision uint64) bool {
	return slices.ContainsFunc(s.submissions(t, never), func(op *history.Operation) bool {
		answer, ok := op.Response()
		return ok && answer.Result == history.Submitted && answer.Revision == revision
	})
}

// checkJob finds states that the job cannot have reached.
func (s *jobHistory) checkJob(op *history.Operation, j *history.JobState) {
	id, receivedAt := op.Request.Job.ID, op.Return.At
	if !j.Over {
		s.report(JobNotLost, "job %q never ended: %s got %+v", id, op.Client, *j)
		return
	}
	if j.Done+j.Failed+j.Dropped+j.Cancelled != j.Count || j.State == "ENDED" && j.Cancelled > 0 {
		s.report(JobNotLost, "job %q is %s with %d tasks: %d done, %d failed, %d dropped, %d cancelled", id, j.State, j.Count, j.Done, j.Failed, j.Dropped, j.Cancelled)
	}
	states := map[string]uint32{}
	for _, t := range j.Tasks {
		states[t.State]++
	}
	if states["DONE"] != j.Done || states["FAILED"] != j.Failed {
		s.report(JobNotLost, "job %q has %d done and %d failed tasks, but %s got %v", id, j.Done, j.Failed, op.Client, states)
	}
	if j.Dropped > 0 && !s.mayHaveChanged(history.DropTasks, id, receivedAt) {
		s.report(JobNotLost, "job %q has %d dropped tasks, but no operator dropped any", id, j.Dropped)
	}
	submittedWith := func(match func(*history.Job) bool) bool {
		return slices.ContainsFunc(s.submitted[id], func(op *history.Operation) bool { return match(op.Request.Job) })
	}
	switch j.Cause {
	case "ASKED":
		if !s.mayHaveChanged(history.CancelJob, id, receivedAt) {
			s.report(JobNotLost, "job %q was cancelled, but no operator cancelled it", id)
		}
	case "TIMEOUT":
		if !submittedWith(func(j *history.Job) bool { return j.Timeout }) {
			s.report(JobNotLost, "job %q was cancelled because of a timeout, but it has no timeout", id)
		}
	case "SUBMITTER_GONE":
		if !submittedWith(func(j *history.Job) bool { return j.Submitter }) {
			s.report(JobNotLost, "job %q was cancelled because its submitter is gone, but it has no submitter", id)
		}
	}
}

// checkOutcome finds an outcome that no worker reported. It returns the outcome if the task must not be handed out
// again.
func (s *jobHistory) checkOutcome(op *history.Operation, t history.TaskState) (finalOutcome, bool) {
	id := op.Request.Job.ID
	h, ok := s.byToken[t.Token]
	switch {
	case t.State == "FAILED" && t.Lost():
		for _, submission := range s.submitted[id] {
			if t.Attempts >= submission.Request.Job.Attempts() {
				return finalOutcome{}, false
			}
		}
		s.report(TaskAttempts, "task %d of job %q was abandoned after %d attempts", t.Index, id, t.Attempts)
		return finalOutcome{}, false
	case t.State != "DONE" && t.State != "FAILED":
		return finalOutcome{}, false
	case !ok || h.Job != id || h.Index != t.Index:
		s.report(OneResult, "task %d of job %q is %s with token %d, which was handed out with %+v", t.Index, id, t.State, t.Token, h)
		return finalOutcome{}, false
	}
	matches := func(end *history.Operation) bool {
		r := end.Request
		return end.At < op.Return.At && !r.NotRun && !r.CutShort && r.Failed == (t.State == "FAILED") && r.Content == t.Content && (!r.Failed || r.Failure == t.Failure)
	}
	if !slices.ContainsFunc(s.ends[t.Token], matches) {
		s.report(OneResult, "%s read that %v is %s with token %d, result %q and failure %q, which its worker never reported", op.Client, taskOf(h), t.State, t.Token, t.Content, t.Failure)
	}
	return finalOutcome{taskOf(h), t.Token, t.State == "FAILED"}, true
}

// checkKept finds a recorded result that is missing from a later response.
func (s *jobHistory) checkKept(op *history.Operation, j *history.JobState, t task, result history.Request) {
	i := slices.IndexFunc(j.Tasks, func(got history.TaskState) bool { return got.Index == t.index })
	if i < 0 {
		s.report(OneResult, "the result of %v with token %d was recorded, but %s did not get it", t, result.Token, op.Client)
	} else if got := j.Tasks[i]; got.State != "DONE" || got.Token != result.Token || got.Content != result.Content {
		s.report(OneResult, "the result %q of %v with token %d was recorded, but %s later got %+v", result.Content, t, result.Token, op.Client, got)
	}
}

// checkRepeatedReads finds jobs that differ between two reads, although nothing changed them.
func (s *jobHistory) checkRepeatedReads(ends []*history.Operation) {
	first := map[string]*history.Operation{}
	for _, op := range ends {
		id := op.Request.Job.ID
		if before := first[id]; before == nil {
			first[id] = op
		} else if a, b := before.Return.Response, op.Return.Response; a.Revision != b.Revision || !reflect.DeepEqual(a.State, b.State) {
			s.report(OneResult, "job %q was read as %+v, and later as %+v", id, *a.State, *b.State)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.submitted)) {
		op := first[id]
		if op == nil {
			continue
		}
		for _, submission := range s.submitted[id] {
			answer, ok := submission.Response()
			if ok && answer.Result == history.Submitted && answer.Revision != op.Return.Response.Revision && !s.mayHaveChanged(history.DeleteJob, id, op.Return.At) {
				s.report(JobNotLost, "job %q was acknowledged at revision %d, but the job that was read is from revision %d", id, answer.Revision, op.Return.Response.Revision)
			}
		}
	}
}
