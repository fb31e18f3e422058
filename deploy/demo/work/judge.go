package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// task identifies a task.
type task struct {
	job   string
	index int
}

func (t task) String() string { return fmt.Sprintf("task %d of job %s", t.index, t.job) }

// evidence contains all records about a scenario's tasks.
type evidence struct {
	semaphore string
	permits   uint32
	tasks     []task
	// stored is the servers' record of each task.
	stored map[task]*gatekeeperv1.Task
	// wrong describes what is wrong with a result. It returns "" if the result is correct.
	wrong func(t task, result string) string

	lives    []*stage.Life
	attempts map[task][]*stage.Grant // sorted by token
	returned map[task][]stage.Record // the submitters' records
}

// evidence queries the servers for the tasks in the given jobs. Each job has the given number of tasks.
func (s *sharedWork) evidence(ctx context.Context, jobs []string, tasks int) (*evidence, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	e := &evidence{semaphore: s.semaphore, permits: uint32(s.permits), stored: map[task]*gatekeeperv1.Task{}}
	for _, job := range jobs {
		for i := range tasks {
			e.tasks = append(e.tasks, task{job, i})
		}
		for t, err := range work.Tasks(ctx, s.Client, &gatekeeperv1.ListTasksRequest{Job: job, Results: true}) {
			if err != nil {
				return nil, err
			}
			e.stored[task{job, int(t.GetIndex())}] = t
		}
	}
	return e, nil
}

// add finds each task's attempts and results in the processes' records.
func (e *evidence) add(lives []*stage.Life) {
	e.lives = lives
	e.attempts, e.returned = map[task][]*stage.Grant{}, map[task][]stage.Record{}
	for _, l := range e.lives {
		for _, g := range l.Grants() {
			t := task{g.Job, g.Step}
			e.attempts[t] = append(e.attempts[t], g)
		}
		for _, r := range l.Records {
			if r.Event == returned || r.Event == failed {
				t := task{r.Job, r.Step}
				e.returned[t] = append(e.returned[t], r)
			}
		}
	}
	for _, attempts := range e.attempts {
		slices.SortFunc(attempts, func(a, b *stage.Grant) int { return cmp.Compare(a.Token, b.Token) })
	}
}

// noticedLoss reports whether a worker learned that it had lost a task. The same worker may get the task again and be
// killed later.
func noticedLoss(g *stage.Grant) bool { return g.Last(stage.Ended).Lost || g.Has(unrecorded) }

// judge reports on the tasks and the violations.
func (e *evidence) judge(r *stage.Report) {
	bad, executions, afterKill, afterLoss := 0, 0, 0, 0
	var beliefs []overlap.Belief
	permits := map[string]uint32{e.semaphore: e.permits}
	for _, t := range e.tasks {
		bad += min(1, r.AddViolations(e.judgeResult(t)...))
		attempts := e.attempts[t]
		executions += len(attempts)
		permits[t.String()] = 1
		for i, g := range attempts {
			b := g.Belief(stage.Granted)
			beliefs = append(beliefs, b)
			b.Semaphore = t.String()
			beliefs = append(beliefs, b)
			switch {
			case i == len(attempts)-1:
			case noticedLoss(g):
				afterLoss++
			case g.Life.Killed > 0:
				afterKill++
			default:
				r.Violationf("%s was handed out again even though %s had neither lost nor returned it", t, g.Life.Name)
			}
		}
	}
	r.Row("results", "%d of %d tasks have exactly one correct result, matching both the recorded result and the worker's", len(e.tasks)-bad, len(e.tasks))
	r.Row("executions", "%d: %d repeated because a worker was killed, %d because a permit was lost", executions, afterKill, afterLoss)
	r.Row("overlaps", "%d among %d worker beliefs", r.AddViolations(stage.Overlaps(beliefs, permits)...), executions)
	e.table(r)
}

// judgeResult compares the results that submitters got for a task with the servers' and the workers' records.
func (e *evidence) judgeResult(t task) (violations []string) {
	reportf := func(format string, args ...any) {
		violations = append(violations, t.String()+fmt.Sprintf(format, args...))
	}
	results, stored := e.returned[t], e.stored[t]
	if len(results) == 0 {
		reportf(" has no result")
		return violations
	}
	first := results[0]
	for _, r := range results { // a submitter may receive a result twice
		if r.Event != returned || r.Token != first.Token || r.Text != first.Text {
			reportf(" has %s %q under token %d and also %s %q under token %d", first.Event, first.Text, first.Token, r.Event, r.Text, r.Token)
		}
	}
	if stored.GetState() != gatekeeperv1.TaskState_TASK_STATE_DONE || stored.GetToken() != first.Token || string(stored.GetResult()) != first.Text {
		reportf(": the submitter got %q under token %d, but the servers have %s %q under token %d",
			first.Text, first.Token, stored.GetState(), stored.GetResult(), stored.GetToken())
	}
	confirmed := false
	for _, g := range e.attempts[t] {
		switch {
		case g.Token != first.Token && g.Has(recorded):
			reportf(" was also recorded for %s with token %d", g.Life.Name, g.Token)
		case g.Token != first.Token:
		case !g.Has(worked) || g.Last(worked).Text != first.Text:
			reportf(": %s returned %q, but %q was recorded", g.Life.Name, g.Last(worked).Text, first.Text)
		case g.Has(recorded) || g.Life.Killed > 0:
			confirmed = true
		default:
			reportf(" was recorded for %s, which got no confirmation: %s", g.Life.Name, g.Last(unrecorded).Text)
		}
	}
	if !confirmed && len(violations) == 0 {
		reportf(" has a result under token %d, which no worker ever held", first.Token)
	}
	if wrong := e.wrong(t, first.Text); wrong != "" {
		reportf(": %s", wrong)
	}
	return violations
}

// table adds a table of the workers.
func (e *evidence) table(r *stage.Report) {
	lines := [][]string{{"worker", "outcome", "tasks started", "results recorded", "interrupted"}}
	for _, l := range e.lives {
		grants := l.Grants()
		if len(grants) == 0 {
			continue // this process is a submitter
		}
		outcome, results, cut := "stopped normally", 0, 0
		if l.Killed > 0 {
			outcome = "killed"
		}
		for _, g := range grants {
			stored := e.stored[task{g.Job, g.Step}]
			switch {
			case stored.GetToken() == g.Token:
				results++
			default:
				cut++
			}
		}
		lines = append(lines, []string{l.Name, outcome, strconv.Itoa(len(grants)), strconv.Itoa(results), strconv.Itoa(cut)})
	}
	r.Tables = append(r.Tables, stage.Table{Title: "workers", Lines: lines})
}

// checkTakeovers checks that other workers took over the tasks of killed workers.
func (e *evidence) checkTakeovers(r *stage.Report, killed int) {
	cut := 0
	for t, attempts := range e.attempts {
		for _, g := range attempts {
			if g.Life.Killed == 0 || noticedLoss(g) || g.Token == e.stored[t].GetToken() {
				continue
			}
			cut++
			if last := attempts[len(attempts)-1]; last.Life == g.Life {
				r.Violationf("%s was interrupted when %s was killed, and no other worker picked it up", t, g.Life.Name)
			}
		}
	}
	r.Row("taken over", "%d tasks from %d killed workers", cut, killed)
}
