package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// jobRetention is how long a finished job is retained. It is short because a run submits more jobs than a cluster
// stores by default.
const jobRetention = time.Second

// taskWorkers is a set of worker streams for one semaphore.
type taskWorkers struct {
	*gatekeeper
	ledger
	semaphore string
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// submitVariants returns the variants that submit tasks to workers on this cluster.
func (g *gatekeeper) submitVariants() []variant {
	var all []variant
	for _, c := range []struct {
		how     string
		streams int
		submit  func(*taskWorkers) submitFunc
	}{
		{"SubmitJob, 16 Work streams", workers, func(w *taskWorkers) submitFunc { return w.submit }},
		{"SubmitJob, one Work stream", 1, func(w *taskWorkers) submitFunc { return w.submit }},
		{"SubmitJob, FollowJob, one Work stream", 1, func(w *taskWorkers) submitFunc { return w.follow }},
	} {
		for _, work := range []work{tasks, jobs} {
			v := variant{Work: work, How: c.how, open: func(ctx context.Context, _ int) (load.Call, func(), error) {
				w, err := g.startWorkers(ctx, c.streams)
				if err != nil {
					return nil, nil, err
				}
				count := 1
				if work == jobs {
					count = tasksPerJob
				}
				return w.call(count, c.submit(w)), w.close, nil
			}}
			if work == jobs {
				v.maxCallers = jobSubmitters
			}
			all = append(all, v)
		}
	}
	return all
}

// startWorkers creates a semaphore and opens a number of streams that share its slots.
func (g *gatekeeper) startWorkers(ctx context.Context, streams int) (*taskWorkers, error) {
	g.opened++
	semaphore := fmt.Sprint("tasks-", g.opened)
	_, err := gatekeeperv1.NewDefinitionServiceClient(g.conns.ForCaller(0)).CreateDefinition(ctx, &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: semaphore, Permits: new(uint32(workers)), Duration: durationpb.New(long)}, Author: "bench",
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	w := &taskWorkers{gatekeeper: g, semaphore: semaphore, stop: stop}
	for i := range streams {
		stream, err := gatekeeperv1.NewWorkServiceClient(g.conns.ForCaller(i)).Work(ctx)
		if err != nil {
			stop()
			return nil, err
		}
		err = stream.Send(&gatekeeperv1.WorkRequest{Frame: 1, Kind: &gatekeeperv1.WorkRequest_Offer{Offer: &gatekeeperv1.WorkOffer{
			Semaphore: semaphore, Identity: &gatekeeperv1.Identity{Group: "bench", Acquirer: fmt.Sprint("worker-", i)}, Slots: uint32(workers / streams),
		}}})
		if err != nil {
			stop()
			return nil, err
		}
		w.running.Go(func() {
			if err := w.work(stream.Recv, stream.Send); ctx.Err() == nil {
				w.fail(err)
			}
		})
	}
	return w, nil
}

func (w *taskWorkers) close() {
	w.stop()
	w.running.Wait()
}

// work completes each task immediately.
func (w *taskWorkers) work(recv func() (*gatekeeperv1.WorkResponse, error), send func(*gatekeeperv1.WorkRequest) error) error {
	jobs := make(map[uint64]string) // job ids by token
	for frame := uint64(2); ; {
		m, err := recv()
		if err != nil {
			return err
		}
		switch k := m.GetKind().(type) {
		case *gatekeeperv1.WorkResponse_Task:
			token := k.Task.GetTask().GetToken()
			jobs[token] = k.Task.GetJob().GetId()
			if err := send(&gatekeeperv1.WorkRequest{Frame: frame, Kind: &gatekeeperv1.WorkRequest_End{End: &gatekeeperv1.TaskEnd{Token: token, Next: true}}}); err != nil {
				return err
			}
			frame++
		case *gatekeeperv1.WorkResponse_Ended:
			if !k.Ended.GetRecorded() {
				return fmt.Errorf("a result was not recorded: %v", k.Ended)
			}
			w.recorded(strings.TrimPrefix(jobs[k.Ended.GetToken()], w.semaphore+"/"))
			delete(jobs, k.Ended.GetToken())
		default:
			return fmt.Errorf("unexpected response to a worker: %v", m)
		}
	}
}

// submit submits a job with the given number of tasks.
func (w *taskWorkers) submit(ctx context.Context, id string, count int) error {
	stream, err := gatekeeperv1.NewWorkServiceClient(w.conns.ForCaller(len(id))).SubmitJob(ctx)
	if err != nil {
		return err
	}
	err = stream.Send(&gatekeeperv1.SubmitJobRequest{
		Job:   &gatekeeperv1.JobSpec{Id: w.semaphore + "/" + id, Semaphore: w.semaphore, MaxResult: new(uint32(0)), Retention: durationpb.New(jobRetention)},
		Tasks: make([][]byte, count), Last: true,
	})
	if err != nil && !errors.Is(err, io.EOF) { // after io.EOF, the response contains the reason
		return err
	}
	resp, err := stream.CloseAndRecv()
	if err == nil && resp.GetRepeated() {
		err = fmt.Errorf("job %s already exists", id)
	}
	return err
}

// follow submits a job and receives its results.
func (w *taskWorkers) follow(ctx context.Context, id string, count int) error {
	if err := w.submit(ctx, id, count); err != nil {
		return err
	}
	stream, err := gatekeeperv1.NewWorkServiceClient(w.conns.ForCaller(len(id))).FollowJob(ctx, &gatekeeperv1.FollowJobRequest{Id: w.semaphore + "/" + id, Results: true})
	if err != nil {
		return err
	}
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
