package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// timedVariant returns a variant whose calls take the given time and append its name to order.
func timedVariant(name string, took time.Duration, order *[]string) variant {
	return variant{Work: pairs, System: name, Servers: 1, open: ready(func(context.Context, int) (int, error) {
		<-time.After(took)
		*order = append(*order, name)
		return 1, nil
	})}
}

func TestMeasure_EveryVariant_GetsWindowInEachRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		few := timedVariant("few", time.Millisecond, &order)
		few.maxCallers = 1
		p := &plan{Callers: []int{1, 2}, Rounds: 3, Window: time.Second}
		got, err := p.measure(t.Context(), []variant{timedVariant("quick", 100*time.Millisecond, &order), timedVariant("slow", 500*time.Millisecond, &order), few})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 5 { // few is not measured with 2 callers
			t.Fatalf("got %d cells, want 5", len(got))
		}
		for i, want := range []float64{10, 2, 1000, 20, 4} {
			if len(got[i].Figures) != 3 || got[i].medianFigure().PerSecond != want {
				t.Errorf("%s at %d callers: got %+v, want 3 windows of %v per second", got[i].System, got[i].Callers, got[i].Figures, want)
			}
		}
		turns := slices.Compact(order)
		if want := []string{"quick", "slow", "few", "slow", "few", "quick", "few", "quick", "slow"}; !slices.Equal(turns[:len(want)], want) {
			t.Errorf("got order %v, want it to start with %v", turns, want)
		}
	})
}

func TestMeasure_FailedOperation_FailsRunAndNamesVariant(t *testing.T) {
	refused := errors.New("refused")
	var closed bool
	p := &plan{Callers: []int{2}, Rounds: 1, Window: time.Hour}
	_, err := p.measure(t.Context(), []variant{{Work: denials, System: "peer", Servers: 3, How: "asking",
		open: func(context.Context, int) (load.Call, func(), error) {
			return func(context.Context, int) (int, error) { return 0, refused }, func() { closed = true }, nil
		}}})
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "denials, peer, 3 servers: asking, 2 callers") {
		t.Errorf("got error %v, want it to wrap the refusal and name the variant", err)
	}
	if !closed {
		t.Error("variant was not closed")
	}
}

func cells(t *testing.T, kind work, callers int, perSecond map[string][]float64) []*cell {
	t.Helper()
	variants := map[string]variant{
		"bolt 3":  {Work: kind, System: "gatekeeper", Servers: 3, Store: bolt, How: "TryAcquire, Release"},
		"tls 3":   {Work: kind, System: "gatekeeper", Servers: 3, Store: bolt, How: "TryAcquire, Release", TLS: true},
		"bolt 1":  {Work: kind, System: "gatekeeper", Servers: 1, Store: bolt, How: "TryAcquire, Release"},
		"wal 3":   {Work: kind, System: "gatekeeper", Servers: 3, Store: wal, How: "TryAcquire, Release"},
		"etcd 3":  {Work: kind, System: "etcd", Servers: 3, How: "Txn, Delete"},
		"redis 1": {Work: kind, System: "Redis", Servers: 1},
		"limit":   {Work: kind, System: echo},
	}
	var all []*cell
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range perSecond {
			if !yield(name) {
				return
			}
		}
	}) {
		c := &cell{variant: variants[name], Callers: callers}
		if c.System == "" {
			t.Fatalf("unknown variant %q", name)
		}
		for _, f := range perSecond[name] {
			c.Figures = append(c.Figures, load.Figure{Callers: callers, PerSecond: f})
		}
		all = append(all, c)
	}
	return all
}

func TestRatios_CompareClustersOfSameSize_RoundByRound(t *testing.T) {
	got := ratios(cells(t, pairs, 64, map[string][]float64{
		"bolt 3": {10, 30, 80}, "etcd 3": {10, 10, 20}, "bolt 1": {50, 50, 50}, "redis 1": {100, 200, 25}, "limit": {1000, 1000, 1000},
	}))
	want := map[string]spread{
		"gatekeeper, 3 servers, bolt: TryAcquire, Release / etcd, 3 servers: Txn, Delete": {3, 1, 4},
		"gatekeeper, 1 server, bolt: TryAcquire, Release / Redis, 1 server":               {0.5, 0.25, 2},
		"gatekeeper, 3 servers, bolt: TryAcquire, Release / grpc echo":                    {0.03, 0.01, 0.08},
		"gatekeeper, 1 server, bolt: TryAcquire, Release / grpc echo":                     {0.05, 0.05, 0.05},
	}
	if len(got) != len(want) {
		t.Errorf("got %d ratios, want %d", len(got), len(want))
	}
	for _, r := range got {
		if r.spread != want[r.Of+" / "+r.To] || r.Callers != 64 {
			t.Errorf("unexpected ratio %s / %s at %d: %+v", r.Of, r.To, r.Callers, r.spread)
		}
	}
}

// Pairs and tasks on different log stores are not compared.
func TestRatios_TasksAndPairs_AreComparedOnSameLogStore(t *testing.T) {
	var all []*cell
	for _, store := range []string{bolt, wal} {
		for system, how := range map[string]string{gatekeeperName: "SubmitJob", ownPairs: ""} {
			all = append(all, &cell{
				variant: variant{Work: tasks, System: system, How: how, Servers: 3, Store: store},
				Callers: 16, Figures: []load.Figure{{Callers: 16, PerSecond: 1}},
			})
		}
	}
	got := ratios(all)
	for _, r := range got {
		if r.of.System != gatekeeperName || r.to.System != ownPairs || r.of.Store != r.to.Store {
			t.Errorf("unexpected ratio %s / %s", r.Of, r.To)
		}
	}
	if len(got) != 2 {
		t.Errorf("got %d ratios, want 2", len(got))
	}
}

// A variant with TLS is compared only with the same variant without TLS, and may be up to a quarter slower.
func TestRatios_TLS_IsComparedOnlyWithPlaintext(t *testing.T) {
	all := cells(t, pairs, 64, map[string][]float64{"tls 3": {16}, "bolt 3": {20}, "bolt 1": {30}, "wal 3": {40}, "etcd 3": {1}, "limit": {100}})
	var got []string
	for _, r := range ratios(all) {
		if r.of.TLS || r.to.TLS {
			got = append(got, r.Of+" / "+r.To)
		}
	}
	const want = "gatekeeper, 3 servers, bolt, TLS: TryAcquire, Release / gatekeeper, 3 servers, bolt: TryAcquire, Release"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got ratios %q, want only %q", got, want)
	}
	verdicts := slices.DeleteFunc(judge(ratios(all)), func(v verdict) bool { return !strings.Contains(v.What, "TLS") })
	if len(verdicts) != 1 || !verdicts[0].Met || verdicts[0].AtLeast != 0.75 || verdicts[0].Reached != 0.8 {
		t.Errorf("got verdicts %+v, want 0.8 to meet the target of 0.75", verdicts)
	}
}

// The CPU ratio compares the total time of servers and callers, round by round.
func TestRatios_CompareCPUTimePerOperation(t *testing.T) {
	all := cells(t, pairs, 64, map[string][]float64{"bolt 3": {10, 20, 30}, "etcd 3": {10, 10, 10}})
	for _, c := range all {
		c.CPU = []cpuCost{{Servers: 90, Callers: 10}, {Servers: 180, Callers: 20}, {Servers: 30, Callers: 10}}
		if c.System == "etcd" {
			c.CPU = []cpuCost{{Servers: 140, Callers: 60}, {Servers: 60, Callers: 40}, {Servers: 70, Callers: 50}}
		}
	}
	got := ratios(all)
	if len(got) != 1 || got[0].CPU == nil || *got[0].CPU != (spread{2, 0.5, 3}) || got[0].spread != (spread{2, 1, 3}) {
		t.Fatalf("got %+v, want a CPU ratio of 2, between 0.5 and 3", got)
	}
	var out bytes.Buffer
	(&report{Plan: &plan{Callers: []int{64}}, Cells: all, Ratios: got}).print(&out)
	for _, want := range []string{"20 (90 + 10 µs)\n", "10 (70 + 50 µs)\n", "2.00 (1.00–3.00), by CPU 2.00 (0.50–3.00)\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, &out)
		}
	}
}

func TestJudge_EachLogStore_HasSeparateTarget(t *testing.T) {
	all := cells(t, pairs, 64, map[string][]float64{"bolt 3": {19}, "wal 3": {19}, "bolt 1": {1}, "etcd 3": {10}})
	got := judge(ratios(all))
	if len(got) != 2 || got[0].Met || got[0].AtLeast != 2.0 || !got[1].Met || got[1].AtLeast != 1.7 || got[0].Reached != 1.9 {
		t.Errorf("got verdicts %+v, want 1.9 to miss the target of 2.0 and meet the target of 1.7", got)
	}
	r := &report{Plan: &plan{Callers: []int{64}}, Cells: all, Ratios: ratios(all), Targets: got}
	var out bytes.Buffer
	r.print(&out)
	for _, want := range []string{"MISSED by 0.1\n", "  met\n", "1 of 2 targets met."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, &out)
		}
	}
}

func TestJudge_Frames_AreComparedWithEcho(t *testing.T) {
	at := func(system, how, store string, servers, callers int, perSecond float64) *cell {
		w := variant{Work: tokens, System: system, Servers: servers, Store: store, How: how}
		return &cell{variant: w, Callers: callers, Figures: []load.Figure{{PerSecond: perSecond}}}
	}
	got := judge(ratios([]*cell{
		at("gatekeeper", "KeepAlive stream", bolt, 3, 16, 3e6), at(echo, "", "", 0, 16, 1e5),
		at("gatekeeper", "KeepAlive stream", bolt, 3, 64, 2e6), at(echo, "", "", 0, 64, 1e5),
	}))
	if len(got) != 1 || got[0].Met || got[0].Reached != 20 {
		t.Errorf("got verdicts %+v, want the target at 64 callers to be missed", got)
	}
}

func TestCheck_InvalidFlags_AreRejected(t *testing.T) {
	valid := func() *bench {
		return &bench{
			parts: []string{partWork}, systems: []string{etcdName}, stores: []string{bolt},
			plan: plan{Rounds: 1, Window: time.Second}, runs: 1,
		}
	}
	if err := valid().check("1,3", "1,16"); err != nil {
		t.Error(err)
	}
	for name, mutate := range map[string]func(*bench){
		"an unknown part":   func(b *bench) { b.parts = []string{"works"} },
		"an unknown system": func(b *bench) { b.systems = []string{"consul"} },
		"a duplicate store": func(b *bench) { b.stores = []string{bolt, bolt} },
		"no rounds":         func(b *bench) { b.plan.Rounds = 0 },
		"no window":         func(b *bench) { b.plan.Window = 0 },
		"no runs":           func(b *bench) { b.runs = 0 },
	} {
		b := valid()
		if mutate(b); b.check("1", "1") == nil {
			t.Errorf("check() accepted %s", name)
		}
	}
	for _, lists := range [][2]string{{"2", "1"}, {"1,1", "1"}, {"1", "0"}, {"1", "x"}, {"", "1"}} {
		if valid().check(lists[0], lists[1]) == nil {
			t.Errorf("check() accepted -servers %q -callers %q", lists[0], lists[1])
		}
	}
}
