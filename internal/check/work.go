package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// task identifies a task the way its workers see it. If a job id is reused with different content, its tasks are
// different tasks.
type task struct {
	job     string
	index   uint32
	content string
}

func (t task) String() string { return fmt.Sprintf("task %d of job %q", t.index, t.job) }

// jobHistory holds the information about jobs in a history.
type jobHistory struct {
	submitted  map[string][]*history.Operation // by job, in call order, excluding refused calls
	changed    map[string][]*history.Operation // by job: changes that an operator may have made
	ends       map[uint64][]*history.Operation // by token: the outcomes that its worker reported
	byToken    map[uint64]history.HandedTask   // by token
	byTask     map[task][]history.HandedTask   // by task, in token order
	violations []Violation
}

func newJobHistory(h *history.History) *jobHistory {
	s := &jobHistory{
		submitted: map[string][]*history.Operation{}, changed: map[string][]*history.Operation{}, ends: map[uint64][]*history.Operation{},
		byToken: map[uint64]history.HandedTask{}, byTask: map[task][]history.HandedTask{},
	}
	for i := range h.Operations {
		op := &h.Operations[i]
		if op.Outcome() == history.Refused {
			continue
		}
		switch r := op.Request; r.Kind {
		case history.Submit:
			s.submitted[r.Job.ID] = append(s.submitted[r.Job.ID], op)
		case history.CancelJob, history.DeleteJob, history.RetryTasks, history.DropTasks:
			s.changed[r.Job.ID] = append(s.changed[r.Job.ID], op)
		case history.EndTask:
			s.ends[r.Token] = append(s.ends[r.Token], op)
		}
	}
	for _, t := range h.HandedTasks {
		if other, ok := s.byToken[t.Token]; ok && taskOf(other) != taskOf(t) {
			s.report(OneWorker, "token %d was handed out with both %v and %v", t.Token, taskOf(other), taskOf(t))
		}
		s.byToken[t.Token] = t
		s.byTask[taskOf(t)] = append(s.byTask[taskOf(t)], t)
	}
	for _, all := range s.byTask {
		slices.SortFunc(all, func(a, b history.HandedTask) int { return cmp.Compare(a.Token, b.Token) })
	}
	return s
}

func taskOf(t history.HandedTask) task { return task{t.Job, t.Index, t.Content} }

func (s *jobHistory) report(kind Guarantee, format string, args ...any) {
	s.violations = append(s.violations, Violation{kind, "", fmt.Sprintf(format, args...)})
}

// Work checks jobs and tasks. It finds jobs that were lost or never ended; tasks that ran on two workers at the same
// time, too many times, or again after their result was recorded; and results that changed or that no worker reported.
func Work(h *history.History) []Violation {
	s := newJobHistory(h)
	for id, all := range s.submitted {
		s.checkIDs(id, all)
	}
	for t, all := range s.byTask {
		s.checkExecutions(t, all)
	}
	s.checkOverlaps(h.Beliefs)
	s.checkResults(h)
	slices.SortFunc(s.violations, func(a, b Violation) int { return cmp.Compare(a.String(), b.String()) })
	return s.violations
}

// mayHaveChanged reports whether an operator may have made the given change to the job before the given time.
func (s *jobHistory) mayHaveChanged(kind history.Kind, job string, before time.Duration) bool {
	return slices.ContainsFunc(s.changed[job], func(op *history.Operation) bool { return op.Request.Kind == kind && op.At < before })
}

// countRetries counts the retries that may have caused the task to be handed out again between since and before. A
// retry counts if it names the task or applies to all failed tasks, was requested before the interval ended, and had
// not completed when it began. A retry that completed earlier may predate the failure.
func (s *jobHistory) countRetries(t task, since, before time.Duration) (n uint32) {
	for _, op := range s.changed[t.job] {
		r := op.Request
		named := len(r.Job.Indexes) == 0 || slices.Contains(r.Job.Indexes, t.index)
		if r.Kind == history.RetryTasks && named && op.At < before && (op.Outcome() == history.Unknown || op.Return.At > since) {
			n++
		}
	}
	return n
}

// checkIDs finds job ids that were used for two different jobs.
func (s *jobHistory) checkIDs(id string, all []*history.Operation) {
	for i, op := range all {
		answer, ok := op.Response()
		switch {
		case !ok:
		case answer.Result == history.Differs:
			other := func(o *history.Operation) bool { return o.At < op.Return.At && !sameJob(o.Request.Job, op.Request.Job) }
			if !slices.ContainsFunc(all, other) {
				s.report(SameJob, "the response to %s reported that job %q has different content, but none was submitted", op.Client, id)
			}
		default:
			for _, before := range all[:i] {
				first, ok := before.Response()
				if !ok || first.Result != history.Submitted || first.Revision == answer.Revision && sameJob(before.Request.Job, op.Request.Job) {
					continue
				}
				if first.Revision == answer.Revision || !s.mayHaveChanged(history.DeleteJob, id, max(before.Return.At, op.Return.At)) {
					s.report(SameJob, "job %q was submitted by %s at revision %d, and by %s with different content or as a different job at revision %d",
						id, before.Client, first.Revision, op.Client, answer.Revision)
				}
			}
		}
	}
}

func sameJob(a, b *history.Job) bool {
	return slices.Equal(a.Tasks, b.Tasks) && a.MaxAttempts == b.MaxAttempts && a.RetryFailed == b.RetryFailed
}

// submissions returns the submissions that may have created the task before the given time.
func (s *jobHistory) submissions(t task, before time.Duration) (all []*history.Operation) {
	for _, op := range s.submitted[t.job] {
		j := op.Request.Job
		if !j.Cut && op.At < before && int(t.index) < len(j.Tasks) && j.Tasks[t.index] == t.content {
			all = append(all, op)
		}
	}
	return all
}

// recreated reports whether the job may have been deleted and submitted again with the same content.
func (s *jobHistory) recreated(t task, before time.Duration) bool {
	for _, deletion := range s.changed[t.job] {
		if deletion.Request.Kind != history.DeleteJob || deletion.At >= before {
			continue
		}
		resubmitted := func(op *history.Operation) bool { return op.Outcome() == history.Unknown || op.Return.At > deletion.At }
		if slices.ContainsFunc(s.submissions(t, before), resubmitted) {
			return true
		}
	}
	return false
}

// returned reports whether the task may have been returned without counting the attempt. A worker that stops may return
// the task instead of reporting a failure.
func (s *jobHistory) returned(token uint64) bool {
	return slices.ContainsFunc(s.ends[token], func(op *history.Operation) bool {
		answer, ok := op.Response()
		r := op.Request
		return r.NotRun || r.CutShort || r.Failed && (!ok || answer.Result == history.Returned)
	})
}

// checkExecutions finds tasks that were not submitted, and tasks that were started too many times.
func (s *jobHistory) checkExecutions(t task, all []history.HandedTask) {
	var starts, maxAttempts uint32
	for _, h := range all {
		from := s.submissions(t, h.At)
		if len(from) == 0 {
			s.report(SameJob, "%s was handed %v with token %d, but no complete submission contains that task", h.Client, t, h.Token)
			continue
		}
		for _, op := range from {
			maxAttempts = max(maxAttempts, op.Request.Job.Attempts())
		}
		if h.Attempt > maxAttempts { // the servers count attempts since the last retry
			s.report(TaskAttempts, "%v was handed to %s with token %d on attempt %d, but max_attempts is %d", t, h.Client, h.Token, h.Attempt, maxAttempts)
		}
		if s.returned(h.Token) {
			continue
		}
		allowed := maxAttempts * (1 + s.countRetries(t, from[0].At, h.At))
		if starts++; starts == allowed+1 && !s.recreated(t, h.At) {
			s.report(TaskAttempts, "%v was started %d times, the last time by %s with token %d, but max_attempts is %d", t, starts, h.Client, h.Token, maxAttempts)
		}
	}
}

// checkOverlaps finds periods in which two workers both believed that they held the permit for the same task.
func (s *jobHistory) checkOverlaps(beliefs []history.Belief) {
	byTask := map[task][]history.Belief{}
	for _, b := range beliefs {
		if h, ok := s.byToken[b.Token]; ok && b.From < b.Until {
			byTask[taskOf(h)] = append(byTask[taskOf(h)], b)
		}
	}
	for t, all := range byTask {
		slices.SortFunc(all, func(a, b history.Belief) int { return cmp.Compare(a.From, b.From) })
		for i, b := range all {
			for _, before := range all[:i] {
				if before.Token != b.Token && b.From < before.Until {
					s.report(OneWorker, "%v: %s believed that it held token %d until %v, while %s believed that it held token %d from %v", t, before.Client, before.Token, before.Until, b.Client, b.Token, b.From)
				}
			}
		}
	}
}

// WorkTally counts the outcomes of the jobs and tasks in a history.
func WorkTally(h *history.History) map[string]int {
	s := newJobHistory(h)
	n := map[string]int{"jobs": 0, "tasks": 0, "executions": len(s.byToken), "lost": 0, "handed-out-again": 0, "results": 0}
	seen := map[uint64]bool{}
	for _, all := range s.submitted {
		for _, op := range all {
			if answer, ok := op.Response(); ok && answer.Result == history.Submitted && !seen[answer.Revision] {
				seen[answer.Revision] = true
				n["jobs"]++
				n["tasks"] += len(op.Request.Job.Tasks)
			}
		}
	}
	for _, all := range s.byTask {
		n["handed-out-again"] += len(all) - 1
		for i := range len(all) - 1 {
			failureReported := slices.ContainsFunc(s.ends[all[i].Token], func(op *history.Operation) bool { return op.Request.Failed })
			if !failureReported && !s.returned(all[i].Token) {
				n["lost"]++
			}
		}
	}
	for _, all := range s.ends {
		recorded := func(op *history.Operation) bool {
			answer, ok := op.Response()
			return ok && answer.Result == history.Recorded
		}
		if slices.ContainsFunc(all, recorded) {
			n["results"]++
		}
	}
	return n
}
