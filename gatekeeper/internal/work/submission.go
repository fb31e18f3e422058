package work

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// chunk is how many bytes of payload one log entry brings at most, unless a single task has more.
const chunk = 256 << 10

// DiffersError refuses a submission whose id belongs to a job of other content. Nothing happened.
type DiffersError struct{ ID string }

func (e *DiffersError) Error() string {
	return fmt.Sprintf("job %q was submitted before with other tasks or settings: use another id, or delete that job once it is over", e.ID)
}

// Submitter takes the commands of a submission; a *keeper.Keeper is one.
type Submitter interface {
	SubmitJob(ctx context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error)
	SubmitTasks(ctx context.Context, id string, cmd fsm.SubmitTasks) (fsm.SubmitResult, error)
	DropSubmission(number uint64)
}

// Submission is a job that is being submitted. It is not safe for concurrent use. Finish or Abort ends it.
type Submission struct {
	to        Submitter
	spec      *work.Spec
	submitter uint64
	content   hash.Hash

	pending [][]byte
	bytes   int
	job     *work.Job // as it was after the last entry; nil: none was written
	// repeated: job was complete before. The tasks that follow are only compared.
	repeated bool
}

// NewSubmission begins a submission. Nothing is written before the first tasks are known. submitter is as in
// fsm.SubmitJob.
func NewSubmission(to Submitter, spec *work.Spec, submitter uint64) *Submission {
	s := &Submission{to: to, spec: spec, submitter: submitter, content: sha256.New()}
	s.hash(spec.Semaphore)
	if spec.Principal != "" { // submissions of servers that authenticate nobody keep the content they had
		s.hash(spec.Principal)
	}
	for _, l := range spec.Labels {
		s.hash(l.Key)
		s.hash(l.Value)
	}
	retry := uint64(0)
	if spec.RetryFailed {
		retry = 1
	}
	for _, n := range []uint64{
		uint64(len(spec.Labels)), uint64(uint32(spec.Priority)), uint64(spec.MaxAttempts), uint64(spec.MaxResult), retry,
		uint64(spec.Timeout), uint64(spec.Retention),
	} {
		s.content.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	return s
}

// hash adds a text to the content. Its length keeps it apart from the next one.
func (s *Submission) hash(text string) {
	s.content.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
	s.content.Write([]byte(text))
}

// Add brings the next tasks. It returns when those that fill an entry are committed. It keeps the payloads.
func (s *Submission) Add(ctx context.Context, tasks [][]byte) error {
	for _, t := range tasks {
		s.content.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t))))
		s.content.Write(t)
		if s.repeated {
			continue
		}
		if s.bytes+len(t) > chunk && len(s.pending) > 0 {
			if err := s.flush(ctx, ""); err != nil {
				return err
			}
		}
		s.pending = append(s.pending, t)
		s.bytes += len(t) + perTask
	}
	return nil
}

// perTask is what a task without payload counts in an entry.
const perTask = 16

// Finish says that there are no more tasks, and returns the job once it is committed. repeated: it was submitted
// before.
func (s *Submission) Finish(ctx context.Context) (job *work.Job, repeated bool, err error) {
	digest := string(s.content.Sum(nil))
	if !s.repeated {
		if err := s.flush(ctx, digest); err != nil {
			return nil, false, err
		}
	}
	if s.repeated && s.job.Digest != digest {
		return nil, false, &DiffersError{s.spec.ID}
	}
	return s.job, s.repeated, nil
}

// Abort drops what was written. After Finish it does nothing. A job that was there before is another's, who may still
// be submitting it.
func (s *Submission) Abort() {
	if s.job != nil && !s.repeated && s.job.State == work.Receiving {
		s.to.DropSubmission(s.job.Number)
	}
}

// flush writes what is pending; the digest comes with the last tasks.
func (s *Submission) flush(ctx context.Context, digest string) error {
	var r fsm.SubmitResult
	var err error
	if s.job == nil {
		r, err = s.to.SubmitJob(ctx, fsm.SubmitJob{Spec: s.spec, Submitter: s.submitter, Tasks: s.pending, Digest: digest})
	} else {
		r, err = s.to.SubmitTasks(ctx, s.spec.ID, fsm.SubmitTasks{Job: s.job.Number, Offset: s.job.Tasks, Tasks: s.pending, Digest: digest})
	}
	if err != nil {
		return err
	}
	s.job, s.repeated = r.Job, r.Outcome == fsm.SubmitExists
	s.pending, s.bytes = nil, 0
	return nil
}
