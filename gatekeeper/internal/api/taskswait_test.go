package api

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// connectWorker connects a worker with the given number of slots, and waits until it is listed.
func (g *gate) connectWorker(t *testing.T, group string, slots uint32) grpc.BidiStreamingClient[gatekeeperv1.WorkRequest, gatekeeperv1.WorkResponse] {
	t.Helper()
	jobs := gatekeeperv1.NewWorkServiceClient(g.conn)
	stream := must(jobs.Work(ctx(t)))(t)
	offer := &gatekeeperv1.WorkOffer{Semaphore: "s", Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "w"}, Slots: slots}
	if err := stream.Send(&gatekeeperv1.WorkRequest{Frame: 1, Kind: &gatekeeperv1.WorkRequest_Offer{Offer: offer}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the worker is listed, and denied unless its group is default", func() bool {
		r := must(jobs.ListWorkers(ctx(t), &gatekeeperv1.ListWorkersRequest{}))(t)
		for _, w := range r.GetWorkers() {
			if w.GetIdentity().GetGroup() == group && (group == "default") == (w.GetDenied() == gatekeeperv1.Reason_REASON_UNSPECIFIED) {
				return true
			}
		}
		return false
	})
	return stream
}

func TestExplain_TasksWaiting_ReturnsFirstApplicableCause(t *testing.T) {
	t.Parallel()
	// The cases are in the order in which the causes are checked.
	pause := fsm.Pause{Names: []string{"s"}, Reason: "disk full", At: time.Unix(3, 0).UTC()}
	edit := func(g *gate, permits uint32) {
		d := definition("s")
		d.Permits = permits
		g.keeper.do(fsm.EditBatch{At: time.Unix(4, 0).UTC(), Author: "test", Changes: []fsm.Change{
			{Kind: fsm.Replace, Name: "s", Definition: d, ExpectedVersion: g.keeper.machine.State().Definition("s").Version},
		}})
	}
	waiting := func(worker bool) keeper.Waiter {
		return keeper.Waiter{Semaphore: "s", Weight: 1, Place: 1, Worker: worker}
	}
	for _, c := range []struct {
		name, want string
		setup      func(*testing.T, *gate)
	}{
		{"recovering", "No tasks are being handed out because the cluster was recovered and will not grant permits for another 1m0s", func(_ *testing.T, g *gate) {
			g.keeper.recovering = time.Minute
			g.keeper.do(pause)
		}},
		{"disabled", `The definition of semaphore "s" admits no callers: this server cannot use it.`, func(_ *testing.T, g *gate) { g.keeper.disabled = "this server cannot use it" }},
		{"paused", `The semaphore "s" is paused (disk full).`, func(_ *testing.T, g *gate) { g.keeper.do(pause) }},
		{"zero permits", `The semaphore "s" has 0 permits and admits no callers.`, func(_ *testing.T, g *gate) { edit(g, 0) }},
		{"no worker", `No worker is available for semaphore "s".`, func(*testing.T, *gate) {}},
		{"draining", `No worker is available for semaphore "s". 1 worker is draining.`, func(t *testing.T, g *gate) {
			if err := g.connectWorker(t, "default", 1).Send(&gatekeeperv1.WorkRequest{Frame: 2, Kind: &gatekeeperv1.WorkRequest_Drain{}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the worker is draining", func() bool {
				r := must(gatekeeperv1.NewWorkServiceClient(g.conn).ListWorkers(ctx(t), &gatekeeperv1.ListWorkersRequest{}))(t)
				return r.GetWorkers()[0].GetDraining()
			})
		}},
		{"one denied", "The only worker is denied: Group west is not admitted.", func(t *testing.T, g *gate) { g.connectWorker(t, "west", 1) }},
		{"all denied", "All 3 workers are denied. 2 of them: Group west is not admitted. 1 of them: Cordoned.", func(t *testing.T, g *gate) {
			g.connectWorker(t, "west", 1)
			g.connectWorker(t, "west", 1)
			g.connectWorker(t, "cordoned", 1)
			eventually(t, "three workers", func() bool {
				r := must(gatekeeperv1.NewWorkServiceClient(g.conn).ListWorkers(ctx(t), &gatekeeperv1.ListWorkersRequest{}))(t)
				denied := 0
				for _, w := range r.GetWorkers() {
					if w.GetDenied() != gatekeeperv1.Reason_REASON_UNSPECIFIED {
						denied++
					}
				}
				return denied == 3
			})
		}},
		{"permit taken", `The only permit of semaphore "s" is taken.`, func(t *testing.T, g *gate) {
			g.connectWorker(t, "west", 1)
			g.connectWorker(t, "default", 0)
			g.grant(t, "s", "other")
		}},
		{"cooling", `The only permit of semaphore "s" is taken. 1 permit is cooling.`, func(t *testing.T, g *gate) {
			g.connectWorker(t, "default", 1)
			g.keeper.do(fsm.Release{Token: g.grant(t, "s", "other").Token, Cooling: time.Minute, At: time.Unix(5, 0).UTC()})
		}},
		{"busy", "The only worker is at capacity: 0 tasks are held.", func(t *testing.T, g *gate) { g.connectWorker(t, "default", 0) }},
		{"callers ahead", "2 other callers are ahead of the workers in the queue.", func(t *testing.T, g *gate) {
			g.connectWorker(t, "default", 1)
			g.keeper.waiters = []keeper.Waiter{waiting(false), waiting(false), waiting(true), waiting(false)}
		}},
		{"handed out", "Workers are available, and the tasks are being handed out.", func(t *testing.T, g *gate) { g.connectWorker(t, "default", 1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := open(t)
			g.keeper.do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
			g.create("s")
			denies := func(id semaphore.Identity) (semaphore.Decision, string) {
				switch id.Group {
				case "west":
					return semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.GroupMismatch}, "Group west is not admitted."
				case "cordoned":
					return semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.Cordoned}, "Cordoned."
				}
				return semaphore.Decision{Outcome: semaphore.Granted}, "Granted."
			}
			g.keeper.explain = func(r *semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
				d, text := denies(r.Identity)
				return nil, d, text, 7, nil
			}
			g.keeper.acquire = func(ctx context.Context, call *keeper.AcquireCall, _ func(keeper.Place) error) (keeper.Answer, error) {
				if d, text := denies(call.Identity); d.Outcome == semaphore.Denied {
					return keeper.Answer{Outcome: semaphore.Denied, Denial: &keeper.Denial{Decision: d, Message: text}}, nil
				}
				call.Placed()
				<-ctx.Done()
				return keeper.Answer{}, ctx.Err()
			}
			submit := must(gatekeeperv1.NewWorkServiceClient(g.conn).SubmitJob(ctx(t)))(t)
			if err := submit.Send(&gatekeeperv1.SubmitJobRequest{
				Job: &gatekeeperv1.JobSpec{Id: "j", Semaphore: "s"}, Tasks: [][]byte{[]byte("a"), []byte("b")}, Last: true,
			}); err != nil {
				t.Fatal(err)
			}
			must(submit.CloseAndRecv())(t)
			c.setup(t, g)
			r := must(g.definitions.Explain(ctx(t), &gatekeeperv1.ExplainRequest{Semaphore: "s", Identity: testIdentity(), Weight: 1}))(t)
			if !strings.HasPrefix(r.GetWhyTasksWait(), c.want) || r.GetTaskCount() != 2 {
				t.Errorf("Explain() with %d tasks: why_tasks_wait = %q, want %q", r.GetTaskCount(), r.GetWhyTasksWait(), c.want)
			}
		})
	}
	g := open(t)
	g.create("s")
	g.keeper.explain = func(*semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
		return nil, semaphore.Decision{Outcome: semaphore.Granted}, "Granted.", 7, nil
	}
	if r := must(g.definitions.Explain(ctx(t), &gatekeeperv1.ExplainRequest{Semaphore: "s", Identity: testIdentity(), Weight: 1}))(t); r.GetWhyTasksWait() != "" {
		t.Errorf("Explain() without tasks: why_tasks_wait = %q, want it empty", r.GetWhyTasksWait())
	}
}
