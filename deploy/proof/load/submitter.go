package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// submitter submits jobs, including jobs that it, a previous process, or another submitter has already submitted. A
// job's content depends only on its id, so every submitter submits the same content.
type submitter struct {
	*libraryClient
	random *rand.Rand
	fresh  int
}

// Submit runs a submitter until the context is done. It is the main function of a separate process.
func Submit(ctx context.Context, name, host string, opts Options) error {
	l, err := newLibrary(ctx, opts, name, host, &steppedClock{rate: 1})
	if err != nil {
		return err
	}
	defer l.client.Close()
	s := &submitter{libraryClient: l, random: newRandom(opts.Seed, name)}
	for ctx.Err() == nil {
		s.step(ctx)
		pause(ctx, time.Duration(s.random.IntN(150))*time.Millisecond)
	}
	return nil
}

// pick returns a new job id, or one that this host or another submitter may already have used.
func (s *submitter) pick() string {
	semaphore := []string{"work/0", "work/0", "work/1"}[s.random.IntN(3)]
	switch n := s.random.IntN(10); {
	case n < 5:
		s.fresh++
		return fmt.Sprintf("%s:%s.%d", semaphore, s.Client(), s.fresh)
	case n < 8:
		return fmt.Sprintf("%s:%s.%d", semaphore, s.host, s.random.IntN(12))
	}
	return fmt.Sprintf("%s:all.%d", semaphore, s.random.IntN(12))
}

// hashOf returns a number that depends on the id and determines what kind of job it is.
func hashOf(id string) int {
	h := fnv.New32()
	h.Write([]byte(id))
	return int(h.Sum32() >> 1)
}

// jobOf returns the job with the given id. Some jobs allow few attempts, so that some tasks fail permanently.
func jobOf(id string) (work.Job, [][]byte) {
	n := hashOf(id)
	job := work.Job{
		ID: id, Semaphore: semaphoreOf(id), MaxAttempts: []int{0, 2, 5, 0}[n%4], RetryFailed: n%3 == 0, Priority: int32(n % 2), MaxResult: 64, Retention: time.Hour,
	}
	if n%16 == 1 {
		job.Timeout = 2 * time.Second
	}
	size := 10
	if n%10 == 9 {
		size = 60_000 // more than one log entry
	}
	var tasks [][]byte
	for i := range 1 + n%7 {
		tasks = append(tasks, append(fmt.Appendf(nil, "%s %d ", id, i), bytes.Repeat([]byte{'x'}, size)...))
	}
	return job, tasks
}

func (s *submitter) step(ctx context.Context) {
	id := s.pick()
	job, tasks := jobOf(id)
	var cut bool
	switch n := s.random.IntN(20); {
	case n < 2:
		cut = true
	case n < 4:
		tasks = append(tasks, []byte("another task")) // reuse the id with different content
	case n < 7 && s.operate(ctx, id):
		return
	}
	if hashOf(id)%8 == 5 {
		job.OnSubmitterLoss = work.SubmitterCancel
		callCtx, cancel := context.WithTimeout(ctx, 2*time.Second)
		permit, err := s.client.Semaphore(ownerName, client.WithAcquirer(s.host), client.WithHolderID(id)).TryAcquire(callCtx)
		cancel()
		if err != nil {
			return
		}
		job.Submitter = permit
		defer func() { // releasing the permit cancels an unfinished job
			releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = permit.Release(releaseCtx) // if the release fails, the permit expires
		}()
	}
	if s.submit(ctx, job, tasks, cut) && s.random.IntN(10) < 7 {
		s.follow(ctx, id)
	}
}

// errAborted aborts a submission partway through.
var errAborted = errors.New("the submission was aborted")

// submit submits a job and reports whether it was stored.
func (s *submitter) submit(ctx context.Context, job work.Job, tasks [][]byte, cut bool) bool {
	recorded := history.JobOf(&gatekeeperv1.JobSpec{Id: job.ID, MaxAttempts: uint32(job.MaxAttempts), RetryFailed: job.RetryFailed}, tasks)
	recorded.Timeout, recorded.Submitter, recorded.Cut = job.Timeout > 0, job.Submitter != nil, cut
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond+time.Duration(s.random.IntN(4000))*time.Millisecond)
	defer cancel()
	done := s.Call(history.Request{Kind: history.Submit, Semaphore: job.Semaphore, Job: recorded})
	got, err := work.SubmitSeq(ctx, s.client, job, payloads(tasks, cut))
	_, differs := errors.AsType[*client.JobDiffersError](err)
	switch {
	case differs:
		done(history.Known, history.Response{Result: history.Differs}, err)
	case err != nil:
		done(history.Unknown, history.Response{}, err)
	default:
		done(history.Known, history.Response{Result: history.Submitted, Revision: got.Job.GetSubmittedRevision(), Repeated: got.Repeated}, nil)
	}
	return err == nil
}

func payloads(tasks [][]byte, cut bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i, t := range tasks {
			if cut && i == len(tasks)-1 {
				yield(nil, errAborted)
				return
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// follow follows a job until it finishes or the call times out.
func (s *submitter) follow(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(500+s.random.IntN(3000))*time.Millisecond)
	defer cancel()
	done := s.Call(history.Request{Kind: history.FollowJob, Semaphore: semaphoreOf(id), Job: &history.Job{ID: id}})
	tasks := map[uint32]*gatekeeperv1.Task{}
	var last *work.Change
	for change, err := range work.Follow(ctx, s.client, id, 0) {
		if err != nil {
			done(history.Unknown, history.Response{}, err)
			return
		}
		if last != nil && last.Job.GetSubmittedRevision() != change.Job.GetSubmittedRevision() {
			clear(tasks) // the job was deleted and submitted again
		}
		for _, t := range change.Tasks {
			tasks[t.GetIndex()] = t
		}
		last = change
	}
	if last == nil || !last.Ended() {
		return
	}
	var all []*gatekeeperv1.Task
	for _, t := range tasks {
		all = append(all, t)
	}
	done(history.Known, history.ReadJob(last.Job, all), nil)
}

// operate makes the change, if any, that an operator makes to jobs of this kind. It reports whether it made one.
func (s *submitter) operate(ctx context.Context, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	kinds := map[int]history.Kind{0: history.DeleteJob, 1: history.CancelJob, 2: history.RetryTasks, 3: history.DropTasks}
	kind, ok := kinds[hashOf(id)%6]
	if !ok {
		return false
	}
	done := s.Call(history.Request{Kind: kind, Semaphore: semaphoreOf(id), Job: &history.Job{ID: id}})
	var err error
	switch kind {
	case history.DeleteJob:
		err = work.Delete(ctx, s.client, id)
	case history.CancelJob:
		_, err = work.Cancel(ctx, s.client, id, "proof")
	case history.RetryTasks:
		_, err = work.Retry(ctx, s.client, id)
	case history.DropTasks:
		_, err = work.Drop(ctx, s.client, id)
	}
	if err != nil {
		done(history.Unknown, history.Response{}, err)
	} else {
		done(history.Known, history.Response{Result: history.Done}, nil)
	}
	return true
}

// AwaitJobs waits until every job has finished. Workers must be running.
func (c *Clients) AwaitJobs(ctx context.Context) error {
	for {
		unfinished, err := c.unfinished(ctx)
		if err == nil && len(unfinished) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("unfinished jobs: %v: %w", unfinished, cmp.Or(err, ctx.Err()))
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// unfinished describes the jobs that have not finished.
func (c *Clients) unfinished(ctx context.Context) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	on := c.servers.randomServer(c.operator.random)
	for page := ""; ; {
		r, err := on.work.ListJobs(ctx, &gatekeeperv1.ListJobsRequest{PageSize: 1000, PageToken: page})
		if err != nil {
			return nil, err
		}
		for _, j := range r.GetJobs() {
			// Servers drop incomplete submissions after a minute.
			if !j.GetOver() && j.GetState() != gatekeeperv1.JobState_JOB_STATE_RECEIVING {
				ids = append(ids, fmt.Sprintf("%s (%v, %d waiting, %d held)", j.GetSpec().GetId(), j.GetState(), j.GetWaiting(), j.GetHeld()))
			}
		}
		if page = r.GetNextPageToken(); page == "" {
			return ids, nil
		}
	}
}
