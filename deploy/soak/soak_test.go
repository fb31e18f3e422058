package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// This test runs the whole program against real servers, for long enough to take one or two samples.
func TestSoak_Short_RunsLoadAndIsNotJudged(t *testing.T) {
	dir := t.TempDir()
	if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := soak{
		out: &out, bin: dir, length: 5 * time.Second, every: time.Second, load: sizes{Workers: 4, Denied: 2, Queued: 3, Kept: 20, Watchers: 2},
		plotFile: filepath.Join(dir, "soak.svg"), jsonFile: filepath.Join(dir, "soak.json"),
	}
	if err := s.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	var r report
	text, err := os.ReadFile(s.jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) == 0 || len(r.Growth) != 9 || r.Judged || r.Growth[0].Late < 1 || r.Done.Watched == 0 {
		t.Errorf("the report is incomplete, or was judged: %+v", r)
	}
	if !strings.Contains(out.String(), "growth was not judged") {
		t.Errorf("output does not report that growth was not judged:\n%s", &out)
	}
}

// flat returns the report of a one-hour run without growth.
func flat() *report {
	r := &report{Length: 3600, Servers: []string{"gk1", "gk2", "gk3"}, Done: counts{Granted: 1, Denied: 1, Firings: 1, Changes: 1}}
	for i := range 240 {
		one := sample{At: 15 * float64(i+1)}
		for range r.Servers {
			one.Servers = append(one.Servers, state{Memory: 100e6, Goroutines: 200, Disk: 50e6, Term: 2, Applied: fullLog})
		}
		r.Samples = append(r.Samples, one)
	}
	return r
}

func TestJudge_Growth_IsReported(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *state, at float64)
		broken string
	}{
		{"Flat", func(*state, float64) {}, ""},
		{"FillsUpFirst", func(s *state, at float64) { s.Memory = 200e6 - max(0, 900-at)*1e5 }, ""},
		{"Memory", func(s *state, at float64) { s.Memory += at * 50e3 }, "memory on gk2 grew from"},
		{"Goroutines", func(s *state, at float64) { s.Goroutines += at / 10 }, "goroutines on gk2 grew"},
		{"Disk", func(s *state, at float64) { s.Disk += at * 50e3 }, "data directory on gk2 grew"},
		{"DiskUntilLogIsFull", func(s *state, at float64) {
			s.Applied = uint64(fullLog * at / 2000)
			s.Disk += min(at, 2000) * 50e3
		}, ""},
		{"DiskOfFullLog", func(s *state, at float64) {
			s.Applied = uint64(fullLog * at / 2000)
			s.Disk += at * 100e3
		}, "data directory on gk2 grew"},
		{"Elected", func(s *state, at float64) { s.Term += uint64(at / 3000) }, "a leader was elected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := flat()
			for i := range r.Samples {
				test.change(&r.Samples[i].Servers[1], r.Samples[i].At)
			}
			r.judge(nil)
			if got := strings.Join(r.Broken, "\n"); test.broken == "" && got != "" || !strings.Contains(got, test.broken) {
				t.Errorf("got broken guarantees %q, want %q", got, test.broken)
			}
		})
	}
}

// A leader must step down if its machine stalls for the length of its lease, so the election is not a failure.
func TestJudge_ElectionDuringStall_IsReportedButNotBroken(t *testing.T) {
	for stall, broken := range map[float64]int{0.3: 1, 0.5: 0} {
		for _, at := range []int{99, 100} { // the last sample before the election, and the first one after it
			r := flat()
			for i := 100; i < len(r.Samples); i++ {
				r.Samples[i].Servers[2].Term++
			}
			r.Samples[at].Stall = stall
			r.judge(nil)
			var out bytes.Buffer
			r.print(&out)
			if len(r.Broken) != broken || strings.Contains(out.String(), "not caused by the servers") == (broken > 0) || !strings.Contains(out.String(), "before 1 of 240 samples") {
				t.Errorf("after a stall of %v s: got broken guarantees %q\n%s", stall, r.Broken, &out)
			}
		}
	}
}

func TestStalls_Take_ReturnsLongestOnce(t *testing.T) {
	var s stalls
	now := time.Now()
	for _, after := range []time.Duration{0, stallTick, time.Second, stallTick, time.Second / 2} {
		now = now.Add(after)
		s.record(now)
	}
	if d := s.take(); d != time.Second-stallTick {
		t.Errorf("take() = %v, want %v", d, time.Second-stallTick)
	}
	s.record(now.Add(stallTick))
	if d := s.take(); d != 0 {
		t.Errorf("second take() = %v, want 0", d)
	}
}

// Disk growth is not judged while the log is still filling up. The report mentions this.
func TestJudge_LogNeverFull_IsReported(t *testing.T) {
	r := flat()
	for i := range r.Samples {
		for j := range r.Samples[i].Servers {
			r.Samples[i].Servers[j].Applied, r.Samples[i].Servers[j].Disk = uint64(i), float64(i)*1e6
		}
	}
	r.judge(nil)
	var out bytes.Buffer
	r.print(&out)
	if len(r.Broken) > 0 || strings.Count(out.String(), "filling up: not judged") != len(r.Servers) {
		t.Errorf("got broken guarantees %q, want none, and no server judged:\n%s", r.Broken, &out)
	}
}

func TestJudge_FailedCallsAndIdleness_AreReported(t *testing.T) {
	r := flat()
	r.judge([]string{"3 times: a denial: no server answers"})
	if len(r.Broken) != 1 {
		t.Errorf("got broken guarantees %q, want only the failure", r.Broken)
	}
	r = flat()
	r.Done.Firings = 0
	r.judge(nil)
	if len(r.Broken) != 1 || !strings.Contains(r.Broken[0], "too little") {
		t.Errorf("got broken guarantees %q, want only one about too little work", r.Broken)
	}
}

func TestPlot_IsWellFormed(t *testing.T) {
	r := flat()
	d := xml.NewDecoder(bytes.NewReader(r.plot()))
	lines := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 3*len(measures())+1 {
		t.Errorf("got %d curves, want one per measure and server, and one for the calls", lines)
	}
}
