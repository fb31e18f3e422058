package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// submits has jobs submitted under few ids, cut, repeated, changed, cancelled and deleted.
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

// submitsOne submits a job until the outcome is known, each time from the process that lives then.
func (p *program) submitsOne(now *process, id string, luck *rand.Rand) {
	spec := &gatekeeperv1.JobSpec{
		Id: id, Semaphore: shares, MaxResult: new(uint32(64)), MaxAttempts: []uint32{0, 1, 2, 10}[luck.IntN(4)], RetryFailed: luck.IntN(2) == 0, Priority: luck.Int32N(3),
	}
	size := 10
	if luck.IntN(5) == 0 {
		size = 60_000 // several entries
	}
	var tasks []string
	for i := range 1 + luck.IntN(9) {
		tasks = append(tasks, fmt.Sprintf("%s %d %x %s", id, i, luck.Uint64(), strings.Repeat("x", size)))
	}
	if luck.IntN(8) == 0 {
		spec.Timeout = durationpb.New(between(luck, time.Second, 10*time.Second))
	}
	if luck.IntN(4) == 0 {
		asked := wish{semaphore: owners, weight: 1, identity: history.Identity{Group: now.group, Acquirer: now.acquirer, HolderID: "submitter"}}
		got, ok := now.ask(asked, fmt.Sprintf("r%x", luck.Uint64()), 0, luck)
		if !ok {
			return
		}
		spec.SubmitterToken = got.token
		if luck.IntN(2) == 0 { // it acquires again, and the job follows it
			now.ask(asked, fmt.Sprintf("r%x", luck.Uint64()), 0, luck)
		}
	}
	cut := luck.IntN(6) == 0
	for range 6 {
		err := now.submit(spec, tasks, cut, luck)
		switch status.Code(err) {
		case codes.OK, codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition:
			if err == nil && luck.IntN(6) == 0 { // the same id with other content
				now.submit(spec, append(slices.Clip(tasks), "more"), false, luck)
			}
			return
		case codes.AlreadyExists:
			p.world.paths.met(jobDiffers)
			return
		default:
		}
		if cut && luck.IntN(2) == 0 {
			return
		}
		p.world.paths.met(submittedAgain)
		pass(between(luck, 50*time.Millisecond, 800*time.Millisecond))
		now, cut = p.now(), false
	}
}

// submit sends a job in messages of some size. cut: it ends in the middle.
func (p *process) submit(spec *gatekeeperv1.JobSpec, tasks []string, cut bool, luck *rand.Rand) error {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	stream, err := c.SubmitJob(ctx)
	if err != nil {
		return err
	}
	w := p.world
	if !cut {
		w.work.note(func() { w.work.contents[spec.GetId()] = append(w.work.contents[spec.GetId()], tasks) })
	}
	first := true
	for left := tasks; first || len(left) > 0; first = false {
		n := min(len(left), 1+luck.IntN(4))
		m := &gatekeeperv1.SubmitJobRequest{Last: n == len(left)}
		if first {
			m.Job = spec
		}
		for _, t := range left[:n] {
			m.Tasks = append(m.Tasks, []byte(t))
		}
		left = left[n:]
		if m.Last && cut {
			w.paths.met(submissionCut)
			pass(between(luck, 0, 300*time.Millisecond)) // what was sent arrives
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
	if err != nil || p.isCrashed() {
		return err
	}
	if r.GetRepeated() {
		w.paths.met(jobRepeated)
	}
	w.work.note(func() {
		w.work.accepted = append(w.work.accepted, accepted{spec.GetId(), r.GetJob().GetSubmittedRevision(), tasks})
	})
	if luck.IntN(2) == 0 {
		w.late.Go(func() {
			w.judge.follows(spec.GetId(), r.GetJob().GetSubmittedRevision(), rand.New(rand.NewPCG(luck.Uint64(), 1)))
		})
	}
	return nil
}

// follows hears of a job until it is over, from one server after another.
func (p *process) follows(id string, submitted uint64, luck *rand.Rand) {
	f, after := followed{tasks: make(map[uint32]*gatekeeperv1.Task)}, uint64(0)
	for !closed(p.world.life.Done()) {
		over, gone := p.followsOnce(&f, &after, id, submitted, luck)
		switch {
		case gone:
			return
		case over:
			p.world.work.note(func() { p.world.work.followed = append(p.world.work.followed, f) })
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
				return false, true // another job of that id
			}
		}
		for _, t := range m.GetTasks() {
			f.tasks[t.GetIndex()] = t
		}
		*after = max(*after, m.GetRevision())
	}
}

// changesJob does what an operator may do to a job.
func (p *process) changesJob(id string, luck *rand.Rand) {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	switch luck.IntN(5) { // it may be gone, over, or without failed tasks
	case 0:
		_, _ = c.CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: id, Author: "ops", Reason: "sim"})
	case 1, 2:
		_, _ = c.RetryTasks(ctx, &gatekeeperv1.RetryTasksRequest{Id: id})
	default:
		_, _ = c.DropTasks(ctx, &gatekeeperv1.DropTasksRequest{Id: id, Indexes: []uint32{luck.Uint32N(4)}})
	}
}

func (p *process) deletes(id string, luck *rand.Rand) {
	c, hangUp := p.to(luck)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := c.DeleteJob(ctx, &gatekeeperv1.DeleteJobRequest{Id: id}); err == nil {
		p.world.paths.met(jobDeleted)
	}
}

// jobsEnd waits until every job has ended.
func (w *world) jobsEnd() {
	luck := luckOf(w.plan.seed, "jobs end")
	for range 300 {
		pass(time.Second)
		c, hangUp := w.judge.to(luck)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		r, err := c.ListJobs(ctx, &gatekeeperv1.ListJobsRequest{PageSize: 1000})
		cancel()
		hangUp()
		if err == nil && !slices.ContainsFunc(r.GetJobs(), func(j *gatekeeperv1.Job) bool { return !j.GetOver() }) {
			return
		}
	}
}
