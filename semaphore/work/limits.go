package work

import (
	"cmp"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Limits bound what is stored for jobs. 0 in a field means its default.
type Limits struct {
	// TaskBytes bounds the payload of a task and its max_result. Default 64 KiB.
	TaskBytes uint64
	// JobBytes bounds the payloads of a job together. Default 64 MiB.
	JobBytes uint64
	// SemaphoreBytes and ClusterBytes bound what is stored and reserved for the jobs of a semaphore, and of the
	// cluster. Defaults 128 MiB and 256 MiB.
	SemaphoreBytes, ClusterBytes uint64
}

// MaxTaskBytes is the most that Limits.TaskBytes can be: a task goes into one log entry.
const MaxTaskBytes = 512 << 10

// OrDefault is l with the defaults filled in. They are frozen: what servers accept depends on them.
func (l Limits) OrDefault() Limits {
	return Limits{
		TaskBytes:      cmp.Or(l.TaskBytes, 64<<10),
		JobBytes:       cmp.Or(l.JobBytes, 64<<20),
		SemaphoreBytes: cmp.Or(l.SemaphoreBytes, 128<<20),
		ClusterBytes:   cmp.Or(l.ClusterBytes, 256<<20),
	}
}

// Validate returns an error if the limits make no sense.
func (l Limits) Validate() error {
	if l.TaskBytes > MaxTaskBytes {
		return fmt.Errorf("the limit of a task is %d bytes, and can be %d at most", l.TaskBytes, uint64(MaxTaskBytes))
	}
	return nil
}

// Estimates of what a job and a task take besides payload and result. They are frozen: what servers accept depends on
// them.
const (
	jobOverhead  = 1024
	taskOverhead = 256
)

// MaxFailure is the most bytes of Task.Failure.
const MaxFailure = semaphore.MaxName

// Stored is what the task of a job counts against the limits: its payload, and what its end has left or may leave.
func (s *Spec) Stored(t *Task) uint64 {
	n := uint64(taskOverhead + len(t.Payload))
	if t.Over() {
		return n + uint64(len(t.Result)+len(t.Failure))
	}
	return n + s.room()
}

// room is what is reserved for the end of a task, so that none is refused for space: a result, or what is said of a
// failure. A task that waits again has the text of its last attempt in there.
func (s *Spec) room() uint64 { return max(uint64(s.MaxResult), MaxFailure) }

// Reserved is what an empty job counts against the limits.
func (s *Spec) Reserved() uint64 { return jobOverhead }

// LimitError says which limit a submission would exceed.
type LimitError struct {
	Limit  string // as in the settings
	Of     string // of what
	Needed uint64
	Max    uint64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s would be %d, and %s is %d", e.Of, e.Needed, e.Limit, e.Max)
}

// Check returns a *LimitError if tasks with these payloads cannot join the job, which is nil for a new one. semaphore
// and cluster are what the semaphore and the cluster store now.
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
			return &LimitError{"max_task_bytes", fmt.Sprintf("the payload of task %d of job %q", count+uint64(i), s.ID), uint64(len(p)), l.TaskBytes}
		}
		payload += uint64(len(p))
		stored += s.Stored(&Task{Payload: p})
	}
	for _, limit := range [...]LimitError{
		{"the most tasks of a job", fmt.Sprintf("the number of tasks of job %q", s.ID), count + uint64(len(payloads)), MaxTasks},
		{"max_job_bytes", fmt.Sprintf("the payloads of job %q", s.ID), payload, l.JobBytes},
	} {
		if limit.Needed > limit.Max {
			return &limit
		}
	}
	return l.Grow(s, stored, semaphore, cluster)
}

// Grow is Check for a job whose tasks will store so many bytes more.
func (l Limits) Grow(s *Spec, more, semaphore, cluster uint64) *LimitError {
	l = l.OrDefault()
	for _, limit := range [...]LimitError{
		{"max_semaphore_work_bytes", fmt.Sprintf("what is stored for jobs of semaphore %q", s.Semaphore), semaphore + more, l.SemaphoreBytes},
		{"max_work_bytes", "what the cluster stores for jobs", cluster + more, l.ClusterBytes},
	} {
		if limit.Needed > limit.Max {
			return &limit
		}
	}
	return nil
}
