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

// submits submits jobs under a few ids. It cuts submissions short, retries and changes them, and cancels and deletes
// jobs.
func (p *program) submits(end <-chan struct{}) {
	luck := luckOf(p.world.plan.seed, fmt.Sprint("submitter ", p.index))
	for {
		select {
		case <-end:
			return
		case <-time.After(between(luck, 50*time.Millisecond, 3*time.Second)):
		}
		now, id := p.now(), fmt.Sprintf("j%d-%d", p.index, luck.IntN(6))
		switch luck.IntN(8) {
		case 0:
			now.changesJob(id, luck)
		case 1, 2:
			now.deletes(id, luck)
		default:
			p.submitsOne(now, id, luck)
		}
	}
}

// submitsOne retries the submission of a job until the outcome is known, each time from the process that is running at
// the time.
func (p *program) submitsOne(now *process, id string, luck *rand.Rand) {
	spec := &gatekeeperv1.JobSpec{
		Id: id, Semaphore: workplaces()[luck.IntN(3)], MaxResult: new(uint32(64)), MaxAttempts: []uint32{0, 1, 2, 10}[luck.IntN(4)], RetryFailed: luck.IntN(2) == 0, Priority: luck.Int32N(3),
	}
	size, submitter, again := 10, luck.IntN(4) == 0, luck.IntN(2) == 0
	if luck.IntN(5) == 0 || submitter && again {
		size = 60_000 // spans several entries
	}
	var tasks [][]byte
	for i := range 1 + luck.IntN(9) {
		tasks = append(tasks, fmt.Appendf(nil, "%s %d %x %s", id, i, luck.Uint64(), strings.Repeat("x", size)))
	}
	if luck.IntN(8) == 0 {
		spec.Timeout = durationpb.New(between(luck, time.Second, 10*time.Second))
	}
	if submitter {
		asked := wish{semaphore: owners, weight: 1, identity: history.Identity{Group: now.group, Acquirer: now.acquirer, HolderID: "submitter"}}
		got, ok := now.ask(asked, fmt.Sprintf("r%x", luck.Uint64()), 0, luck)
		if !ok {
			return
		}
		spec.SubmitterToken = got.token
		if again { // the submitter acquires again, and the submission or the job follows it
			asking, own, after := now, rand.New(rand.NewPCG(luck.Uint64(), 2)), between(luck, 10*time.Millisecond, 500*time.Millisecond)
			p.late.Go(func() {
				pass(after)
				asking.ask(asked, fmt.Sprintf("r%x", own.Uint64()), 0, own)
			})
		}
	}
	cut := luck.IntN(6) == 0
	for range 6 {
		err := now.submit(spec, tasks, cut, luck)
		switch status.Code(err) {
		case codes.OK, codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition:
			if err != nil {
				return
			}
			switch luck.IntN(6) {
			case 0: // the same id with different content
				_ = now.submit(spec, append(slices.Clip(tasks), []byte("more")), false, luck) // the history records the outcome
			case 1, 2: // the same job again, possibly after its end, from another process
				pass(between(luck, 0, 5*time.Second))
				_ = p.now().submit(spec, tasks, false, luck)
			}
			return
		case codes.AlreadyExists:
			p.world.paths.met(jobDiffers)
			return
		default:
			if reasonOf(err) == "WORK_LIMIT" {
				p.world.paths.met(storageFull)
			}
		}
		if cut && luck.IntN(2) == 0 {
			return
		}
		p.world.paths.met(submittedAgain)
		pass(between(luck, 50*time.Millisecond, 800*time.Millisecond))
		now, cut = p.now(), false
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
func (p *process) submit(spec *gatekeeperv1.JobSpec, tasks [][]byte, cut bool, luck *rand.Rand) error {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	stream, err := c.SubmitJob(ctx)
	if err != nil {
		return err
	}
	w, job := p.world, history.JobOf(spec, tasks)
	job.Cut = cut
	answered := p.record.Call(history.Request{Kind: history.Submit, Semaphore: spec.GetSemaphore(), Job: job})
	first := true
	for left := tasks; first || len(left) > 0; first = false {
		n := min(len(left), 1+luck.IntN(4))
		m := &gatekeeperv1.SubmitJobRequest{Last: n == len(left)}
		if first {
			m.Job = spec
		}
		m.Tasks, left = left[:n], left[n:]
		if m.Last && cut {
			w.paths.met(submissionCut)
			pass(between(luck, 0, 300*time.Millisecond)) // let the messages arrive
			if luck.IntN(2) == 0 {
				return context.Canceled
			}
			_, err := stream.CloseAndRecv()
			return err
		}
		if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if luck.IntN(3) == 0 {
			pass(between(luck, 0, 200*time.Millisecond))
		}
	}
	r, err := stream.CloseAndRecv()
	switch {
	case p.isCrashed():
		return err
	case status.Code(err) == codes.AlreadyExists:
		answered(history.Known, history.Response{Result: history.Differs}, err)
		return err
	case err != nil:
		answered(history.Unknown, history.Response{}, err)
		return err
	}
	answered(history.Known, history.Response{Result: history.Submitted, Revision: r.GetJob().GetSubmittedRevision(), Repeated: r.GetRepeated()}, nil)
	if r.GetRepeated() {
		w.paths.met(jobRepeated)
	}
	if luck.IntN(2) == 0 {
		w.late.Go(func() {
			w.judge.follows(spec.GetId(), r.GetJob().GetSubmittedRevision(), rand.New(rand.NewPCG(luck.Uint64(), 1)))
		})
	}
	return nil
}

// followed holds everything that the streams of a job have delivered.
type followed struct {
	job   *gatekeeperv1.Job
	tasks map[uint32]*gatekeeperv1.Task
}

// follows follows a job until it ends, on one server after another.
func (p *process) follows(id string, submitted uint64, luck *rand.Rand) {
	f, after := followed{tasks: make(map[uint32]*gatekeeperv1.Task)}, uint64(0)
	answered := p.record.Call(history.Request{Kind: history.FollowJob, Job: &history.Job{ID: id}})
	for !closed(p.world.life.Done()) {
		over, gone := p.followsOnce(&f, &after, id, submitted, luck)
		switch {
		case gone:
			return
		case over:
			answered(history.Known, history.ReadJob(f.job, slices.Collect(maps.Values(f.tasks))), nil)
			p.world.paths.met(followedToEnd)
			return
		}
		pass(between(luck, 50*time.Millisecond, time.Second))
	}
}

func (p *process) followsOnce(f *followed, after *uint64, id string, submitted uint64, luck *rand.Rand) (over, gone bool) {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(p.world.life, between(luck, time.Second, 20*time.Second))
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

// changesJob makes a change to a job that an operator might make. The job may have been deleted, may have ended, or may
// have no failed tasks.
func (p *process) changesJob(id string, luck *rand.Rand) {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	switch luck.IntN(5) {
	case 0:
		p.changes(history.CancelJob, &history.Job{ID: id}, func() error {
			_, err := c.CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: "ops", Reason: "sim"})
			return err
		})
	case 1, 2:
		var indexes []uint32
		if luck.IntN(3) == 0 {
			indexes = []uint32{luck.Uint32N(4), luck.Uint32N(4)}
		}
		p.changesTasks(ctx, c, history.RetryTasks, id, indexes, luck)
	default:
		p.changesTasks(ctx, c, history.DropTasks, id, []uint32{luck.Uint32N(4)}, luck)
	}
}

// changesTasks retries or drops failed tasks, often only those that had failed when it last checked. It then repeats
// the call, which must have no effect.
func (p *process) changesTasks(ctx context.Context, c gatekeeperv1.WorkServiceClient, what history.Kind, id string, indexes []uint32, luck *rand.Rand) {
	asOf := uint64(0)
	if luck.IntN(3) > 0 {
		seen, err := c.GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: id})
		if err != nil {
			return
		}
		asOf = seen.GetJob().GetRevision()
		pass(between(luck, 0, 500*time.Millisecond))
	}
	change := func() (tasks uint32, done bool) {
		done = p.changes(what, &history.Job{ID: id, Indexes: indexes}, func() error {
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
	pass(between(luck, 0, 500*time.Millisecond))
	switch tasks, done := change(); {
	case !done || p.isCrashed():
	case tasks > 0:
		p.world.wrong("a second %s call as of revision %d changed %d tasks of job %q", what, asOf, tasks, id)
	default:
		p.world.paths.met(repeatedChange)
	}
}

func (p *process) deletes(id string, luck *rand.Rand) {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	submitted, before := p.submissionOf(ctx, c, id, luck)
	deleted := p.changes(history.DeleteJob, &history.Job{ID: id, Submission: submitted}, func() error {
		_, err := c.DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: id, SubmittedRevision: submitted})
		if before && reasonOf(err) == "NO_SUCH_JOB" {
			p.world.paths.met(staleDelete)
		}
		return err
	})
	if deleted {
		p.world.paths.met(jobDeleted)
	}
}

// submissionOf chooses which submission under an id to delete: any submission (0), the current one, or the previous
// one, as a late call would.
func (p *process) submissionOf(ctx context.Context, c gatekeeperv1.WorkServiceClient, id string, luck *rand.Rand) (revision uint64, before bool) {
	draw := luck.IntN(3)
	if draw == 0 {
		return 0, false
	}
	w := p.world
	w.seenMu.Lock()
	was := w.submissions[id]
	w.seenMu.Unlock()
	r, err := c.GetJob(ctx, &gatekeeperv1.GetJobRequest{Id: id})
	is := r.GetJob().GetSubmittedRevision()
	if err != nil || is == 0 {
		return 0, false
	}
	w.seenMu.Lock()
	w.submissions[id] = max(w.submissions[id], is)
	w.seenMu.Unlock()
	if draw == 1 && was != 0 && was < is {
		return was, true
	}
	return is, false
}

// changes records an operator's change to a job, and reports whether the change succeeded.
func (p *process) changes(what history.Kind, job *history.Job, act func() error) bool {
	answered := p.record.Call(history.Request{Kind: what, Job: job})
	err := act()
	switch {
	case p.isCrashed():
	case err == nil:
		answered(history.Known, history.Response{Result: history.Done}, nil)
		return true
	default:
		answered(history.Unknown, history.Response{}, err)
	}
	return false
}

// jobsEnd waits until every job has ended, and then reads all of them.
func (w *world) jobsEnd() {
	luck := luckOf(w.plan.seed, "jobs end")
	for range 300 {
		pass(time.Second)
		c, hangUp := w.judge.to(luck)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		w.operator.clear(ctx)
		r, err := c.ListJobs(ctx, &gatekeeperv1.ListJobsRequest{PageSize: 1000})
		if err == nil && !slices.ContainsFunc(r.GetJobs(), func(j *gatekeeperv1.Job) bool { return !j.GetOver() }) {
			err = w.judge.readsJobs(ctx, c)
		} else {
			err = errors.Join(err, errJobsGoOn)
		}
		cancel()
		hangUp()
		if err == nil {
			return
		}
	}
}

var errJobsGoOn = errors.New("not all jobs have ended")

// readsJobs reads every id that has ever been submitted.
func (p *process) readsJobs(ctx context.Context, c gatekeeperv1.WorkServiceClient) error {
	ids := map[string]bool{}
	for _, e := range p.world.history.Entries() {
		if e.Call != nil && e.Call.Request.Kind == history.Submit {
			ids[e.Call.Request.Job.ID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		answered := p.record.Call(history.Request{Kind: history.JobEnd, Job: &history.Job{ID: id}})
		r, err := c.ListTasks(ctx, &gatekeeperv1.ListTasksRequest{Job: id, Results: true, PageSize: 1000})
		switch {
		case status.Code(err) == codes.NotFound:
			answered(history.Known, history.Response{Result: history.NoJob}, nil)
		case err != nil:
			answered(history.Unknown, history.Response{}, err)
			return err
		default:
			answered(history.Known, history.ReadJob(r.GetJob(), r.GetTasks()), nil)
		}
	}
	return nil
}
