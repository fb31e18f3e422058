package keeper

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// SubmitJob begins submitting a job. If a complete job with the same id exists, the result contains it, with
// SubmitExists. SubmitJob returns a *ConflictError if the semaphore does not exist, a *NoSuchPermitError if the
// submitter's permit has ended, and a *WorkLimitError if the job would exceed a limit. It sets the command's At.
func (k *Keeper) SubmitJob(ctx context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error) {
	cmd.At = time.Now()
	r, err := do[fsm.SubmitResult](ctx, k, cmd)
	if err != nil {
		return r, err
	}
	switch r.Outcome {
	case fsm.SubmitNoSemaphore:
		return r, &ConflictError{fsm.Conflict{Kind: fsm.ConflictAbsent, Name: cmd.Spec.Semaphore}}
	case fsm.SubmitNoSubmitter:
		return r, &NoSuchPermitError{cmd.Submitter, "the submitter's permit has ended: acquire a new one and submit again with its token"}
	default:
		return r, submitError(r, cmd.Spec.ID)
	}
}

// SubmitTasks continues a submission. It returns a *SubmissionLostError if the submission no longer exists, and a
// *WorkLimitError if the tasks would exceed a limit. It sets the command's At.
func (k *Keeper) SubmitTasks(ctx context.Context, id string, cmd fsm.SubmitTasks) (fsm.SubmitResult, error) {
	cmd.At = time.Now()
	r, err := do[fsm.SubmitResult](ctx, k, cmd)
	if err != nil {
		return r, err
	}
	return r, submitError(r, id)
}

func submitError(r fsm.SubmitResult, id string) error {
	switch r.Outcome {
	case fsm.SubmitLimit:
		return &WorkLimitError{*r.Limit}
	case fsm.SubmitLost:
		return &SubmissionLostError{id}
	default:
		return nil
	}
}

// DropSubmission removes an abandoned submission, unless it is complete or has already been removed. It does not wait.
func (k *Keeper) DropSubmission(number uint64) {
	if t, err := k.leading(); err == nil {
		k.cfg.Proposer.Go(fsm.DeleteJob{Job: number, Term: t.term, At: time.Now()}, func(batcher.Outcome) {})
	}
}

// CancelJob cancels a job on request. A job that has finished or was already cancelled is left unchanged, and Applied
// is false. submitted has the same meaning as in DeleteJob.
func (k *Keeper) CancelJob(ctx context.Context, id string, submitted uint64, author, reason string) (fsm.JobResult, error) {
	j, err := k.submission(ctx, id, submitted)
	if err != nil {
		return fsm.JobResult{}, err
	}
	return k.jobResult(ctx, j, fsm.CancelJob{Job: j.Number, Cause: work.CancelRequested, Author: author, Reason: reason, At: time.Now()})
}

// changeBatchSize is the largest number of tasks that one command changes. A command of this size keeps the state
// machine busy for about 20 ms. Changing all tasks of the largest job in one command would take 200 ms.
const changeBatchSize = 10_000

// ChangeTasks retries or drops failed tasks. It sets the command's Job and At. If there are more than changeBatchSize
// tasks, some may have been changed when it returns an error. Calling it again changes the rest.
func (k *Keeper) ChangeTasks(ctx context.Context, id string, cmd fsm.ChangeTasks) (fsm.JobResult, error) {
	j, err := k.job(ctx, id)
	if err != nil {
		return fsm.JobResult{}, err
	}
	cmd.Job, cmd.At = j.Number, time.Now()
	var all fsm.JobResult
	for _, part := range taskBatches(k.cfg.Machine.State(), j, cmd.Indexes, changeBatchSize) {
		cmd.Indexes = part
		r, err := k.jobResult(ctx, j, cmd)
		if err == nil && !r.Applied && r.Job.State == work.Cancelled {
			err = &RefusedError{fmt.Sprintf("job %q was cancelled: submit its tasks as a new job", id)}
		}
		all.Applied, all.Job, all.Tasks = all.Applied || r.Applied, r.Job, all.Tasks+r.Tasks
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// taskBatches splits the tasks in one call into batches of at most limit tasks. A call without indexes changes all
// failed tasks. If they fit into one batch, that batch has no indexes either.
func taskBatches(state *fsm.State, j *work.Job, indexes []uint32, limit int) [][]uint32 {
	if len(indexes) == 0 && int(j.Failed) > limit {
		for t := range state.Tasks(j.Number, 0) {
			if t.State == work.Failed {
				indexes = append(indexes, t.Index)
			}
		}
	}
	if len(indexes) <= limit {
		return [][]uint32{indexes}
	}
	return slices.Collect(slices.Chunk(indexes, limit))
}

// DeleteJob removes a finished job; for any other job, it returns a *JobNotFinishedError. If submitted is not 0, it is
// the revision at which the job was submitted. If a later job was submitted under the same id, that job is kept, and
// the error is a *NoSuchJobError.
func (k *Keeper) DeleteJob(ctx context.Context, id string, submitted uint64) (fsm.JobResult, error) {
	j, err := k.submission(ctx, id, submitted)
	if err != nil {
		return fsm.JobResult{}, err
	}
	r, err := k.jobResult(ctx, j, fsm.DeleteJob{Job: j.Number, At: time.Now()})
	if err == nil && !r.Applied {
		return r, &JobNotFinishedError{id}
	}
	return r, err
}

// job returns the job with the given id, or a *NoSuchJobError.
func (k *Keeper) job(ctx context.Context, id string) (*work.Job, error) {
	state, err := k.Read(ctx)
	if err != nil {
		return nil, err
	}
	if j := state.Job(id); j != nil {
		return j, nil
	}
	return nil, &NoSuchJobError{id}
}

// submission is like job, but returns only a job submitted at the given revision. If submitted is 0, any revision
// matches.
func (k *Keeper) submission(ctx context.Context, id string, submitted uint64) (*work.Job, error) {
	j, err := k.job(ctx, id)
	if err == nil && submitted != 0 && j.Submitted != submitted {
		return nil, &NoSuchJobError{id}
	}
	return j, err
}

func (k *Keeper) jobResult(ctx context.Context, j *work.Job, cmd fsm.Command) (fsm.JobResult, error) {
	r, err := do[fsm.JobResult](ctx, k, cmd)
	switch {
	case err != nil:
		return r, err
	case r.Limit != nil:
		return r, &WorkLimitError{*r.Limit}
	case r.Job == nil:
		return r, &NoSuchJobError{j.ID}
	}
	return r, nil
}

// checkResult returns an error if a release has a result that is too large for its task, or has a result although the
// task has not ended. It is called before anything is proposed.
func checkResult(state *fsm.State, cmd *fsm.Release) error {
	t := state.TaskOf(cmd.Token)
	switch {
	case len(cmd.Result) == 0:
		return nil
	case cmd.Job != semaphore.JobDone && cmd.Job != semaphore.JobFailed:
		return semaphore.Invalid("result", fmt.Sprintf("%d bytes", len(cmd.Result)), "must be empty unless the task has ended")
	case t == nil:
		return nil
	}
	if j := state.JobByNumber(t.Job); uint64(len(cmd.Result)) > uint64(j.MaxResult) {
		return &WorkLimitError{work.LimitError{
			Limit: "max_result", Quantity: fmt.Sprintf("the result of task %d in job %q", t.Index, j.ID), Needed: uint64(len(cmd.Result)), Max: uint64(j.MaxResult),
		}}
	}
	return nil
}

// WorkLimitError is returned for a command that would exceed a limit. Nothing was changed.
type WorkLimitError struct{ work.LimitError }

func (e *WorkLimitError) Error() string { return e.LimitError.Error() }

// NoSuchJobError is returned for a job that does not exist: it was never submitted, or was removed.
type NoSuchJobError struct{ ID string }

func (e *NoSuchJobError) Error() string {
	return fmt.Sprintf("there is no job %q: it was never submitted, or it was deleted, either explicitly or when its retention period ended", e.ID)
}

// SubmissionLostError is returned for a submission that was dropped, or replaced by a different one with the same id.
type SubmissionLostError struct{ ID string }

func (e *SubmissionLostError) Error() string {
	return fmt.Sprintf("the submission of job %q was dropped, or another submission with the same id has begun: submit it again", e.ID)
}

// JobNotFinishedError is returned when a job to delete still has waiting or held tasks.
type JobNotFinishedError struct{ ID string }

func (e *JobNotFinishedError) Error() string {
	return fmt.Sprintf("job %q has not finished: cancel it, wait until no worker holds any of its tasks, then delete it", e.ID)
}
