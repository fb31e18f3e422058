package work

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// attempt returns a worker's records of an attempt at a task. The permit is granted at from, and the given events
// follow at until, both in seconds.
func attempt(token uint64, from, until time.Duration, result string, events ...stage.Event) (records []stage.Record) {
	records = append(records, stage.Record{Event: stage.Granted, Semaphore: "tasks", Job: "j", Token: token, At: from * time.Second})
	for _, e := range events {
		r := stage.Record{Event: e, Job: "j", Token: token, At: until * time.Second, Until: until * time.Second}
		if e == worked {
			r.Text = result
		}
		records = append(records, r)
	}
	return records
}

func got(token uint64, result string) stage.Record {
	return stage.Record{Event: returned, Job: "j", Token: token, Text: result}
}

// Every kind of violation is reported.
func TestJudge_Violation_IsReported(t *testing.T) {
	whole := []stage.Event{worked, stage.Ended, recorded}
	for name, c := range map[string]struct {
		one, other []stage.Record
		oneKilled  time.Duration
		got        []stage.Record
		stored     uint64
		violations string
	}{
		"done":                     {one: attempt(1, 1, 2, "7", whole...), got: []stage.Record{got(1, "7")}, stored: 1},
		"received twice":           {one: attempt(1, 1, 2, "7", whole...), got: []stage.Record{got(1, "7"), got(1, "7")}, stored: 1},
		"taken over":               {one: attempt(1, 1, 2, ""), oneKilled: 2, other: attempt(2, 3, 4, "7", whole...), got: []stage.Record{got(2, "7")}, stored: 2},
		"recorded, then killed":    {one: attempt(1, 1, 2, "7", worked, stage.Ended), oneKilled: 2, got: []stage.Record{got(1, "7")}, stored: 1},
		"no result":                {one: attempt(1, 1, 2, "7", whole...), stored: 1, violations: "has no result"},
		"wrong result":             {one: attempt(1, 1, 2, "8", whole...), got: []stage.Record{got(1, "8")}, stored: 1, violations: "is wrong"},
		"two results":              {one: attempt(1, 1, 2, "7", whole...), got: []stage.Record{got(1, "7"), got(2, "7")}, stored: 1, violations: "and also returned"},
		"different token":          {one: attempt(1, 1, 2, "7", whole...), got: []stage.Record{got(1, "7")}, stored: 2, violations: "but the servers have"},
		"different result":         {one: attempt(1, 1, 2, "6", whole...), got: []stage.Record{got(1, "7")}, stored: 1, violations: `returned "6"`},
		"unknown token":            {got: []stage.Record{got(1, "7")}, stored: 1, violations: "which no worker ever held"},
		"recorded for both":        {one: attempt(1, 1, 2, "7", whole...), other: attempt(2, 3, 4, "7", whole...), got: []stage.Record{got(2, "7")}, stored: 2, violations: "was also recorded for one"},
		"not confirmed":            {one: attempt(1, 1, 2, "7", worked, stage.Ended), got: []stage.Record{got(1, "7")}, stored: 1, violations: "got no confirmation"},
		"executed again":           {one: attempt(1, 1, 2, "", stage.Ended), other: attempt(2, 3, 4, "7", whole...), got: []stage.Record{got(2, "7")}, stored: 2, violations: "handed out again"},
		"two permits for one task": {one: attempt(1, 1, 4, "", stage.Ended), other: attempt(2, 3, 5, "7", whole...), got: []stage.Record{got(2, "7")}, stored: 2, violations: "overlap: task 0 of job j"},
		"too many holders":         {one: attempt(1, 1, 4, "", stage.Ended), other: attempt(2, 3, 5, "7", whole...), got: []stage.Record{got(2, "7")}, stored: 2, violations: "overlap: tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence{
				semaphore: "tasks", permits: 1, tasks: []task{{"j", 0}},
				stored: map[task]*gatekeeperv1.Task{{"j", 0}: {
					State: gatekeeperv1.TaskState_TASK_STATE_DONE, Token: c.stored, Result: []byte(append(c.got, stage.Record{})[0].Text),
				}},
				wrong: func(_ task, result string) string {
					if result != "7" {
						return "is wrong"
					}
					return ""
				},
			}
			e.add([]*stage.Life{{Name: "one", Records: c.one, Killed: c.oneKilled * time.Second}, {Name: "other", Records: c.other}, {Records: c.got}})
			var r stage.Report
			e.judge(&r)
			if all := strings.Join(r.Violations, "\n"); !strings.Contains(all, c.violations) || (all == "") != (c.violations == "") {
				t.Errorf("got violations %q, want %q", r.Violations, c.violations)
			}
		})
	}
}

// Other workers must take over only the tasks that a worker held when it was killed. A task that the worker lost but
// finished on a later attempt does not have to be taken over.
func TestTakeovers_WorkerKilled_UnfinishedTasksMustBeTakenOver(t *testing.T) {
	whole := []stage.Event{worked, stage.Ended, recorded}
	lost := attempt(1, 1, 2, "", stage.Ended)
	lost[1].Lost = true
	for name, c := range map[string]struct {
		killed, other []stage.Record
		violations    bool
	}{
		"killed and taken over":  {killed: attempt(1, 1, 2, ""), other: attempt(2, 3, 4, "7", whole...)},
		"lost, finished later":   {killed: append(slices.Clone(lost), attempt(2, 3, 4, "7", whole...)...)},
		"killed, not taken over": {killed: attempt(1, 1, 2, ""), violations: true},
	} {
		e := evidence{stored: map[task]*gatekeeperv1.Task{{"j", 0}: {Token: 2}}}
		e.add([]*stage.Life{{Name: "killed", Records: c.killed, Killed: 9 * time.Second}, {Name: "other", Records: c.other}})
		var r stage.Report
		if e.checkTakeovers(&r, 1); (len(r.Violations) > 0) != c.violations {
			t.Errorf("%s: got violations %q, want violations: %t", name, r.Violations, c.violations)
		}
	}
}

func TestOddjobJudge_Violation_IsReported(t *testing.T) {
	due := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const done = gatekeeperv1.FiringState_FIRING_STATE_DONE
	run := func(round int, token uint64) []stage.Record { // each run takes 15 s, and a round is due every 10 s
		from := time.Duration(round) * 10 * time.Second
		return []stage.Record{
			{Event: stage.Granted, Semaphore: oddjobWork, Due: due.Add(from), Token: token, At: from + 1},
			{Event: stage.Ended, Token: token, Until: from + 15*time.Second},
		}
	}
	idleRecord := func(round int) stage.Record {
		return stage.Record{Event: lost, Due: due.Add(time.Duration(round) * 10 * time.Second)}
	}
	for name, c := range map[string]struct {
		a, b, c    []stage.Record
		state      gatekeeperv1.FiringState // state of the second round
		violations string
	}{
		"shared":       {run(0, 1), run(1, 2), []stage.Record{idleRecord(0), idleRecord(1)}, done, ""},
		"none idle":    {run(0, 1), run(1, 2), []stage.Record{idleRecord(0)}, done, "round 2 left idle"},
		"twice":        {run(0, 1), run(1, 2), append(run(1, 3), idleRecord(0), idleRecord(1)), done, `round 2 was done by "b, c"`},
		"no idle time": {run(0, 1), run(1, 2), append(run(1, 3), idleRecord(0), idleRecord(1)), done, "all workers were busy"},
		"overlap":      {run(0, 1), run(1, 2), append(run(1, 3), idleRecord(0), idleRecord(1)), done, "overlap: the firing of"},
		"not recorded": {run(0, 1), run(1, 2), []stage.Record{idleRecord(0), idleRecord(1)}, gatekeeperv1.FiringState_FIRING_STATE_OPEN, "is recorded as open"},
		"not run":      {run(0, 1), nil, []stage.Record{idleRecord(0), idleRecord(1)}, done, `round 2 was done by ""`},
	} {
		t.Run(name, func(t *testing.T) {
			s := Oddjob{dueTimes: []time.Time{due, due.Add(10 * time.Second)}, claims: map[time.Time]*gatekeeperv1.FiringClaim{
				due:                       {State: done, Winner: &gatekeeperv1.Identity{Acquirer: "a"}},
				due.Add(10 * time.Second): {State: c.state, Winner: &gatekeeperv1.Identity{Acquirer: "b"}},
			}}
			s.judge([]*stage.Life{{Name: "a", Records: c.a}, {Name: "b", Records: c.b}, {Name: "c", Records: slices.Clone(c.c)}})
			if all := strings.Join(s.Violations, "\n"); !strings.Contains(all, c.violations) || (all == "") != (c.violations == "") {
				t.Errorf("got violations %q, want %q", s.Violations, c.violations)
			}
		})
	}
}
