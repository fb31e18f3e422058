package gatekeeper

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// worker is a raw Work stream that bypasses the client library.
type worker struct {
	t      *testing.T
	stream grpc.BidiStreamingClient[gatekeeperv1.WorkRequest, gatekeeperv1.WorkResponse]
	frame  uint64
}

func newWorker(t *testing.T, c gatekeeperv1.WorkServiceClient, group, host string, slots uint32) *worker {
	t.Helper()
	stream, err := c.Work(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, stream: stream}
	w.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Offer{Offer: &gatekeeperv1.WorkOffer{
		Semaphore: "import", Identity: &gatekeeperv1.Identity{Group: group, Acquirer: host}, Slots: slots,
	}}})
	return w
}

func (w *worker) send(m *gatekeeperv1.WorkRequest) {
	w.t.Helper()
	w.frame++
	m.Frame = w.frame
	if err := w.stream.Send(m); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worker) recv() *gatekeeperv1.WorkResponse {
	w.t.Helper()
	m, err := w.stream.Recv()
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *worker) task() *gatekeeperv1.TaskGrant {
	w.t.Helper()
	m := w.recv()
	if m.GetTask() == nil {
		w.t.Fatalf("got %v, want a task", m)
	}
	return m.GetTask()
}

func (w *worker) end(e *gatekeeperv1.TaskEnd) {
	w.t.Helper()
	w.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_End{End: e}})
}

func (w *worker) ended() *gatekeeperv1.TaskEnded {
	w.t.Helper()
	m := w.recv()
	if m.GetEnded() == nil {
		w.t.Fatalf("got %v, want a TaskEnded", m)
	}
	return m.GetEnded()
}

func submit(t *testing.T, c gatekeeperv1.WorkServiceClient, spec *gatekeeperv1.JobSpec, chunks ...[]string) (*gatekeeperv1.SubmitJobResponse, error) {
	t.Helper()
	stream, err := c.SubmitJob(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, chunk := range chunks {
		m := &gatekeeperv1.SubmitJobRequest{Last: i == len(chunks)-1}
		if i == 0 {
			m.Job = spec
		}
		for _, payload := range chunk {
			m.Tasks = append(m.Tasks, []byte(payload))
		}
		if err := stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	return stream.CloseAndRecv()
}

// A job is submitted in two chunks, processed by a worker that cuts one task short and fails another, and followed
// until it ends.
func TestWork_Job_IsProcessedAndFollowed(t *testing.T) {
	t.Parallel()
	_, c := openAtNewestLevel(t)
	jobs := gatekeeperv1.NewWorkServiceClient(c.conn)
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{
		Name: "import", GroupPattern: new("prod"), Permits: new(uint32(2)),
	}}); err != nil {
		t.Fatal(err)
	}
	w := newWorker(t, jobs, "prod", "app1", 1) // waits for tasks before any exist
	if r, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
		Semaphore: "import", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "other"},
	}); err != nil || r.GetGrant() == nil {
		t.Fatalf("TryAcquire() while an idle worker waits = %v, %v, want a grant", r, err)
	}
	spec := &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import", MaxResult: new(uint32(8))}
	r, err := submit(t, jobs, spec, []string{"a", "b"}, []string{"c"})
	if err != nil || r.GetJob().GetTasks() != 3 || r.GetJob().GetState() != gatekeeperv1.JobState_JOB_STATE_OPEN {
		t.Fatalf("SubmitJob() = %v, %v, want an open job with three tasks", r, err)
	}
	follow, err := jobs.FollowJob(bounded(t), &gatekeeperv1.FollowJobRequest{Id: "j", Results: true})
	if err != nil {
		t.Fatal(err)
	}

	first := w.task()
	if string(first.GetTask().GetPayload()) != "a" || first.GetFrame() != 1 || first.GetJob().GetId() != "j" {
		t.Fatalf("first task = %v, want task a of job j in frame 1", first)
	}
	w.end(&gatekeeperv1.TaskEnd{Token: first.GetTask().GetToken(), Result: []byte("too long a result")})
	if e := w.ended(); !e.GetRefused() || e.GetMessage() == "" {
		t.Fatalf("TaskEnd with an oversized result = %v, want refused", e)
	}
	w.end(&gatekeeperv1.TaskEnd{Token: first.GetTask().GetToken(), Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT, Next: true})
	var next *gatekeeperv1.TaskGrant
	for range 2 { // in any order
		if m := w.recv(); m.GetTask() != nil {
			next = m.GetTask()
		}
	}
	results := map[string]string{}
	for next != nil {
		token, payload := next.GetTask().GetToken(), string(next.GetTask().GetPayload())
		end := &gatekeeperv1.TaskEnd{Token: token, Result: []byte("r" + payload), Next: true}
		if payload == "b" {
			end.Outcome, end.Failure = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, "no such file"
		}
		results[payload] = ""
		w.end(end)
		next = nil
		for range min(2, 4-len(results)) {
			m := w.recv()
			if m.GetTask() != nil {
				next = m.GetTask()
			} else if !m.GetEnded().GetRecorded() {
				t.Fatalf("TaskEnd = %v, want recorded", m)
			}
		}
	}
	var seen []string
	for {
		m, err := follow.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range m.GetTasks() {
			if task.GetState() >= gatekeeperv1.TaskState_TASK_STATE_DONE {
				seen = append(seen, fmt.Sprint(task.GetIndex(), " ", string(task.GetResult()), " ", task.GetAttempts(), " ", task.GetFailure()))
			}
		}
	}
	slices.Sort(seen)
	if want := []string{"0 ra 1 ", "1 rb 1 no such file", "2 rc 1 "}; !slices.Equal(seen, want) {
		t.Fatalf("FollowJob() = %q, want %q", seen, want)
	}
	if r, err := submit(t, jobs, spec, []string{"a", "b", "c"}); err != nil || !r.GetRepeated() || r.GetJob().GetDone() != 2 {
		t.Fatalf("retried submission = %v, %v, want the same job with two tasks done", r, err)
	}
	if _, err := submit(t, jobs, spec, []string{"a", "b", "d"}); status.Code(err) != codes.AlreadyExists {
		t.Fatalf("submission with different content = %v, want AlreadyExists", err)
	}
	if r, err := jobs.RetryTasks(bounded(t), &gatekeeperv1.RetryTasksRequest{Id: "j"}); err != nil || r.GetTasks() != 1 {
		t.Fatalf("RetryTasks() = %v, %v, want one task", r, err)
	}
	if last := w.task(); string(last.GetTask().GetPayload()) != "b" {
		t.Fatalf("retried task = %v, want b", last)
	}
	if _, err := jobs.CancelJob(bounded(t), &gatekeeperv1.CancelJobRequest{Id: "j", Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	workers, err := jobs.ListWorkers(bounded(t), &gatekeeperv1.ListWorkersRequest{})
	if err != nil || len(workers.GetWorkers()) != 1 || len(workers.GetWorkers()[0].GetTasks()) != 1 {
		t.Fatalf("ListWorkers() = %v, %v, want one worker with one task", workers, err)
	}
	if _, err := jobs.DeleteJob(bounded(t), &gatekeeperv1.DeleteJobRequest{Id: "j"}); status.Code(err) != codes.FailedPrecondition {
		t.Fatalf("DeleteJob() of a job with a held task = %v, want FailedPrecondition", err)
	}
}
