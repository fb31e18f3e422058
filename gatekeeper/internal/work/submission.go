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

// chunk is the maximum payload of one log entry in bytes, unless a single task is larger.
const chunk = 256 << 10

// DiffersError means that a submission was refused because its id belongs to a job with different content. Nothing was
// changed.
type DiffersError struct{ ID string }

func (e *DiffersError) Error() string {
	return fmt.Sprintf("job %q was already submitted with different tasks or settings: use a different id, or delete that job once it has finished", e.ID)
}

// Submitter applies the commands of a submission; *keeper.Keeper implements it.
type Submitter interface {
	SubmitJob(ctx context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error)
	SubmitTasks(ctx context.Context, id string, cmd fsm.SubmitTasks) (fsm.SubmitResult, error)
	DropSubmission(number uint64)
}

// Submission is a job that is being submitted. It is not safe for concurrent use. The caller must end it with Finish or
// Abort.
type Submission struct {
	to        Submitter
	spec      *work.Spec
	submitter uint64
	content   hash.Hash

	pending [][]byte
	bytes   int
	job     *work.Job // as of the last entry; nil before the first
	// repeated means that the job was already complete. Further tasks are compared but not stored.
	repeated bool
}

// NewSubmission starts a submission. It writes nothing; the first entry is written with the first tasks. submitter has
// the same meaning as in fsm.SubmitJob.
func NewSubmission(to Submitter, spec *work.Spec, submitter uint64) *Submission {
	s := &Submission{to: to, spec: spec, submitter: submitter, content: sha256.New()}
	s.hash(spec.Semaphore)
	if spec.Principal != "" { // without authentication, the digest is the same as before this field existed
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

// hash adds a string to the digest, prefixed with its length to separate it from the next one.
func (s *Submission) hash(text string) {
	s.content.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
	s.content.Write([]byte(text))
}

// Add adds the next tasks. It returns once every full entry is committed. It retains the payloads.
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
		s.bytes += len(t) + taskOverhead
	}
	return nil
}

// taskOverhead is the size of a task in an entry, in bytes, not counting its payload.
const taskOverhead = 16

// Finish ends the submission and returns the job once it is committed. repeated means that the same job had already
// been submitted.
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

// Abort deletes what has been written. After Finish it has no effect. It never deletes a job that already existed,
// which another submitter may still be submitting.
func (s *Submission) Abort() {
	if s.job != nil && !s.repeated && s.job.State == work.Receiving {
		s.to.DropSubmission(s.job.Number)
	}
}

// flush writes the pending tasks. digest is set only with the last ones.
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
