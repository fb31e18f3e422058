package gatekeeper

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// openForWork opens a server with a semaphore "import" that has nine permits.
func openForWork(t *testing.T) (*Server, caller, gatekeeperv1.WorkServiceClient) {
	t.Helper()
	s, c := openAtNewestLevel(t)
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{
		Name: "import", Permits: new(uint32(9)),
	}}); err != nil {
		t.Fatal(err)
	}
	return s, c, gatekeeperv1.NewWorkServiceClient(c.conn)
}

func newChunk(size int) *gatekeeperv1.SubmitJobRequest {
	m := &gatekeeperv1.SubmitJobRequest{}
	for range size {
		m.Tasks = append(m.Tasks, make([]byte, 60<<10))
	}
	return m
}

// A submitter disconnects after part of its job has been stored. The partial job must be deleted, so that the job can
// be submitted again.
func TestSubmitJob_SubmitterDisconnects_DeletesPartialJob(t *testing.T) {
	t.Parallel()
	s, _, jobs := openForWork(t)
	ctx, kill := context.WithCancel(bounded(t))
	stream, err := jobs.SubmitJob(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := newChunk(10) // spans more than one log entry
	first.Job = &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import"}
	if err := stream.Send(first); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return s.machine.State().Job("j") != nil })
	w := newWorker(t, jobs, "", "app1", 1)
	kill()
	eventually(t, func() bool { return s.machine.State().JobCount() == 0 && s.machine.State().WorkBytes() == 0 })
	if _, err := jobs.GetJob(bounded(t), &gatekeeperv1.GetJobRequest{Id: "j"}); status.Code(err) != codes.NotFound {
		t.Errorf("GetJob() for the interrupted submission = %v, want NotFound", err)
	}
	if r, err := submit(t, jobs, first.GetJob(), []string{"a"}); err != nil || r.GetRepeated() {
		t.Fatalf("second submission = %v, %v, want a new job", r, err)
	}
	if got := w.task(); string(got.GetTask().GetPayload()) != "a" {
		t.Errorf("got task %v, want task a from the second submission", got)
	}
}

// A limit is reached after part of a job has been stored. The partial job must be deleted, existing jobs must continue,
// and workers must still be able to end their tasks.
func TestSubmitJob_LimitReached_DeletesPartialJob(t *testing.T) {
	t.Parallel()
	s, c, jobs := openForWork(t)
	if _, err := submit(t, jobs, &gatekeeperv1.JobSpec{Id: "existing", Semaphore: "import"}, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	before := s.machine.State().WorkBytes()
	cluster := gatekeeperv1.NewClusterServiceClient(c.conn)
	if _, err := cluster.SetSettings(bounded(t), &gatekeeperv1.SetSettingsRequest{Settings: &gatekeeperv1.Settings{MaxWorkBytes: new(uint64(1 << 20))}}); err != nil {
		t.Fatal(err)
	}
	stream, err := jobs.SubmitJob(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	first := newChunk(10)
	first.Job = &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import"}
	for m := first; stream.Send(m) == nil; m = newChunk(10) { // until it is rejected
	}
	_, err = stream.CloseAndRecv()
	if r := errorInfo(err); status.Code(err) != codes.ResourceExhausted || r.GetReason() != "WORK_LIMIT" || r.GetMetadata()["limit"] != "max_work_bytes" {
		t.Errorf("submission beyond the limit = %v, want WORK_LIMIT", err)
	}
	eventually(t, func() bool { return s.machine.State().JobCount() == 1 && s.machine.State().WorkBytes() == before })
	w := newWorker(t, jobs, "", "app1", 1)
	task := w.task()
	if _, err := cluster.SetSettings(bounded(t), &gatekeeperv1.SetSettingsRequest{Settings: &gatekeeperv1.Settings{MaxWorkBytes: new(uint64(1))}}); err != nil {
		t.Fatal(err)
	}
	w.end(&gatekeeperv1.TaskEnd{Token: task.GetTask().GetToken(), Result: make([]byte, 1024)})
	if e := w.ended(); !e.GetRecorded() {
		t.Errorf("TaskEnd beyond the limit = %v, want recorded", e)
	}
}

// If a worker ends its task twice, the first result is kept. A finished job cannot be cancelled.
func TestWork_CompletedTwiceThenCancelled_FirstResultIsKept(t *testing.T) {
	t.Parallel()
	_, _, jobs := openForWork(t)
	if _, err := submit(t, jobs, &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import"}, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	w := newWorker(t, jobs, "", "app1", 1)
	token := w.task().GetTask().GetToken()
	for _, result := range []string{"first", "second"} {
		w.end(&gatekeeperv1.TaskEnd{Token: token, Result: []byte(result)})
		if e := w.ended(); !e.GetRecorded() || e.GetToken() != token {
			t.Errorf("TaskEnd with result %s = %v, want recorded", result, e)
		}
	}
	w.end(&gatekeeperv1.TaskEnd{Token: token, Outcome: gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED, Failure: "third"})
	if e := w.ended(); e.GetRecorded() || e.GetMessage() == "" {
		t.Errorf("TaskEnd with a different outcome = %v, want not recorded", e)
	}
	r, err := jobs.CancelJob(bounded(t), &gatekeeperv1.CancelJobRequest{Id: "j"})
	if err != nil || !r.GetRepeated() || r.GetJob().GetState() != gatekeeperv1.JobState_JOB_STATE_ENDED {
		t.Errorf("CancelJob() = %v, %v, want the ended job", r, err)
	}
	tasks, err := jobs.ListTasks(bounded(t), &gatekeeperv1.ListTasksRequest{Job: "j", Results: true})
	if err != nil || string(tasks.GetTasks()[0].GetResult()) != "first" {
		t.Errorf("ListTasks() = %v, %v, want the first result", tasks, err)
	}
}

// A protocol violation ends only the stream of the worker at fault. Its task remains held until the permit ends, and
// other workers continue.
func TestWork_ProtocolViolation_EndsStreamAndKeepsTaskHeld(t *testing.T) {
	t.Parallel()
	_, _, jobs := openForWork(t)
	if _, err := submit(t, jobs, &gatekeeperv1.JobSpec{Id: "j", Semaphore: "import"}, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	bad, good := newWorker(t, jobs, "", "app1", 1), newWorker(t, jobs, "", "app2", 0)
	held := bad.task().GetTask()
	bad.frame += 7
	bad.send(&gatekeeperv1.WorkRequest{})
	if _, err := bad.stream.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("Recv() after a skipped frame = %v, want InvalidArgument", err)
	}
	good.send(&gatekeeperv1.WorkRequest{Kind: &gatekeeperv1.WorkRequest_Take{Take: &gatekeeperv1.WorkTake{Slots: 1}}})
	if other := good.task().GetTask(); other.GetIndex() == held.GetIndex() {
		t.Errorf("the held task was assigned again: %v", other)
	}
	good.end(&gatekeeperv1.TaskEnd{Token: held.GetToken(), Result: []byte("done")})
	if e := good.ended(); !e.GetRecorded() {
		t.Errorf("TaskEnd by another worker = %v, want recorded", e)
	}
}
