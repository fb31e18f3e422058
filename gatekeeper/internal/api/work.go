package api

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/past"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// workService serves gatekeeper.v1.WorkService. Its job streams are in follow.go.
type workService struct {
	gatekeeperv1.UnimplementedWorkServiceServer
	*API
	keeper workKeeper
	room   *work.Room
}

func (s *workService) SubmitJob(stream grpc.ClientStreamingServer[gatekeeperv1.SubmitJobRequest, gatekeeperv1.SubmitJobResponse]) error {
	ctx := stream.Context()
	m, err := stream.Recv()
	if err != nil {
		return truncated(err)
	}
	spec, err := specFrom(m.GetJob())
	if err != nil {
		return err
	}
	if owner, err := s.owner(ctx, nil); err != nil {
		return err
	} else if owner.Principal != nil {
		spec.Principal = *owner.Principal
	}
	submission := work.NewSubmission(s.keeper, spec, m.GetJob().GetSubmitterToken())
	defer submission.Abort()
	for {
		if err := submission.Add(ctx, m.GetTasks()); err != nil {
			return noSemaphore(err)
		}
		if m.GetLast() {
			break
		}
		if m, err = stream.Recv(); err != nil {
			return truncated(err)
		}
	}
	job, repeated, err := submission.Finish(ctx)
	if err != nil {
		return noSemaphore(err)
	}
	return stream.SendAndClose(&gatekeeperv1.SubmitJobResponse{Job: toJob(job), Repeated: repeated})
}

// noSemaphore reports a missing semaphore without the index of an edit, which a submission does not have. It does not
// suggest similar names, because a job with a misspelled name may be submitted very often.
func noSemaphore(err error) error {
	if conflict, ok := errors.AsType[*keeper.ConflictError](err); ok {
		return &selector.NoDefinitionError{Name: conflict.Name}
	}
	return err
}

// truncated returns the error for a stream that ended before its last message.
func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return invalid("last", "false", "must be true in the last message: the submission was cut short, and nothing was stored")
	}
	return err
}

// findJob reads the state and returns the job with the given id.
func (s *workService) findJob(ctx context.Context, id string) (*fsm.State, *rules.Job, error) {
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	if j := state.Job(id); j != nil && s.visible(ctx, state, j.Semaphore) {
		return state, j, nil
	}
	return nil, nil, &keeper.NoSuchJobError{ID: id}
}

func (s *workService) GetJob(ctx context.Context, m *gatekeeperv1.GetJobRequest) (*gatekeeperv1.GetJobResponse, error) {
	_, j, err := s.findJob(ctx, m.GetId())
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.GetJobResponse{Job: toJob(j)}, nil
}

func (s *workService) ListJobs(ctx context.Context, m *gatekeeperv1.ListJobsRequest) (*gatekeeperv1.ListJobsResponse, error) {
	limit, from, err := pageFrom(m)
	if err != nil {
		return nil, err
	}
	sel, err := selector.Parse("", nil, m.GetLabels())
	if err != nil {
		return nil, err
	}
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListJobsResponse{}
	var taken page
	var last pageKey
	for j := range state.Jobs(from.token + 1) {
		if m.GetSemaphore() != "" && j.Semaphore != m.GetSemaphore() || !s.visible(ctx, state, j.Semaphore) || !sel.MatchLabels(j.Labels) || !matchesAny(m.GetStates(), gatekeeperv1.JobState(j.State)) {
			continue
		}
		line := toJob(j)
		if !taken.add(limit, line) {
			out.NextPageToken = last.String()
			break
		}
		out.Jobs, last = append(out.Jobs, line), pageKey{name: j.ID, token: j.Number}
	}
	return out, nil
}

// matchesAny reports whether v is one of the wanted values. An empty list matches every value.
func matchesAny[T comparable](wanted []T, v T) bool {
	for _, w := range wanted {
		if w == v {
			return true
		}
	}
	return len(wanted) == 0
}

func (s *workService) ListTasks(ctx context.Context, m *gatekeeperv1.ListTasksRequest) (*gatekeeperv1.ListTasksResponse, error) {
	limit, err := pageSize(m.GetPageSize())
	if err != nil {
		return nil, err
	}
	state, j, err := s.findJob(ctx, m.GetJob())
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListTasksResponse{Job: toJob(j)}
	ended := sync.OnceValue(func() map[uint64]past.Holding { return past.Ended(state, j.Semaphore) })
	var taken page
	for t := range state.Tasks(j.Number, m.GetFrom()) {
		if !matchesAny(m.GetStates(), gatekeeperv1.TaskState(j.StateOf(t))) {
			continue
		}
		line := s.task(state, j, t, m.GetPayloads(), m.GetResults())
		line.Permit = s.taskPermit(state, t.Token, ended)
		if !taken.add(limit, line) {
			out.Next = t.Index
			break
		}
		out.Tasks = append(out.Tasks, line)
	}
	return out, nil
}

// task converts a task and adds its progress if this server has received it.
func (s *workService) task(state *fsm.State, j *rules.Job, t *rules.Task, payload, result bool) *gatekeeperv1.Task {
	line := toTask(state, j, t)
	if t.State == rules.Held {
		line.Progress = toProgress(s.room.Progress(t.Token))
	}
	if payload {
		line.Payload = t.Payload
	}
	if result {
		line.Result = t.Result
	}
	return line
}

func (s *workService) CancelJob(ctx context.Context, m *gatekeeperv1.CancelJobRequest) (*gatekeeperv1.CancelJobResponse, error) {
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	r, err := s.keeper.CancelJob(ctx, m.GetId(), m.GetSubmittedRevision(), author, reason)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.CancelJobResponse{Job: toJob(r.Job), Repeated: !r.Applied}, nil
}

func (s *workService) RetryTasks(ctx context.Context, m *gatekeeperv1.RetryTasksRequest) (*gatekeeperv1.RetryTasksResponse, error) {
	r, err := s.keeper.ChangeTasks(ctx, m.GetId(), fsm.ChangeTasks{Indexes: m.GetIndexes(), AsOf: m.GetAsOf()})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.RetryTasksResponse{Job: toJob(r.Job), Tasks: r.Tasks}, nil
}

func (s *workService) DropTasks(ctx context.Context, m *gatekeeperv1.DropTasksRequest) (*gatekeeperv1.DropTasksResponse, error) {
	r, err := s.keeper.ChangeTasks(ctx, m.GetId(), fsm.ChangeTasks{Indexes: m.GetIndexes(), AsOf: m.GetAsOf(), Drop: true})
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.DropTasksResponse{Job: toJob(r.Job), Tasks: r.Tasks}, nil
}

func (s *workService) DeleteJob(ctx context.Context, m *gatekeeperv1.DeleteJobRequest) (*gatekeeperv1.DeleteJobResponse, error) {
	if _, err := s.keeper.DeleteJob(ctx, m.GetId(), m.GetSubmittedRevision()); err != nil {
		return nil, err
	}
	return &gatekeeperv1.DeleteJobResponse{Revision: s.cfg.Machine.State().Revision()}, nil
}

// taskPermit returns the permit under which a task runs or last ran, or nil if it is no longer known.
func (s *workService) taskPermit(state *fsm.State, token uint64, ended func() map[uint64]past.Holding) *gatekeeperv1.Permit {
	if token == 0 {
		return nil
	}
	if p := state.Permit(token); p != nil {
		out := s.holder(state, p)
		if p.State == semaphore.Cooling {
			out.Ended = toEnd(p.Ended)
		}
		return out
	}
	h, known := ended()[token]
	if !known {
		return nil
	}
	out := toPermit(h.Permit)
	out.EndedAt, out.Ended = toTimestamp(h.EndedAt), toEnd(h.End)
	return out
}

func (s *workService) ListWorkers(ctx context.Context, m *gatekeeperv1.ListWorkersRequest) (*gatekeeperv1.ListWorkersResponse, error) {
	state, err := s.read(ctx, false)
	if err != nil {
		return nil, err
	}
	out := &gatekeeperv1.ListWorkersResponse{}
	known := make(map[workerKey]*gatekeeperv1.Worker)
	byToken := make(map[uint64]*gatekeeperv1.Worker)
	for _, w := range s.room.Workers(m.GetSemaphore()) {
		if !s.visible(ctx, state, w.Offer.Semaphore) {
			continue
		}
		line := &gatekeeperv1.Worker{
			Semaphore: w.Offer.Semaphore, Identity: toIdentity(w.Offer.Identity), Free: uint32(w.Free), Draining: w.Draining,
			Denied: gatekeeperv1.Reason(w.Denied),
		}
		if _, next := state.NextTask(w.Offer.Semaphore); next != nil {
			line.Waiting = w.Free > 0 && !w.Draining && line.Denied == gatekeeperv1.Reason_REASON_UNSPECIFIED
		}
		known[workerKey{w.Offer.Semaphore, w.Offer.Identity}] = line
		for _, h := range w.Held {
			byToken[h.Token] = line
		}
		out.Workers = append(out.Workers, line)
	}
	for name, counts := range state.WorkBySemaphore() {
		if counts.Held == 0 || m.GetSemaphore() != "" && m.GetSemaphore() != name || !s.visible(ctx, state, name) {
			continue
		}
		for p := range state.Holders(name) {
			t := state.TaskOf(p.Token)
			if t == nil || t.State != rules.Held {
				continue
			}
			line := byToken[p.Token]
			if line == nil { // it was granted on another stream
				key := workerKey{name, work.OfferedBy(p.Identity)}
				if line = known[key]; line == nil {
					line = &gatekeeperv1.Worker{Semaphore: name, Identity: toIdentity(key.Identity), Away: true}
					known[key] = line
					out.Away = append(out.Away, line)
				}
			}
			line.Tasks = append(line.Tasks, s.heldTask(state, p, t))
		}
	}
	return out, nil
}

// workerKey identifies a worker across streams.
type workerKey struct {
	semaphore string
	semaphore.Identity
}

func (s *workService) heldTask(state *fsm.State, p *semaphore.Permit, t *rules.Task) *gatekeeperv1.HeldTask {
	out := &gatekeeperv1.HeldTask{
		Job: state.JobByNumber(t.Job).ID, Index: t.Index, Token: p.Token, Progress: toProgress(s.room.Progress(p.Token)), Attempts: t.Attempts,
		GrantedAt: toTimestamp(p.GrantedAt()), State: gatekeeperv1.PermitState(p.State),
	}
	if left, ok := s.reader.Remaining(p.Token); ok {
		out.ExpiresIn = durationpb.New(max(left, 0))
	}
	return out
}

// Work hands out tasks to a worker. One goroutine receives; only the handler's goroutine sends.
func (s *workService) Work(stream grpc.BidiStreamingServer[gatekeeperv1.WorkRequest, gatekeeperv1.WorkResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	m, err := stream.Recv()
	if err != nil {
		return truncated(err)
	}
	received := time.Now()
	offer, err := offerFrom(m.GetOffer())
	if err != nil {
		return err
	}
	if owner, err := s.owner(ctx, nil); err != nil {
		return err
	} else if offer.Owner = owner; owner.Principal != nil {
		offer.Identity.Principal = *owner.Principal
	}
	w := s.room.Open(ctx, offer)
	defer w.Close()
	defer cancel() // runs before Close, which would otherwise wait for pending sends
	w.Received(m.GetFrame(), received)
	if err := w.Take(int(m.GetOffer().GetSlots())); err != nil {
		return within("offer", err)
	}
	ended := make(chan error, 1)
	go func() {
		recv := func() (*gatekeeperv1.WorkRequest, error) {
			m, err := stream.Recv()
			if err == nil {
				_, err = s.owner(ctx, nil) // the caller may have lost its role since the previous frame
			}
			return m, err
		}
		_, err := s.catchPanic(ctx, gatekeeperv1.WorkService_Work_FullMethodName, func() (any, error) { return nil, receiveWork(recv, w) })
		ended <- err
	}()
	for {
		var out gatekeeperv1.WorkResponse
		select {
		case a := <-w.Answers():
			switch {
			case a.Grant != nil:
				out.Kind = &gatekeeperv1.WorkResponse_Task{Task: toTaskGrant(a.Grant)}
			case a.Ended != nil:
				out.Kind = &gatekeeperv1.WorkResponse_Ended{Ended: toTaskEnded(a.Ended)}
			default:
				out.Kind = &gatekeeperv1.WorkResponse_Denial{Denial: toDenial(a.Denial, nil)}
			}
		case err := <-w.Failed():
			return err
		case err := <-ended:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := stream.Send(&out); err != nil {
			return err
		}
	}
}

// receiveWork processes a worker's frames until the worker closes the stream, then waits until every TaskEnd has been
// answered.
func receiveWork(recv func() (*gatekeeperv1.WorkRequest, error), w *work.Worker) error {
	for number := uint64(2); ; number++ {
		m, err := recv()
		if errors.Is(err, io.EOF) {
			w.Drain()
			w.WaitSettled()
			return nil
		}
		if err != nil {
			return err
		}
		if m.GetFrame() != number {
			return invalid("frame", decimal(m.GetFrame()), "must be "+decimal(number)+": frames are numbered consecutively from 1")
		}
		w.Received(number, time.Now())
		if err := handleFrame(m, w); err != nil {
			return err
		}
	}
}

func handleFrame(m *gatekeeperv1.WorkRequest, w *work.Worker) error {
	switch k := m.GetKind().(type) {
	case *gatekeeperv1.WorkRequest_End:
		cmd, err := releaseFrom(k.End)
		if err != nil {
			return err
		}
		return w.End(cmd, k.End.GetNext())
	case *gatekeeperv1.WorkRequest_Progress:
		p, err := progressFrom(k.Progress.GetProgress())
		if err != nil {
			return err
		}
		w.Report(k.Progress.GetToken(), p)
	case *gatekeeperv1.WorkRequest_Take:
		return w.Take(int(k.Take.GetSlots()))
	case *gatekeeperv1.WorkRequest_Drain:
		w.Drain()
	case *gatekeeperv1.WorkRequest_Offer:
		return invalid("offer", "", "must be sent only in the first message")
	}
	return nil
}
