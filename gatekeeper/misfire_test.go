package gatekeeper

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A definition is created, three hours pass with no host running, and then two hosts start.
func TestCatchUp_HostsDown_RunsMissedFiringsOnce(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	clock := new(wallClock)
	cfg.wallClock = clock.now
	s := open(t, cfg)
	waitReady(t, s)
	eventually(t, func() bool { return s.machine.State().FeatureLevel() == fsm.SupportedLevel })
	c := newCaller(t, s)

	def := &gatekeeperv1.Definition{
		Name: "hourly", Misfire: gatekeeperv1.Misfire_MISFIRE_EACH, MisfireWindow: durationpb.New(6 * time.Hour), GroupPattern: new("prod"),
	}
	created := time.Now().UTC()
	if _, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Definition: def}); err != nil {
		t.Fatal(err)
	}
	clock.ahead.Store(int64(3*time.Hour + time.Minute))
	var due []*timestamppb.Timestamp // from two hours before the definition to an hour from now
	for h := -2; h <= 4; h++ {
		due = append(due, timestamppb.New(created.Add(time.Duration(h)*time.Hour)))
	}
	catchUp := func(group string, due []*timestamppb.Timestamp) (*gatekeeperv1.CatchUpResponse, error) {
		return c.CatchUp(bounded(t), &gatekeeperv1.CatchUpRequest{
			Semaphore: "hourly", Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "host"}, Name: "hourly", Due: due,
		})
	}
	wantRuns := func(want ...int) {
		t.Helper()
		r, err := catchUp("prod", due)
		if err != nil || len(r.GetRun()) != len(want) {
			t.Fatalf("CatchUp() = %v, %v, want %v", r, err, want)
		}
		for i, h := range want {
			if got := r.GetRun()[i].AsTime(); !got.Equal(created.Add(time.Duration(h) * time.Hour)) {
				t.Errorf("CatchUp() runs %s, want hour %d", got, h)
			}
		}
	}
	since, err := catchUp("prod", nil)
	if err != nil || since.GetSince().AsTime().Before(created) || len(since.GetRun()) != 0 {
		t.Fatalf("CatchUp() = %v, %v, want nothing to run", since, err)
	}
	wantRuns(1, 2, 3)
	if r, err := c.TryAcquire(bounded(t), &gatekeeperv1.TryAcquireRequest{
		Semaphore: "hourly", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "other"}, RequestId: "r",
		Firing: &gatekeeperv1.Firing{Name: "hourly", Due: due[4]},
	}); err != nil || r.GetGrant() == nil {
		t.Fatalf("TryAcquire() = %v, %v, want a grant", r, err)
	}
	wantRuns(1, 3)
	if r, err := catchUp("dr", due); err != nil || r.GetSince() != nil || len(r.GetRun()) > 0 {
		t.Errorf("CatchUp() by a group that is not admitted = %v, %v, want nothing to run", r, err)
	}

	replace := func(policy gatekeeperv1.Misfire) {
		t.Helper()
		def.Misfire = policy
		current, err := c.GetDefinition(bounded(t), &gatekeeperv1.GetDefinitionRequest{Name: "hourly"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReplaceDefinition(bounded(t), &gatekeeperv1.ReplaceDefinitionRequest{
			Definition: def, ExpectedVersion: current.GetRecord().GetVersion(),
		}); err != nil {
			t.Fatal(err)
		}
	}
	def.Description = "edited"
	replace(gatekeeperv1.Misfire_MISFIRE_EACH)
	wantRuns(1, 3)
	replace(gatekeeperv1.Misfire_MISFIRE_ONCE)
	wantRuns(3)
	clock.ahead.Store(int64(4*time.Hour + time.Minute))
	wantRuns(4)
	def.MisfireWindow = nil
	replace(gatekeeperv1.Misfire_MISFIRE_SKIP)
	wantRuns()

	for name, bad := range map[string]*gatekeeperv1.CatchUpRequest{
		"no name":      {Semaphore: "hourly", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "host"}},
		"no caller":    {Semaphore: "hourly", Name: "hourly"},
		"out of order": {Semaphore: "hourly", Name: "hourly", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "host"}, Due: []*timestamppb.Timestamp{due[1], due[0]}},
		"too many":     {Semaphore: "hourly", Name: "hourly", Identity: &gatekeeperv1.Identity{Group: "prod", Acquirer: "host"}, Due: make([]*timestamppb.Timestamp, 1001)},
	} {
		if _, err := c.CatchUp(bounded(t), bad); status.Code(err) != codes.InvalidArgument {
			t.Errorf("CatchUp() with %s = %v, want InvalidArgument", name, err)
		}
	}
}
