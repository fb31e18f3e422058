package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// ownerName is the semaphore from which submitters acquire permits that keep their jobs from being cancelled.
const ownerName = "work/owners"

// WorkWorld returns the semaphores whose permits carry tasks, and the job owners' semaphore. Only one group is admitted
// until an operator moves the work to the other. One of the semaphores has a cooldown, either after each task or only
// after a loss, depending on the seed.
func WorkWorld(seed uint64) []Semaphore {
	random := rand.New(rand.NewPCG(seed, 3))
	var all []Semaphore
	for i, permits := range []uint32{4, 1} {
		all = append(all, Semaphore{Name: fmt.Sprintf("work/%d", i), HasTasks: true, MaxPermits: permits + permits/2, Definition: history.Definition{
			GroupPattern: home, AcquirerPattern: ".*", Permits: permits, Duration: time.Duration(500+random.IntN(1000)) * time.Millisecond,
			Takeover: i == 0,
		}})
	}
	if def := &all[1].Definition; random.IntN(2) == 0 {
		def.MinHold = 50 * time.Millisecond // short, because it has one permit and its jobs must finish
	} else {
		def.LossDelay = 300 * time.Millisecond
	}
	return append(all, Semaphore{Name: ownerName, Definition: history.Definition{GroupPattern: ".*", AcquirerPattern: ".*", Permits: 100, Duration: time.Second}})
}

// home is the group whose workers are initially admitted. away is the group to which operators move the work.
const (
	home = "east"
	away = "west"
)

// withTasks returns only the semaphores whose permits carry tasks.
func withTasks(world []Semaphore) []Semaphore {
	return slices.DeleteFunc(slices.Clone(world), func(s Semaphore) bool { return !s.HasTasks })
}

// worker executes a semaphore's tasks as carelessly as real workers do: it fails, returns tasks, works for longer than
// its permit lasts, and ignores its context.
type worker struct {
	*libraryClient
	semaphore Semaphore
	group     string

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	ends   map[uint64]func(history.Outcome, history.Response, error) // by token; records the response to a task's outcome
}

// workerID is the holder id of all workers. The servers append a suffix for each task.
const workerID = "worker"

// Work runs workers of both groups, and a caller with their identity, until the context is done. It is the main
// function of a separate process. If the process is killed, its successor has a different name but the same host.
func Work(ctx context.Context, name, host string, opts Options) error {
	l, err := newLibrary(ctx, opts, name, host, &steppedClock{rate: 1})
	if err != nil {
		return err
	}
	defer l.client.Close()
	var all sync.WaitGroup
	tasks := withTasks(opts.Work)
	errs := make(chan error, 2*len(tasks))
	for _, s := range tasks {
		for _, group := range []string{home, away} {
			w := &worker{
				libraryClient: l, semaphore: s, group: group, random: newRandom(opts.Seed, name+" "+s.Name+" "+group),
				ends: map[uint64]func(history.Outcome, history.Response, error){},
			}
			all.Go(func() { errs <- w.run(ctx) })
		}
	}
	all.Go(func() { l.visit(ctx, tasks, newRandom(opts.Seed, name)) })
	all.Wait()
	close(errs)
	for err := range errs {
		if ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// run works until the context is done. A worker that finds its endpoint redirected to another cluster stops and is
// restarted.
func (w *worker) run(ctx context.Context) error {
	parallel := []int{3, 3, 100}[w.random.IntN(3)]
	for {
		err := work.Run(ctx, work.Worker{
			Semaphore: w.client.Semaphore(w.semaphore.Name, client.WithGroup(w.group), client.WithAcquirer(w.host), client.WithHolderID(workerID)),
			Parallel:  parallel, Handle: w.handle, Ended: w.ended,
			Logger: discardLogger(),
		})
		if !errors.Is(err, client.ErrWrongCluster) || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// plan determines how a task is executed.
type plan struct {
	duration       time.Duration
	ignoresContext bool
	end            jobOutcome
	nonce          int // makes the results of different attempts distinct
}

func (w *worker) plan() plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := plan{duration: time.Duration(w.random.IntN(60)) * time.Millisecond, ignoresContext: w.random.IntN(5) == 0, end: jobDone, nonce: w.random.IntN(1000)}
	if w.random.IntN(4) == 0 {
		p.duration = time.Duration(w.random.Int64N(int64(3 * w.semaphore.Definition.Duration)))
	}
	switch w.random.IntN(12) {
	case 0:
		p.end = jobFailed
	case 1:
		p.end = jobCutShort
	}
	return p
}

func (w *worker) handle(ctx context.Context, t *work.Task) ([]byte, error) {
	p := t.Permit()
	w.HandedTask(history.HandedTask{
		Token: t.Token(), Semaphore: p.Semaphore(), Identity: history.Identity{Group: p.Group(), Acquirer: p.Acquirer(), HolderID: p.HolderID()},
		Job: t.Job(), Index: uint32(t.Index()), Content: history.Content(t.Payload()), Attempt: uint32(t.Attempt()),
	})
	b := w.believe(p)
	go b.follow()
	taskPlan := w.plan()
	workCtx := ctx
	if taskPlan.ignoresContext {
		workCtx = context.WithoutCancel(ctx)
	}
	pause(workCtx, taskPlan.duration)
	b.stop()
	if ctx.Err() != nil && !taskPlan.ignoresContext {
		taskPlan.end = jobCutShort
	}
	result := ""
	if taskPlan.end == jobDone {
		result = fmt.Sprintf("%d by %d", taskPlan.nonce, t.Token())
	}
	req := history.NewEndTask(w.semaphore.Name, t.Job(), t.Token(), string(taskPlan.end), result)
	done := w.Call(req)
	w.mu.Lock()
	w.ends[t.Token()] = done
	w.mu.Unlock()
	switch taskPlan.end {
	case jobFailed:
		return nil, errors.New(req.Failure)
	case jobCutShort:
		return nil, client.ErrCutShort
	}
	return []byte(result), nil
}

// ended records the response to a task's outcome.
func (w *worker) ended(_ context.Context, r work.Report) {
	w.mu.Lock()
	done := w.ends[r.Task.Token()]
	delete(w.ends, r.Task.Token())
	w.mu.Unlock()
	_, unrecorded := errors.AsType[*client.EndedError](r.Unrecorded)
	switch {
	case unrecorded:
		done(history.Known, history.Response{Result: history.Unrecorded}, r.Unrecorded)
	case r.Unrecorded != nil:
		done(history.Unknown, history.Response{}, r.Unrecorded)
	case r.Outcome == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
		done(history.Known, history.Response{Result: history.Returned}, nil)
	default:
		done(history.Known, history.Response{Result: history.Recorded}, nil)
	}
}

// jobIDs returns the ids of all jobs submitted in a history.
func jobIDs(entries []history.Entry) map[string]bool {
	ids := map[string]bool{}
	for _, e := range entries {
		if e.Call != nil && e.Call.Request.Kind == history.Submit {
			ids[e.Call.Request.Job.ID] = true
		}
	}
	return ids
}

// semaphoreOf returns the name of a job's semaphore, which is part of the job's id.
func semaphoreOf(id string) string {
	name, _, _ := strings.Cut(id, ":")
	return name
}
