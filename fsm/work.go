package fsm

import (
	"iter"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// jobTrees holds the jobs and their tasks.
type jobTrees struct {
	numbers *btree.Map[uint64, *work.Job]
	ids     *btree.Map[string, uint64]
	tasks   *btree.BTreeG[*work.Task] // by Ref

	// The fields below are derived.

	open     *btree.BTreeG[*work.Job]       // jobs that hand out tasks, in the order in which workers get them
	returned *btree.BTreeG[work.Ref]        // waiting tasks that have been handed out before
	tokens   *btree.Map[uint64, *work.Task] // tasks by the token of the last permit that carried them
	totals   *btree.Map[string, Work]       // by semaphore
	bytes    uint64
}

// Work summarizes the jobs of one semaphore or of all semaphores.
type Work struct {
	// Waiting is the number of tasks available to workers, and Held is the number of tasks that they hold.
	Waiting, Held uint64
	// Bytes is the number of bytes stored and reserved.
	Bytes uint64
	Jobs  int
}

func newJobTrees() jobTrees {
	return jobTrees{
		numbers:  btree.NewMap[uint64, *work.Job](0),
		ids:      btree.NewMap[string, uint64](0),
		tasks:    newTree(func(a, b *work.Task) bool { return a.Ref.Compare(b.Ref) < 0 }),
		open:     newTree(func(a, b *work.Job) bool { return a.Compare(b) < 0 }),
		returned: newTree(func(a, b work.Ref) bool { return a.Compare(b) < 0 }),
		tokens:   btree.NewMap[uint64, *work.Task](0),
		totals:   btree.NewMap[string, Work](0),
	}
}

func (j jobTrees) fork() jobTrees {
	j.numbers, j.ids, j.tasks = j.numbers.Copy(), j.ids.Copy(), j.tasks.Copy()
	j.open, j.returned, j.tokens, j.totals = j.open.Copy(), j.returned.Copy(), j.tokens.Copy(), j.totals.Copy()
	return j
}

// Job returns the job with the given id, or nil.
func (s *State) Job(id string) *work.Job {
	number, _ := s.jobs.ids.Get(id)
	return s.JobByNumber(number)
}

// JobByNumber returns the job with the given number, or nil.
func (s *State) JobByNumber(number uint64) *work.Job {
	j, _ := s.jobs.numbers.Get(number)
	return j
}

// Jobs returns the jobs with numbers at or after from, in the order in which their submissions began.
func (s *State) Jobs(from uint64) iter.Seq[*work.Job] {
	return func(yield func(*work.Job) bool) {
		s.jobs.numbers.Ascend(from, func(_ uint64, j *work.Job) bool { return yield(j) })
	}
}

// JobCount returns the number of jobs, including those that are still being submitted.
func (s *State) JobCount() int { return s.jobs.numbers.Len() }

// OpenJobs returns a semaphore's jobs that hand out tasks, in the order in which workers get those tasks.
func (s *State) OpenJobs(sem string) iter.Seq[*work.Job] {
	return func(yield func(*work.Job) bool) {
		s.jobs.open.Ascend(&work.Job{Spec: &work.Spec{Semaphore: sem, Priority: maxPriority}}, func(j *work.Job) bool {
			return j.Semaphore == sem && yield(j)
		})
	}
}

const maxPriority = 1<<31 - 1

// Task returns a task, or nil.
func (s *State) Task(ref work.Ref) *work.Task {
	t, _ := s.jobs.tasks.Get(&work.Task{Ref: ref})
	return t
}

// Tasks returns a job's tasks, starting at the given index.
func (s *State) Tasks(job uint64, from uint32) iter.Seq[*work.Task] {
	return func(yield func(*work.Task) bool) {
		s.jobs.tasks.Ascend(&work.Task{Ref: work.Ref{Job: job, Index: from}}, func(t *work.Task) bool {
			return t.Job == job && yield(t)
		})
	}
}

// TaskOf returns the task that the permit with the given token carries or was the last to carry, or nil.
func (s *State) TaskOf(token uint64) *work.Task {
	t, _ := s.jobs.tokens.Get(token)
	return t
}

// Work returns a summary of a semaphore's jobs.
func (s *State) Work(sem string) Work {
	totals, _ := s.jobs.totals.Get(sem)
	return totals
}

// WorkBySemaphore returns a summary for each semaphore that has jobs, sorted by name.
func (s *State) WorkBySemaphore() iter.Seq2[string, Work] {
	return func(yield func(string, Work) bool) { s.jobs.totals.Scan(yield) }
}

// AllWork returns a summary of all jobs.
func (s *State) AllWork() (all Work) {
	for _, w := range s.WorkBySemaphore() {
		all.Waiting += w.Waiting
		all.Held += w.Held
		all.Bytes += w.Bytes
		all.Jobs += w.Jobs
	}
	return all
}

// WorkBytes returns the number of bytes stored and reserved for all jobs.
func (s *State) WorkBytes() uint64 { return s.jobs.bytes }

// NextTask returns the task that a semaphore's next worker gets, and its job, or nil if no task is waiting.
func (s *State) NextTask(sem string) (*work.Job, *work.Task) {
	for j := range s.OpenJobs(sem) {
		ref := work.Ref{Job: j.Number, Index: j.Fresh}
		if j.Returned > 0 {
			s.jobs.returned.Ascend(work.Ref{Job: j.Number}, func(first work.Ref) bool {
				ref = first
				return false
			})
		}
		return j, s.Task(ref)
	}
	return nil, nil
}

// A submitter is a permit on which a job depends: when the permit ends, the job is cancelled.
type submitter struct{ token, job uint64 }

func submitterBefore(a, b submitter) bool {
	if a.token != b.token {
		return a.token < b.token
	}
	return a.job < b.job
}

// setJob replaces old with now. If old is nil, it adds a job. If now is nil, it removes one, whose tasks must already
// have been removed.
func (d *draft) setJob(old, now *work.Job) {
	if old != nil {
		d.addWork(old, ^uint64(0)) // -1
		if old.HasWaitingTasks() {
			d.jobs.open.Delete(old)
		}
		if old.Submitter != 0 {
			d.submitters.Delete(submitter{old.Submitter, old.Number})
		}
		if now == nil {
			d.jobs.numbers.Delete(old.Number)
			d.jobs.ids.Delete(old.ID)
		}
	}
	if now != nil {
		d.addWork(now, 1)
		d.jobs.numbers.Set(now.Number, now)
		if old == nil {
			d.jobs.ids.Set(now.ID, now.Number)
		}
		if now.HasWaitingTasks() {
			d.jobs.open.Set(now)
		}
		if now.Submitter != 0 && !now.Finished() {
			d.submitters.Set(submitter{now.Submitter, now.Number})
		}
	}
}

// addWork adds a job to the summaries if sign is 1 and subtracts it if sign is -1.
func (d *draft) addWork(j *work.Job, sign uint64) {
	totals := d.Work(j.Semaphore)
	if j.HasWaitingTasks() {
		totals.Waiting += sign * uint64(j.Waiting())
	}
	totals.Held += sign * uint64(j.Held)
	totals.Bytes += sign * j.Bytes
	totals.Jobs += int(sign)
	d.jobs.bytes += sign * j.Bytes
	if totals == (Work{}) {
		d.jobs.totals.Delete(j.Semaphore)
	} else {
		d.jobs.totals.Set(j.Semaphore, totals)
	}
}

// setTask replaces old with now and updates the counts in j, the copy of their job that the caller is about to store.
// If a task is handed out for the first time, the caller must already have raised j.Fresh above its index.
func (d *draft) setTask(j *work.Job, old, now *work.Task) {
	if old != nil {
		j.Bytes -= j.Stored(old)
		*counter(j, old)--
		if old.State == work.Waiting {
			d.jobs.returned.Delete(old.Ref)
		}
		if old.Token != 0 && (now == nil || now.Token != old.Token) {
			d.jobs.tokens.Delete(old.Token)
		}
		if now == nil {
			d.jobs.tasks.Delete(old)
		}
	}
	if now != nil {
		now.Revision = d.revision
		d.addTask(j, now)
	}
	j.Revision = d.revision
}

// addTask adds a new task like setTask, but keeps its revision.
func (d *draft) addTask(j *work.Job, t *work.Task) {
	j.Bytes += j.Stored(t)
	*counter(j, t)++
	if t.State == work.Waiting && t.Index < j.Fresh {
		d.jobs.returned.Set(t.Ref)
	}
	if t.Token != 0 {
		d.jobs.tokens.Set(t.Token, t)
	}
	d.jobs.tasks.Set(t)
}

// counter returns the field of a job that counts the task. Tasks that were never handed out are counted only by Tasks
// and Fresh.
func counter(j *work.Job, t *work.Task) *uint32 {
	switch t.State {
	case work.Held:
		return &j.Held
	case work.Done:
		return &j.Done
	case work.Failed:
		return &j.Failed
	case work.Dropped:
		return &j.Dropped
	case work.Waiting, work.TaskCancelled:
		if t.Index < j.Fresh {
			return &j.Returned
		}
	}
	return new(uint32)
}
