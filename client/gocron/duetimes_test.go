package gocron

import (
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(minutes ...float64) (all []time.Time) {
	for _, m := range minutes {
		all = append(all, noon.Add(time.Duration(m*float64(time.Minute))))
	}
	return all
}

// Each step is a run, with the due times that the scheduler reports and the due time that the run takes. Times are in
// minutes after noon.
func TestTake_ReturnsTheDueTimeOfEachRun(t *testing.T) {
	type run struct {
		now   float64
		runs  []time.Time
		drift time.Duration
		takes []time.Time // empty if the run takes no due time
	}
	for name, runs := range map[string][]run{
		"on time":                                         {{now: 0, runs: at(0, 1, 2), takes: at(0)}, {now: 1, runs: at(1, 2, 3), takes: at(1)}},
		"late, after the next due time":                   {{now: 2.5, runs: at(0, 1, 2, 3, 4), takes: at(2)}, {now: 3, runs: at(3, 4), takes: at(3)}},
		"rescheduled before Lock":                         {{now: 0, runs: at(0, 1), takes: at(0)}, {now: 1, runs: at(1, 2), takes: at(1)}},
		"previous run skipped":                            {{now: 0, runs: at(0, 1), takes: at(0)}, {now: 2, runs: at(1, 2, 3), takes: at(2)}},
		"due times out of order":                          {{now: 0.1, runs: at(0, -1, 1), takes: at(0)}},
		"due time dropped":                                {{now: 0, runs: at(0, 1, 2), takes: at(0)}, {now: 1, takes: at(1)}, {now: 2, runs: at(3, 4), takes: at(2)}},
		"due time dropped, next one is near":              {{now: 0, runs: at(0, 1, 2), takes: at(0)}, {now: 1.999, runs: at(2, 3), takes: at(1)}, {now: 2, takes: at(2)}},
		"manual run":                                      {{now: -0.5, runs: at(0, 1)}, {now: 0, runs: at(0, 1), takes: at(0)}, {now: 0.5, runs: at(0, 1)}, {now: 1, runs: at(1), takes: at(1)}},
		"manual run shortly before the due time":          {{now: -0.001, runs: at(0, 1)}, {now: 0, runs: at(0, 1), takes: at(0)}},
		"manual run at the due time":                      {{now: 0, runs: at(0, 1), takes: at(0)}, {now: 0, runs: at(0, 1)}, {now: 0, runs: at(1)}},
		"queued":                                          {{now: 0, runs: at(0, 1), takes: at(0)}, {now: 3.5, runs: at(1, 2, 3, 4), takes: at(3)}, {now: 3.6, runs: at(4)}, {now: 4, runs: at(4), takes: at(4)}},
		"clock set back by 10 s":                          {{now: 0, runs: at(0, 1), takes: at(0)}, {now: 0.84, runs: at(1, 2), drift: -10 * time.Second, takes: at(1)}, {now: 1.9, runs: at(2, 3), drift: -10 * time.Second}, {now: 2, runs: at(2, 3), drift: -10 * time.Second, takes: at(2)}},
		"clock set back by 1 s, long before the due time": {{now: 0.5, runs: at(1, 2), drift: -time.Second}},
		"clock set forward by 1 h":                        {{now: 0, runs: at(0, 1), takes: at(0)}, {now: 61, runs: at(1, 2, 3), drift: time.Hour, takes: at(3)}, {now: 62, runs: at(62, 63), drift: time.Hour, takes: at(62)}},
		"never due again":                                 {{now: 0, runs: []time.Time{noon, {}}, takes: at(0)}, {now: 1, runs: []time.Time{{}, {}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var table dueTimes
			for i, r := range runs {
				var want time.Time
				if r.takes != nil {
					want = r.takes[0]
				}
				if got := table.take(snapshot{runs: r.runs}, at(r.now)[0], r.drift); !got.Equal(want) {
					t.Fatalf("run %d: take() = %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

func TestTake_RandomJobWithDroppedDueTime_ReturnsNow(t *testing.T) {
	var table dueTimes
	random := gocron.DurationRandomJobSchedule{Min: time.Second, Max: time.Minute}
	if got := table.take(snapshot{schedule: random}, noon, 0); !got.Equal(noon) {
		t.Errorf("take() = %s, want %s", got, noon)
	}
	if got := table.take(snapshot{schedule: random, runs: at(1)}, noon.Add(time.Second), 0); !got.IsZero() {
		t.Errorf("take() for a manual run = %s, want the zero time", got)
	}
}

func TestSkipPassed_LaterRunsDoNotTakeTheDueTime(t *testing.T) {
	var table dueTimes
	table.take(snapshot{runs: at(0, 1, 2)}, noon, 0)
	table.skipPassed(at(1)[0], 0)
	if got := table.take(snapshot{runs: at(2, 3)}, at(1.5)[0], 0); !got.IsZero() {
		t.Errorf("take() for a manual run = %s, want the zero time", got)
	}
	if got := table.take(snapshot{runs: at(2, 3)}, at(2)[0], 0); !got.Equal(at(2)[0]) {
		t.Errorf("take() = %s, want %s", got, at(2)[0])
	}
}

func TestDueTimes_ManyPassed_ListIsBounded(t *testing.T) {
	var table dueTimes
	for i := range 100 {
		var runs []time.Time
		for j := range maxTracked {
			runs = append(runs, noon.Add(time.Duration(100*i+j)*time.Second+time.Duration(i)))
		}
		table.take(snapshot{runs: runs}, runs[0], 0)
		if len(table.ahead) > 3*maxTracked {
			t.Fatalf("len(ahead) = %d, want at most %d", len(table.ahead), 3*maxTracked)
		}
	}
}

func TestDrift_ClockNotSet_IsZero(t *testing.T) {
	base := time.Now()
	for _, now := range []time.Time{base.Add(time.Hour), base.Add(time.Hour).Round(0), base} {
		if got := drift(base, now); got != 0 {
			t.Errorf("drift(%s, %s) = %s, want 0", base, now, got)
		}
	}
}
