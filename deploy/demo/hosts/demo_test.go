package hosts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

var bin string

// TestMain is also the main function of the hosts, which are instances of the test binary.
func TestMain(m *testing.M) { os.Exit(demotest.Main(m, &bin, Part, Host)) }

func TestDemo_Short_PrintsTableWithoutOverlaps(t *testing.T) {
	var out strings.Builder
	s := Scenario{
		Stage: stage.Stage{Out: &out, Bin: bin, Length: 12 * time.Second, Duration: 2 * time.Second, Profile: "fast"},
		hour:  4 * time.Second, hosts: 2,
	}
	if err := s.Play(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"grants", "denials", "handover", "failover", "killed host", "overlaps"} {
		if !strings.Contains(out.String(), "\n"+row+" ") {
			t.Errorf("the table has no row %q:\n%s", row, &out)
		}
	}
}

func TestHost_SuspendedPastDeadline_StopsRelyingOnPermit(t *testing.T) {
	if found := suspendHolder(t, false); len(found) != 0 {
		t.Errorf("got overlaps %v, want none", found)
	}
}

// The tally must detect a host that relies on its permit after the deadline.
func TestHost_ReliesOnPermitPastDeadline_IsDetected(t *testing.T) {
	found := suspendHolder(t, true)
	if len(found) == 0 {
		t.Fatal("the tally did not detect a host that still relied on its permit after another host was granted it")
	}
	for _, o := range found {
		t.Log(o)
	}
}

// frequentJob is a job in the schedule that is due every five minutes. group is its cluster.
const (
	frequentJob = "ci-k8s-infra-aks-build-cluster"
	group       = "k8s-infra-aks-prow-build"
)

// suspendHolder suspends a host while it holds a permit, waits until another host is granted the same permit, and
// resumes the first host. If believeLonger is set, the first host ignores its deadline. suspendHolder returns the
// violations found by the tally.
func suspendHolder(t *testing.T, believeLonger bool) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cluster := oneServer(ctx, t)
	var s stage.Stage
	schedule := fastSchedule{Epoch: boottime.Now(), Start: monday, Hour: 6 * time.Second}
	startHost := func(name string, believeLonger bool) *stage.Process {
		p, err := s.Start(ctx, Part, name, host{
			Name: name, Group: group, Endpoints: cluster.Endpoints(), Schedule: schedule, Length: time.Minute,
			Run: 1500 * time.Millisecond, IgnoreLoss: believeLonger,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	first, second := startHost("first", believeLonger), startHost("second", false)

	held := await(ctx, t, first, "the first host's grant", func(r stage.Record) bool { return r.Event == stage.Granted && r.Semaphore == frequentJob })
	if err := first.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await(ctx, t, second, "the second host's grant", func(r stage.Record) bool {
		return r.Event == stage.Granted && r.Semaphore == frequentJob && r.Token > held.Token
	})
	if err := first.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(ctx, t, first, "the first host to stop relying on its permit", func(r stage.Record) bool { return r.Event == stage.Ended && r.Token == held.Token })
	first.Kill()
	second.Kill()
	return count(s.Lives(), map[string]uint32{frequentJob: 1, poolName: 4}, 0).violations
}

const poolName = "pool/" + group

// oneServer starts a server with the group's two definitions, both with a short duration.
func oneServer(ctx context.Context, t *testing.T) *servers.Cluster {
	t.Helper()
	cluster, err := servers.Start(ctx, servers.Options{Binary: filepath.Join(bin, "gatekeeperd"), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Kill)
	conn, err := cluster.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	for name, permits := range map[string]uint32{frequentJob: 1, poolName: 4} {
		def := &gatekeeperv1.Definition{Name: name, Permits: &permits, Duration: durationpb.New(time.Second)}
		if _, err := gatekeeperv1.NewDefinitionServiceClient(conn).CreateDefinition(ctx, &gatekeeperv1.CreateDefinitionRequest{Definition: def}); err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

// await waits for a matching record from p and returns it.
func await(ctx context.Context, t *testing.T, p *stage.Process, what string, match func(stage.Record) bool) stage.Record {
	t.Helper()
	r, err := p.Await(ctx, what, match)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
