package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// submitJobs submits jobs under a few ids. It cuts submissions short, retries and changes them, and cancels and deletes
// jobs.
func (p *program) submitJobs(end <-chan struct{}) {
	rng := rngFor(p.world.plan.seed, fmt.Sprint("submitter ", p.index))
	for {
		select {
		case <-end:
			return
		case <-time.After(between(rng, 50*time.Millisecond, 3*time.Second)):
		}
		proc, id := p.currentProcess(), fmt.Sprintf("j%d-%d", p.index, rng.IntN(6))
		switch rng.IntN(8) {
		case 0:
			proc.changeJob(id, rng)
		case 1, 2:
			proc.deleteJob(id, rng)
		default:
			p.submitOne(proc, id, rng)
		}
	}
}

// submitOne submits a job, and retries until the outcome is known. A retry comes from the process that is running by
// then.
func (p *program) submitOne(proc *process, id string, rng *rand.Rand) {
	spec := &gatekeeperv1.JobSpec{
		Id: id, Semaphore: taskSemaphores()[rng.IntN(3)], MaxResult: new(uint32(64)), MaxAttempts: []uint32{0, 1, 2, 10}[rng.IntN(4)], RetryFailed: rng.IntN(2) == 0, Priority: rng.Int32N(3),
	}
	size, submitter, reacquires := 10, rng.IntN(4) == 0, rng.IntN(2) == 0
	if rng.IntN(5) == 0 || submitter && reacquires {
		size = 60_000 // spans several entries
	}
	var tasks [][]byte
	for i := range 1 + rng.IntN(9) {
		tasks = append(tasks, fmt.Appendf(nil, "%s %d %x %s", id, i, rng.Uint64(), strings.Repeat("x", size)))
	}
	if rng.IntN(8) == 0 {
		spec.Timeout = durationpb.New(between(rng, time.Second, 10*time.Second))
	}
	if submitter {
		ownerAcquire := jobSpec{semaphore: ownersSem, weight: 1, identity: history.Identity{Group: proc.group, Acquirer: proc.acquirer, HolderID: "submitter"}}
		got, ok := proc.acquireDirect(ownerAcquire, fmt.Sprintf("r%x", rng.Uint64()), 0, rng)
		if !ok {
			return
		}
		spec.SubmitterToken = got.token
		if reacquires { // the submitter acquires again, and the submission or the job follows it
			owner, ownRNG, after := proc, rand.New(rand.NewPCG(rng.Uint64(), 2)), between(rng, 10*time.Millisecond, 500*time.Millisecond)
			p.lateCalls.Go(func() {
				advance(after)
				owner.acquireDirect(ownerAcquire, fmt.Sprintf("r%x", ownRNG.Uint64()), 0, ownRNG)
			})
		}
	}
	cut := rng.IntN(6) == 0
	for range 6 {
		err := proc.submit(spec, tasks, cut, rng)
		switch status.Code(err) {
		case codes.OK, codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition:
			if err != nil {
				return
			}
			switch rng.IntN(6) {
			case 0: // the same id with different content
				_ = proc.submit(spec, append(slices.Clip(tasks), []byte("more")), false, rng) // the history records the outcome
			case 1, 2: // the same job again, possibly from another process and after the job has ended
				advance(between(rng, 0, 5*time.Second))
				_ = p.currentProcess().submit(spec, tasks, false, rng)
			}
			return
		case codes.AlreadyExists:
			p.world.paths.inc(jobDiffers)
			return
		default:
			if reasonOf(err) == "WORK_LIMIT" {
				p.world.paths.inc(storageFull)
			}
		}
		if cut && rng.IntN(2) == 0 {
			return
		}
		p.world.paths.inc(submittedAgain)
		advance(between(rng, 50*time.Millisecond, 800*time.Millisecond))
		proc, cut = p.currentProcess(), false
	}
}

// limitWork limits the storage for jobs, so that a few large jobs reach the limit, even partway through a submission.
func (o *operator) limitWork() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := o.client.Cluster().SetSettings(ctx, &gatekeeperv1.SetSettingsRequest{
		Settings: &gatekeeperv1.Settings{MaxSemaphoreWorkBytes: new(uint64(700_000))}, Author: "ops", Reason: "sim",
	})
	o.world.must(err)
}

// submit sends a job in messages of random size. If cut is set, it stops partway through.
func (p *process) submit(spec *gatekeeperv1.JobSpec, tasks [][]byte, cut bool, rng *rand.Rand) error {
	c, closeConn := p.dialAny(rng)
	defer closeConn()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	stream, err := c.SubmitJob(ctx)
	if err != nil {
		return err
	}
	w, job := p.world, history.JobOf(spec, tasks)
	job.Cut = cut
	complete := p.record.Call(history.Request{Kind: history.Submit, Semaphore: spec.GetSemaphore(), Job: job})
	first := true
	for left := tasks; first || len(left) > 0; first = false {
		n := min(len(left), 1+rng.IntN(4))
		m := &gatekeeperv1.SubmitJobRequest{Last: n == len(left)}
		if first {
			m.Job = spec
		}
		m.Tasks, left = left[:n], left[n:]
		if m.Last && cut {
			w.paths.inc(submissionCut)
			advance(between(rng, 0, 300*time.Millisecond)) // let the messages arrive
			if rng.IntN(2) == 0 {
				return context.Canceled
			}
			_, err := stream.CloseAndRecv()
			return err
		}
		if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if rng.IntN(3) == 0 {
			advance(between(rng, 0, 200*time.Millisecond))
		}
	}
	r, err := stream.CloseAndRecv()
	switch {
	case p.isCrashed():
		return err
	case status.Code(err) == codes.AlreadyExists:
		complete(history.Known, history.Response{Result: history.Differs}, err)
		return err
	case err != nil:
		complete(history.Unknown, history.Response{}, err)
		return err
	}
	complete(history.Known, history.Response{Result: history.Submitted, Revision: r.GetJob().GetSubmittedRevision(), Repeated: r.GetRepeated()}, nil)
	if r.GetRepeated() {
		w.paths.inc(jobRepeated)
	}
	if rng.IntN(2) == 0 {
		w.lateCalls.Go(func() {
			w.judge.followJob(spec.GetId(), r.GetJob().GetSubmittedRevision(), rand.New(rand.NewPCG(rng.Uint64(), 1)))
		})
	}
	return nil
}

// followedJob holds everything received from a job's streams.
type followedJob struct {
	job   *gatekeeperv1.Job
	tasks map[uint32]*gatekeeperv1.Task
}

// followJob follows a job until it ends. When a stream ends early, it reconnects to a random server.
func (p *process) followJob(id string, submitted uint64, rng *rand.Rand) {
	f, after := followedJob{tasks: make(map[uint32]*gatekeeperv1.Task)}, uint64(0)
	complete := p.record.Call(history.Request{Kind: history.FollowJob, Job: &history.Job{ID: id}})
	for !closed(p.world.ctx.Done()) {
		over, gone := p.followOnce(&f, &after, id, submitted, rng)
		switch {
		case gone:
			return
		case over:
			complete(history.Known, history.ReadJob(f.job, slices.Collect(maps.Values(f.tasks))), nil)
			p.world.paths.inc(followedUntilEnd)
			return
		}
		advance(between(rng, 50*time.Millisecond, time.Second))
	}
}

func (p *process) followOnce(f *followedJob, after *uint64, id string, submitted uint64, rng *rand.Rand) (over, gone bool) {
	c, closeConn := p.dialAny(rng)
	defer closeConn()
	ctx, cancel := context.WithTimeout(p.world.ctx, between(rng, time.Second, 20*time.Second))
	defer cancel()
	stream, err := c.FollowJob(ctx, &gatekeeperv1.FollowJobRequest{Id: id, AfterRevision: *after, Results: true})
	if err != nil {
		return false, false
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return errors.Is(err, io.EOF) && f.job.GetOver(), status.Code(err) == codes.NotFound
		}
		if m.GetJob() != nil {
			if f.job = m.GetJob(); f.job.GetSubmittedRevision() != submitted {
				return false, true // another job with that id
			}
		}
		for _, t := range m.GetTasks() {
			f.tasks[t.GetIndex()] = t
		}
		*after = max(*after, m.GetRevision())
	}
}

// changeJob cancels a job, or retries or drops its failed tasks. The job may have been deleted, may have ended, or may
// have no failed tasks.
func (p *process) changeJob(id string, rng *rand.Rand) {
	c, closeConn := p.dialAny(rng)
	defer closeConn()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	switch rng.IntN(5) {
	case 0:
		p.recordChange(history.CancelJob, &history.Job{ID: id}, func() error {
			_, err := c.CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: "ops", Reason: "sim"})
			return err
		})
	case 1, 2:
		var indexes []uint32
		if rng.IntN(3) == 0 {
			indexes = []uint32{rng.Uint32N(4), rng.Uint32N(4)}
		}
		p.changeTasks(ctx, c, history.RetryTasks, id, indexes, rng)
	default:
		p.changeTasks(ctx, c, history.DropTasks, id, []uint32{rng.Uint32N(4)}, rng)
	}
}

// changeTasks retries or drops failed tasks. Usually it limits the call to tasks that had failed as of the revision it
// read, and then repeats the call, which must have no effect.
func (p *process) changeTasks(ctx context.Context, c gatekeeperv1.WorkServiceClient, what history.Kind, id string, indexes []uint32, rng *rand.Rand) {
	asOf := uint64(0)
	if rng.IntN(3) > 0 {
		seen, err := c.GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: id})
		if err != nil {
			return
		}
		asOf = seen.GetJob().GetRevision()
		advance(between(rng, 0, 500*time.Millisecond))
	}
	change := func() (tasks uint32, done bool) {
		done = p.recordChange(what, &history.Job{ID: id, Indexes: indexes}, func() error {
			if what == history.RetryTasks {
				r, err := c.RetryTasks(ctx, &gatekeeperv1.RetryTasksRequest{Id: id, Indexes: indexes, AsOf: asOf})
				tasks = r.GetTasks()
				return err
			}
			r, err := c.DropTasks(ctx, &gatekeeperv1.DropTasksRequest{Id: id, Indexes: indexes, AsOf: asOf})
			tasks = r.GetTasks()
			return err
		})
		return tasks, done
	}
	if _, done := change(); !done || asOf == 0 {
		return
	}
	advance(between(rng, 0, 500*time.Millisecond))
	switch tasks, done := change(); {
	case !done || p.isCrashed():
	case tasks > 0:
		p.world.failf("a second %s call as of revision %d changed %d tasks of job %q", what, asOf, tasks, id)
	default:
		p.world.paths.inc(repeatedChange)
	}
}

func (p *process) deleteJob(id string, rng *rand.Rand) {
	c, closeConn := p.dialAny(rng)
	defer closeConn()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	submitted, isPrevious := p.chooseSubmission(ctx, c, id, rng)
	deleted := p.recordChange(history.DeleteJob, &history.Job{ID: id, Submission: submitted}, func() error {
		_, err := c.DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: id, SubmittedRevision: submitted})
		if isPrevious && reasonOf(err) == "NO_SUCH_JOB" {
			p.world.paths.inc(staleDelete)
		}
		return err
	})
	if deleted {
		p.world.paths.inc(jobDeleted)
	}
}

// chooseSubmission chooses which submission under an id to delete: any submission (0), the current one, or the previous
// one, as a late call would.
func (p *process) chooseSubmission(ctx context.Context, c gatekeeperv1.WorkServiceClient, id string, rng *rand.Rand) (revision uint64, isPrevious bool) {
	draw := rng.IntN(3)
	if draw == 0 {
		return 0, false
	}
	w := p.world
	w.seenMu.Lock()
	previous := w.submissions[id]
	w.seenMu.Unlock()
	r, err := c.GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: id})
	current := r.GetJob().GetSubmittedRevision()
	if err != nil || current == 0 {
		return 0, false
	}
	w.seenMu.Lock()
	w.submissions[id] = max(w.submissions[id], current)
	w.seenMu.Unlock()
	if draw == 1 && previous != 0 && previous < current {
		return previous, true
	}
	return current, false
}

// recordChange records an operator's change to a job, and reports whether the change succeeded.
func (p *process) recordChange(what history.Kind, job *history.Job, act func() error) bool {
	complete := p.record.Call(history.Request{Kind: what, Job: job})
	err := act()
	switch {
	case p.isCrashed():
	case err == nil:
		complete(history.Known, history.Response{Result: history.Done}, nil)
		return true
	default:
		complete(history.Unknown, history.Response{}, err)
	}
	return false
}

// awaitJobs waits until every job has ended, and then reads all of them.
func (w *world) awaitJobs() {
	rng := rngFor(w.plan.seed, "jobs end")
	for range 300 {
		advance(time.Second)
		c, closeConn := w.judge.dialAny(rng)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		w.operator.clear(ctx)
		r, err := c.ListJobs(ctx, &gatekeeperv1.ListJobsRequest{PageSize: 1000})
		if err == nil && !slices.ContainsFunc(r.GetJobs(), func(j *gatekeeperv1.Job) bool { return !j.GetOver() }) {
			err = w.judge.readJobs(ctx, c)
		} else {
			err = errors.Join(err, errJobsRunning)
		}
		cancel()
		closeConn()
		if err == nil {
			return
		}
	}
}

var errJobsRunning = errors.New("not all jobs have ended")

// readJobs reads the jobs under all submitted ids.
func (p *process) readJobs(ctx context.Context, c gatekeeperv1.WorkServiceClient) error {
	ids := map[string]bool{}
	for _, e := range p.world.history.Entries() {
		if e.Call != nil && e.Call.Request.Kind == history.Submit {
			ids[e.Call.Request.Job.ID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		complete := p.record.Call(history.Request{Kind: history.JobEnd, Job: &history.Job{ID: id}})
		r, err := c.ListTasks(ctx, &gatekeeperv1.ListTasksRequest{Job: id, Results: true, PageSize: 1000})
		switch {
		case status.Code(err) == codes.NotFound:
			complete(history.Known, history.Response{Result: history.NoJob}, nil)
		case err != nil:
			complete(history.Unknown, history.Response{}, err)
			return err
		default:
			complete(history.Known, history.ReadJob(r.GetJob(), r.GetTasks()), nil)
		}
	}
	return nil
}
