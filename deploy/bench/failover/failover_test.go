package failover

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a cluster that stops granting permits for a fixed time when its leader is killed.
type fake struct {
	name         string
	downtime     time.Duration
	dropRequests bool // whether requests during the downtime hang instead of failing
	events       *[]string

	leader      int
	recoversAt  time.Time
	dead        atomic.Int32 // index of the killed server plus 1; 0 if none was killed
	deadQueried atomic.Bool  // whether the killed server received a request
}

var errNoLeader = errors.New("no leader")

func (f *fake) Leader(context.Context) (int, error) { return f.leader, nil }

func (f *fake) Kill(server int) {
	f.dead.Store(int32(server + 1))
	f.recoversAt = time.Now().Add(f.downtime)
	*f.events = append(*f.events, f.name+" killed")
}

func (f *fake) Restart(_ context.Context, server int) error {
	if f.dead.Swap(0) != int32(server+1) {
		return errors.New("the restarted server is not the one that was killed")
	}
	f.leader = (server + 1) % count
	*f.events = append(*f.events, f.name+" restarted")
	return nil
}

func (f *fake) Acquire(ctx context.Context, server int) error {
	dead := f.dead.Load()
	if dead == int32(server+1) {
		f.deadQueried.Store(true)
		return errors.New("dead")
	}
	if dead == 0 || !time.Now().Before(f.recoversAt) {
		return nil
	}
	if f.dropRequests {
		<-ctx.Done()
		return ctx.Err()
	}
	return errNoLeader
}

func (f *fake) AcquireAny(ctx context.Context) error {
	for f.dead.Load() != 0 && time.Now().Before(f.recoversAt) {
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func TestMeasure_AlternatesAndMeasuresTimeToNextGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		slow := &fake{name: "slow", downtime: 1234 * time.Millisecond, dropRequests: true, events: &events}
		quick := &fake{name: "quick", downtime: 300 * time.Millisecond, leader: 2, events: &events}
		got, err := Measure(t.Context(), []Contestant{{"slow", slow}, {"quick", quick}}, 2)
		if err != nil {
			t.Fatal(err)
		}
		want := []Result{
			{"slow", []float64{1240, 1240}, []float64{1250, 1250}}, // the first request after the downtime
			{"quick", []float64{300, 300}, []float64{500, 500}},
		}
		for i := range want {
			if got[i].Name != want[i].Name || !slices.Equal(got[i].First, want[i].First) || !slices.Equal(got[i].Library, want[i].Library) {
				t.Errorf("got result %+v, want %+v", got[i], want[i])
			}
		}
		turns := []string{"slow killed", "slow restarted", "quick killed", "quick restarted"}
		if !slices.Equal(events, slices.Concat(turns, turns)) {
			t.Errorf("got events %v, want %v twice", events, turns)
		}
		if slow.deadQueried.Load() || quick.deadQueried.Load() {
			t.Error("the killed server received a request")
		}
	})
}

func TestMeasure_ClusterNeverRecovers_FailsWithLastResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		dead := &fake{downtime: time.Hour, events: &events}
		start := time.Now()
		_, err := Measure(t.Context(), []Contestant{{"dead", dead}}, 3)
		if err == nil || !strings.Contains(err.Error(), "dead, run 1") || !errors.Is(err, errNoLeader) {
			t.Errorf("got error %v, want an error that names the run and wraps errNoLeader", err)
		}
		if took := time.Since(start); took != grantTimeout {
			t.Errorf("Measure() gave up after %v, want %v", took, grantTimeout)
		}
	})
}

func TestMedian_EvenCount_IsMeanOfMiddleTwo(t *testing.T) {
	if got := Median([]float64{9, 1, 2, 4}); got != 3 {
		t.Errorf("Median() = %v, want 3", got)
	}
	if got := Median([]float64{9, 1, 2}); got != 2 {
		t.Errorf("Median() = %v, want 2", got)
	}
}

func TestPrint_ReportsEachTarget(t *testing.T) {
	var out bytes.Buffer
	Print(&out, []Result{
		{Default, []float64{1000, 2000, 3000}, []float64{1100, 2100, 3100}},
		{"peer", []float64{1300}, []float64{1400}},
	}, []Target{{Name: Default, Limit: 2200}, {Name: Default, Other: "peer"}, {Name: Default, Other: "absent"}, {Name: Fast, Limit: 800}})
	for _, want := range []string{"(target: at most 2200 ms): met\n", "(target: at most the 1300 ms of peer): MISSED by 700 ms\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "absent") || strings.Contains(out.String(), Fast) {
		t.Errorf("the report contains targets that were not measured:\n%s", &out)
	}
}
