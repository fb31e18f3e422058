package work_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// TestSettle_EveryEnd combines every End of a permit with every JobEnd, on the first and the last attempt, with and
// without RetryFailed.
func TestSettle_EveryEnd(t *testing.T) {
	report := work.Report{Result: []byte("r"), Failure: "f"}
	for _, end := range []semaphore.End{
		semaphore.NotEnded, semaphore.EndReleased, semaphore.EndExpired, semaphore.EndAbandoned, semaphore.EndCancelled,
		semaphore.EndFreedUnsafely, semaphore.EndCleared, semaphore.EndSuperseded,
	} {
		for _, job := range []semaphore.JobEnd{semaphore.JobDone, semaphore.JobNotRun, semaphore.JobCutShort, semaphore.JobFailed} {
			for attempts := uint32(1); attempts <= 2; attempts++ {
				for _, retry := range []bool{false, true} {
					spec := &work.Spec{MaxAttempts: 2, MaxResult: 256, RetryFailed: retry}
					task := &work.Task{State: work.Held, Attempts: attempts, Token: 7, Payload: []byte("p"), Failure: "before"}
					before := *task
					want := *task
					last := attempts == 2
					requeue := func(counted bool) {
						want.State = work.Waiting
						if !counted {
							want.Attempts--
							want.Returns++
							want.Failure = report.Failure
						}
					}
					switch end {
					case semaphore.NotEnded, semaphore.EndSuperseded:
					case semaphore.EndAbandoned, semaphore.EndCancelled:
						requeue(false)
					case semaphore.EndExpired, semaphore.EndCleared, semaphore.EndFreedUnsafely:
						if requeue(true); last {
							want.State, want.Failure = work.Failed, "its worker's permit was lost on attempt 2 of 2"
						}
					case semaphore.EndReleased:
						switch job {
						case semaphore.JobDone:
							want.State, want.Payload, want.Result, want.Failure = work.Done, nil, report.Result, ""
						case semaphore.JobNotRun, semaphore.JobCutShort:
							requeue(false)
						case semaphore.JobFailed:
							want.Failure = "f"
							if retry && !last {
								want.State = work.Waiting
							} else {
								want.State, want.Result = work.Failed, report.Result
							}
						}
					}
					got := spec.Settle(task, semaphore.Run{End: end, Job: job}, report)
					name := fmt.Sprintf("%v, job %d, attempt %d, retry %v", end, job, attempts, retry)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s (-want +got):\n%s", name, diff)
					}
					if diff := cmp.Diff(before, *task); diff != "" {
						t.Errorf("%s: Settle modified the task:\n%s", name, diff)
					}
				}
			}
		}
	}
}

func TestMayAttempt_Zero_UsesDefault(t *testing.T) {
	s := &work.Spec{}
	if !s.MayAttempt(work.DefaultMaxAttempts-1) || s.MayAttempt(work.DefaultMaxAttempts) {
		t.Error("MayAttempt() with MaxAttempts 0 does not allow exactly 3 attempts")
	}
	if s.RetentionOrDefault() != work.DefaultRetention || (&work.Spec{Retention: time.Hour}).RetentionOrDefault() != time.Hour {
		t.Error("RetentionOrDefault() is neither Retention nor its default")
	}
}

func TestLate_AcceptsOnlyLatestHolderOfUnfinishedTask(t *testing.T) {
	for state, want := range map[work.TaskState]bool{work.Waiting: true, work.Held: true, work.Done: false, work.Failed: false, work.Dropped: false} {
		for _, job := range []work.JobState{work.Open, work.Cancelled} {
			j := &work.Job{State: job}
			task := &work.Task{State: state, Token: 7}
			if got := j.Late(task, 7); got != (want && (state == work.Held || job == work.Open)) {
				t.Errorf("Late() for a task in state %d of a job in state %d = %v, want %v", state, job, got, !got)
			}
			if j.Late(task, 6) {
				t.Errorf("Late() accepts an old token in state %d", state)
			}
		}
	}
}

func TestCompare_OrdersBySemaphorePriorityAndSubmission(t *testing.T) {
	job := func(sem string, priority int32, submitted uint64) *work.Job {
		return &work.Job{Spec: &work.Spec{Semaphore: sem, Priority: priority}, Submitted: submitted}
	}
	want := []*work.Job{job("a", 5, 9), job("a", 0, 2), job("a", 0, 3), job("a", -1, 1), job("b", 9, 1)}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, (*work.Job).Compare)
	if !slices.Equal(got, want) {
		t.Errorf("jobs sorted by Compare() = %+v, want %+v", got, want)
	}
}

func TestJob_HasWaitingTasksAndFinished_DependOnState(t *testing.T) {
	for _, tc := range []struct {
		state          work.JobState
		waiting, held  uint32
		handsOut, over bool
	}{
		{work.Receiving, 1, 0, false, false}, {work.Open, 1, 0, true, false}, {work.Open, 0, 1, false, false},
		{work.Ended, 0, 0, false, true}, {work.Cancelled, 1, 1, false, false}, {work.Cancelled, 1, 0, false, true},
	} {
		j := &work.Job{State: tc.state, Tasks: tc.waiting + tc.held, Fresh: tc.held, Held: tc.held}
		if j.HasWaitingTasks() != tc.handsOut || j.Finished() != tc.over || j.Waiting() != tc.waiting {
			t.Errorf("%+v: HasWaitingTasks() = %v, Finished() = %v, Waiting() = %d", tc, j.HasWaitingTasks(), j.Finished(), j.Waiting())
		}
	}
}

func TestLimits_ByteBoundaries_AreExact(t *testing.T) {
	l := work.Limits{TaskBytes: 10, JobBytes: 15, SemaphoreBytes: 5000, ClusterBytes: 6000}
	spec := func(maxResult uint32) *work.Spec { return &work.Spec{ID: "j", Semaphore: "s", MaxResult: maxResult} }
	payloads := func(sizes ...int) (all [][]byte) {
		for _, n := range sizes {
			all = append(all, make([]byte, n))
		}
		return all
	}
	perTask := uint64(1024 + 256 + 256) // a new job with one empty task and the space reserved for its outcome
	for _, tc := range []struct {
		name             string
		spec             *work.Spec
		job              *work.Job
		payloads         [][]byte
		semaphore, other uint64
		limit            string
	}{
		{"within the limits", spec(10), nil, payloads(10, 5), 0, 0, ""},
		{"payload too large", spec(10), nil, payloads(11), 0, 0, "max_task_bytes"},
		{"result too large", spec(11), nil, payloads(1), 0, 0, "max_task_bytes"},
		{"total payload too large", spec(0), nil, payloads(10, 6), 0, 0, "max_job_bytes"},
		{"total payload too large with earlier tasks", spec(0), &work.Job{Payload: 10, Tasks: 1}, payloads(6), 0, 0, "max_job_bytes"},
		{"maximum number of tasks", spec(0), &work.Job{Tasks: work.MaxTasks - 1}, payloads(0), 0, 0, ""},
		{"one task too many", spec(0), &work.Job{Tasks: work.MaxTasks}, payloads(0), 0, 0, "the maximum number of tasks per job"},
		{"semaphore full", spec(10), nil, payloads(0), 5000 - perTask, 5000 - perTask, ""},
		{"semaphore limit exceeded by one byte", spec(10), nil, payloads(0), 5001 - perTask, 5001 - perTask, "max_semaphore_work_bytes"},
		{"cluster full", spec(10), nil, payloads(0), 0, 6000 - perTask, ""},
		{"cluster limit exceeded by one byte", spec(10), nil, payloads(0), 0, 6001 - perTask, "max_work_bytes"},
	} {
		got := l.Check(tc.spec, tc.job, tc.payloads, tc.semaphore, tc.other)
		switch {
		case got == nil && tc.limit != "":
			t.Errorf("%s: Check() = nil, want an error", tc.name)
		case got != nil && (got.Limit != tc.limit || got.Needed <= got.Max || !strings.Contains(got.Error(), tc.limit+" is ")):
			t.Errorf("%s: Check() = %v, want limit %q", tc.name, got, tc.limit)
		}
	}
	if l.Grow(spec(0), 100, 4900, 5900) != nil || l.Grow(spec(0), 101, 4900, 5000) == nil || l.Grow(spec(0), 101, 0, 5900) == nil {
		t.Error("Grow() is off by one byte at the limit")
	}
	if d := (work.Limits{}).OrDefault(); d != (work.Limits{TaskBytes: 64 << 10, JobBytes: 64 << 20, SemaphoreBytes: 128 << 20, ClusterBytes: 256 << 20}) {
		t.Errorf("OrDefault() = %+v", d)
	}
	if (work.Limits{TaskBytes: work.MaxTaskBytes}).Validate() != nil || (work.Limits{TaskBytes: work.MaxTaskBytes + 1}).Validate() == nil {
		t.Error("Validate() accepts a task limit above MaxTaskBytes, or rejects MaxTaskBytes")
	}
}

func TestValidate_ReportsField(t *testing.T) {
	for field, change := range map[string]func(*work.Spec){
		"":             func(*work.Spec) {},
		"id":           func(s *work.Spec) { s.ID = "" },
		"semaphore":    func(s *work.Spec) { s.Semaphore = strings.Repeat("x", 257) },
		"timeout":      func(s *work.Spec) { s.Timeout = -1 },
		"retention":    func(s *work.Spec) { s.Retention = work.MaxSpan + 1 },
		"max_attempts": func(s *work.Spec) { s.MaxAttempts = work.MaxAttempts + 1 },
		"labels":       func(s *work.Spec) { s.Labels = semaphore.Labels{{Key: "", Value: "v"}} },
	} {
		s := &work.Spec{ID: "j", Semaphore: "s", Timeout: work.MaxSpan, MaxAttempts: work.MaxAttempts}
		change(s)
		err := s.Validate()
		if field == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if bad, ok := errors.AsType[*semaphore.FieldError](err); !ok || bad.Field != field {
			t.Errorf("Validate() = %v, want an error for field %s", err, field)
		}
	}
	if err := (*work.Spec)(nil).Validate(); err == nil {
		t.Error("Validate() accepts a nil Spec")
	}
}

func TestCancelText_EveryCause(t *testing.T) {
	for want, c := range map[string]*work.Cancel{
		"":                        nil,
		"by an unknown author":    {Cause: work.CancelRequested},
		"by ann: wrong bucket":    {Cause: work.CancelRequested, Author: "ann", Reason: "wrong bucket"},
		"after its timeout of 1h": {Cause: work.CancelTimeout},
		"because its submitter's permit has ended": {Cause: work.CancelSubmitterGone},
	} {
		j := work.Job{Spec: &work.Spec{Timeout: time.Hour}, Cancel: c}
		if got := j.CancelText(); got != want {
			t.Errorf("CancelText() = %q, want %q", got, want)
		}
	}
}
