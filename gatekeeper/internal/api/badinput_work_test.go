package api

import (
	"context"
	"math"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// submitCall returns a function that submits a job in the given messages.
func submitCall(messages ...*gatekeeperv1.SubmitJobRequest) func(context.Context, *gate) error {
	return func(ctx context.Context, g *gate) error {
		stream, err := gatekeeperv1.NewWorkServiceClient(g.conn).SubmitJob(ctx)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if stream.Send(m) != nil {
				break // the response contains the reason
			}
		}
		_, err = stream.CloseAndRecv()
		return err
	}
}

// workCall returns a function that sends a worker's frames and waits until the stream ends.
func workCall(frames ...*gatekeeperv1.WorkRequest) func(context.Context, *gate) error {
	return func(ctx context.Context, g *gate) error {
		stream, err := gatekeeperv1.NewWorkServiceClient(g.conn).Work(ctx)
		if err != nil {
			return err
		}
		for i, f := range frames {
			if f.GetFrame() == 0 {
				f.Frame = uint64(i + 1)
			}
			if stream.Send(f) != nil {
				break
			}
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		for {
			if _, err := stream.Recv(); err != nil {
				return err
			}
		}
	}
}

func badWorkCalls() []badCall {
	type (
		spec   = gatekeeperv1.JobSpec
		frame  = gatekeeperv1.WorkRequest
		client = gatekeeperv1.WorkServiceClient
	)
	service := gatekeeperv1.NewWorkServiceClient
	job := func(change func(*spec)) func(context.Context, *gate) error {
		s := &spec{Id: "j", Semaphore: "there"}
		change(s)
		return submitCall(&gatekeeperv1.SubmitJobRequest{Job: s, Tasks: [][]byte{nil}, Last: true})
	}
	offer := func(change func(*gatekeeperv1.WorkOffer)) *frame {
		o := &gatekeeperv1.WorkOffer{Semaphore: "there", Identity: testIdentity()}
		change(o)
		return &frame{Kind: &gatekeeperv1.WorkRequest_Offer{Offer: o}}
	}
	noChange := func(*gatekeeperv1.WorkOffer) {}
	end := func(e *gatekeeperv1.TaskEnd) *frame { return &frame{Kind: &gatekeeperv1.WorkRequest_End{End: e}} }
	progress := func(fraction float64) *frame {
		return &frame{Kind: &gatekeeperv1.WorkRequest_Progress{Progress: &gatekeeperv1.TaskProgress{
			Token: 1, Progress: &gatekeeperv1.Progress{Fraction: fraction},
		}}}
	}
	return []badCall{
		{"submission without a message", submitCall(), "last", "cut short"},
		{"submission without a job", submitCall(&gatekeeperv1.SubmitJobRequest{Last: true}), "job", "first message"},
		{"submission that is cut short", submitCall(&gatekeeperv1.SubmitJobRequest{Job: &spec{Id: "j", Semaphore: "there"}, Tasks: [][]byte{nil}}), "last", "nothing was stored"},
		{"job without id", job(func(s *spec) { s.Id = "" }), "job.id", "1 to 256 bytes"},
		{"job id of 257 bytes", job(func(s *spec) { s.Id = long(257) }), "job.id", "not 257"},
		{"job without semaphore", job(func(s *spec) { s.Semaphore = "" }), "job.semaphore", "1 to 256 bytes"},
		{"job with 1001 attempts", job(func(s *spec) { s.MaxAttempts = 1001 }), "job.max_attempts", "at most 1000"},
		{"job with a negative timeout", job(func(s *spec) { s.Timeout = durationpb.New(-time.Second) }), "job.timeout", "must"},
		{"job kept for two years", job(func(s *spec) { s.Retention = durationpb.New(2 * 366 * 24 * time.Hour) }), "job.retention", "between 0 and"},
		{"job with an empty label key", job(func(s *spec) { s.Labels = map[string]string{"": "x"} }), "job.labels", "1 to 256 bytes"},
		{"own semaphore without its permit", job(func(s *spec) { s.OwnSemaphore = "mine" }), "job.own_semaphore", "submitter_token"},

		{"worker without a message", workCall(), "last", "must"},
		{"worker without an offer", workCall(&frame{}), "offer", "first message"},
		{"worker without a semaphore", workCall(offer(func(o *gatekeeperv1.WorkOffer) { o.Semaphore = "" })), "offer.semaphore", "1 to 256 bytes"},
		{"worker without identity", workCall(offer(func(o *gatekeeperv1.WorkOffer) { o.Identity = nil })), "offer.identity.acquirer", "1 to 256 bytes"},
		{"worker with a long holder id", workCall(offer(func(o *gatekeeperv1.WorkOffer) { o.Identity.HolderId = long(201) })), "offer.identity.holder_id", "at most 200 bytes"},
		{"worker with weight 1000001", workCall(offer(func(o *gatekeeperv1.WorkOffer) { o.Weight = 1_000_001 })), "offer.weight", "1 to 1000000"},
		{"worker with 1001 slots", workCall(offer(func(o *gatekeeperv1.WorkOffer) { o.Slots = 1001 })), "offer.slots", "more than 1000 tasks"},
		{"worker that offers twice", workCall(offer(noChange), offer(noChange)), "offer", "only in the first message"},
		{"worker that skips a frame", workCall(offer(noChange), &frame{Frame: 3}), "frame", "must be 2"},
		{"worker that ends token 0", workCall(offer(noChange), end(&gatekeeperv1.TaskEnd{})), "end.token", "permit token"},
		{"worker with an unknown outcome", workCall(offer(noChange), end(&gatekeeperv1.TaskEnd{Token: 1, Outcome: 9})), "end.outcome", "RELEASE_OUTCOME_DONE"},
		{"worker with progress above 1", workCall(offer(noChange), progress(1.1)), "progress.fraction", "0 to 1"},
		{"worker with NaN progress", workCall(offer(noChange), progress(math.NaN())), "progress.fraction", "0 to 1"},

		{"jobs with an invalid selector", unary(service, client.ListJobs, &gatekeeperv1.ListJobsRequest{Labels: "a b"}), "labels", "must"},
		{"cancel with a reason of 1025 bytes", unary(service, client.CancelJob, &gatekeeperv1.CancelJobRequest{Id: "j", Reason: long(1025)}), "reason", "not 1025"},
	}
}

// The error for a missing job contains its id.
func TestBadInput_MissingJob_IsNotFound(t *testing.T) {
	g := open(t)
	type client = gatekeeperv1.WorkServiceClient
	service := func(conn grpc.ClientConnInterface) client { return gatekeeperv1.NewWorkServiceClient(conn) }
	for name, call := range map[string]func(context.Context, *gate) error{
		"get":    unary(service, client.GetJob, &gatekeeperv1.GetJobRequest{Id: "no"}),
		"tasks":  unary(service, client.ListTasks, &gatekeeperv1.ListTasksRequest{Job: "no"}),
		"follow": streaming(service, client.FollowJob, &gatekeeperv1.FollowJobRequest{Id: "no"}),
	} {
		if metadata := want(t, call(ctx(t), g), codes.NotFound, "NO_SUCH_JOB"); metadata["id"] != "no" {
			t.Errorf("%s: got metadata %v, want id no", name, metadata)
		}
	}
}
