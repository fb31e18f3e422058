package work

import (
	"cmp"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Limits bounds the data stored for jobs. A zero field means the default.
type Limits struct {
	// TaskBytes bounds the payload of a task and its max_result. The default is 64 KiB.
	TaskBytes uint64
	// JobBytes bounds the total payload of a job. The default is 64 MiB.
	JobBytes uint64
	// SemaphoreBytes and ClusterBytes bound the bytes stored and reserved for the jobs of a semaphore and of the
	// cluster. The defaults are 128 MiB and 256 MiB.
	SemaphoreBytes, ClusterBytes uint64
}

// MaxTaskBytes is the maximum value of Limits.TaskBytes. A task must fit into one log entry.
const MaxTaskBytes = 512 << 10

// OrDefault returns l with the defaults filled in. The defaults are frozen because they determine which submissions
// servers accept.
func (l Limits) OrDefault() Limits {
	return Limits{
		TaskBytes:      cmp.Or(l.TaskBytes, 64<<10),
		JobBytes:       cmp.Or(l.JobBytes, 64<<20),
		SemaphoreBytes: cmp.Or(l.SemaphoreBytes, 128<<20),
		ClusterBytes:   cmp.Or(l.ClusterBytes, 256<<20),
	}
}

// Validate returns an error if a limit is out of range.
func (l Limits) Validate() error {
	if l.TaskBytes > MaxTaskBytes {
		return fmt.Errorf("the task limit is %d bytes, but it must be at most %d", l.TaskBytes, uint64(MaxTaskBytes))
	}
	return nil
}

// Estimated sizes of a job, and of a task without its payload and result. They are frozen because they determine which
// submissions servers accept.
const (
	jobOverhead  = 1024
	taskOverhead = 256
)

// MaxFailure is the maximum length in bytes of Task.Failure.
const MaxFailure = semaphore.MaxName

// Stored returns the size of a task as counted against the limits: its payload, plus its result or the space reserved
// for one.
func (s *Spec) Stored(t *Task) uint64 {
	n := uint64(taskOverhead + len(t.Payload))
	if t.Finished() {
		return n + uint64(len(t.Result)+len(t.Failure))
	}
	return n + s.room()
}

// room returns the space reserved for a task's outcome, so that a result or a failure text is never rejected for lack
// of space. A task that is waiting again keeps the failure text of its last attempt there.
func (s *Spec) room() uint64 { return max(uint64(s.MaxResult), MaxFailure) }

// Reserved returns the size of a job without tasks as counted against the limits.
func (s *Spec) Reserved() uint64 { return jobOverhead }

// A LimitError reports the limit that a submission would exceed.
type LimitError struct {
	Limit    string // as named in the settings
	Quantity string // the quantity that the limit bounds
	Needed   uint64
	Max      uint64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s would be %d, but %s is %d", e.Quantity, e.Needed, e.Limit, e.Max)
}

// Check returns a *LimitError if tasks with these payloads cannot be added to job j, which is nil for a new job.
// semaphore and cluster are the bytes currently stored for the semaphore and the cluster.
func (l Limits) Check(s *Spec, j *Job, payloads [][]byte, semaphore, cluster uint64) *LimitError {
	l = l.OrDefault()
	var count, payload, stored uint64
	if j != nil {
		count, payload = uint64(j.Tasks), j.Payload
	} else {
		stored = s.Reserved()
	}
	if uint64(s.MaxResult) > l.TaskBytes {
		return &LimitError{"max_task_bytes", fmt.Sprintf("max_result of job %q", s.ID), uint64(s.MaxResult), l.TaskBytes}
	}
	for i, p := range payloads {
		if uint64(len(p)) > l.TaskBytes {
			return &LimitError{"max_task_bytes", fmt.Sprintf("the payload of task %d in job %q", count+uint64(i), s.ID), uint64(len(p)), l.TaskBytes}
		}
		payload += uint64(len(p))
		stored += s.Stored(&Task{Payload: p})
	}
	for _, limit := range [...]LimitError{
		{"the maximum number of tasks per job", fmt.Sprintf("the number of tasks in job %q", s.ID), count + uint64(len(payloads)), MaxTasks},
		{"max_job_bytes", fmt.Sprintf("the payloads of job %q", s.ID), payload, l.JobBytes},
	} {
		if limit.Needed > limit.Max {
			return &limit
		}
	}
	return l.Grow(s, stored, semaphore, cluster)
}

// Grow returns a *LimitError if storing the given number of additional bytes for a job would exceed a limit.
func (l Limits) Grow(s *Spec, more, semaphore, cluster uint64) *LimitError {
	l = l.OrDefault()
	for _, limit := range [...]LimitError{
		{"max_semaphore_work_bytes", fmt.Sprintf("the data stored for jobs of semaphore %q", s.Semaphore), semaphore + more, l.SemaphoreBytes},
		{"max_work_bytes", "the data stored for all jobs in the cluster", cluster + more, l.ClusterBytes},
	} {
		if limit.Needed > limit.Max {
			return &limit
		}
	}
	return nil
}
