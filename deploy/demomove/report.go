package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/overlap"
)

// report is what the demo prints. Times are in seconds.
type report struct {
	From     string  `json:"from"`
	To       string  `json:"to"`
	Tasks    int     `json:"tasks"`
	Drain    float64 `json:"drain"`
	Duration float64 `json:"duration"`
	Legs     []*leg  `json:"legs"`
	// Deaf is the task whose holder ignored its drain, as gkctl names it too.
	Deaf     *deafTask `json:"ignored_its_drain,omitempty"`
	Killed   string    `json:"killed_leader,omitempty"`
	Beliefs  int       `json:"beliefs"`
	Overlaps int       `json:"overlaps"`
	Lost     int       `json:"lost"`
	Broken   []string  `json:"broken_promises"`
}

// leg is a move of all tasks from one zone to the other. Times count from when the first host heard of the edit.
type leg struct {
	Name    string `json:"name"`
	Told    spread `json:"told"`
	Stopped spread `json:"old_holders_stopped"`
	Started spread `json:"new_holders_started"`
	// HandOver is from the end of the old holder's belief to the beginning of the new one's.
	HandOver spread `json:"hand_over"`

	started map[string]time.Duration
}

// spread is the median and the largest of some times.
type spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

type deafTask struct {
	Task string `json:"task"`
	// Kept is for how long after the edit its holder kept the slot, and Next when the next one began.
	Kept float64 `json:"kept"`
	Next float64 `json:"next"`
}

// moveOutput is what gkctl move prints, as far as it is needed here.
type moveOutput struct {
	Revision string `json:"revision"`
	Tasks    []struct {
		Name    string `json:"name"`
		Stopped []struct {
			Overran bool `json:"overran"`
		} `json:"stopped"`
	} `json:"tasks"`
	Left int `json:"left"`
}

// since are the records of that kind, from then on.
func since(records []record, like event, began time.Duration) (found []record) {
	for _, r := range records {
		if r.Event == like && r.At >= began {
			found = append(found, r)
		}
	}
	return found
}

func newLeg(name string, began time.Duration, from, to []record) *leg {
	l := &leg{Name: name, started: map[string]time.Duration{}}
	heard := slices.Concat(since(from, eventEdited, began), since(to, eventEdited, began), since(from, eventTold, began))
	if len(heard) == 0 {
		return l // nobody heard of it: nothing was started either
	}
	edit := slices.MinFunc(heard, func(a, b record) int { return cmp.Compare(a.At, b.At) }).At
	var told, stopped, started, handOver []time.Duration
	for _, r := range since(from, eventTold, began) {
		told = append(told, r.At-edit)
	}
	ended := map[string]time.Duration{}
	for _, r := range since(from, eventEnded, began) {
		ended[r.Task] = r.Until
		stopped = append(stopped, r.Until-edit)
	}
	for _, r := range since(to, eventGranted, began) {
		l.started[r.Task] = r.At - edit
		started = append(started, r.At-edit)
		if until, ok := ended[r.Task]; ok {
			handOver = append(handOver, r.At-until)
		}
	}
	l.Told, l.Stopped, l.Started, l.HandOver = spreadOf(told), spreadOf(stopped), spreadOf(started), spreadOf(handOver)
	return l
}

func spreadOf(all []time.Duration) spread {
	if len(all) == 0 {
		return spread{}
	}
	slices.Sort(all)
	return spread{N: len(all), Median: all[len(all)/2].Seconds(), Max: all[len(all)-1].Seconds()}
}

// judgeMove holds what gkctl said of the move against what there was.
func (r *report) judgeMove(said *moveOutput, deaf string) {
	var overran []string
	for _, task := range said.Tasks {
		for _, s := range task.Stopped {
			if s.Overran {
				overran = append(overran, task.Name)
			}
		}
	}
	if !slices.Contains(overran, deaf) {
		r.broken("gkctl does not name %s, whose holder ignored its drain, but %q", deaf, overran)
	}
	if said.Left > 0 {
		r.broken("gkctl says that %d old holders are left", said.Left)
	}
}

// judgeBeliefs looks for overlaps and losses in what the hosts wrote down.
func (r *report) judgeBeliefs(old, other []record, deaf string) {
	permits := map[string]uint32{}
	var beliefs []overlap.Belief
	var kept time.Duration
	for _, records := range [][]record{old, other} {
		begun := map[uint64]record{}
		for _, rec := range records {
			switch rec.Event {
			case eventGranted:
				begun[rec.Token] = rec
			case eventEnded:
				permits[rec.Task] = 1
				beliefs = append(beliefs, overlap.Belief{
					Semaphore: rec.Task, Token: rec.Token, Weight: 1, Holder: rec.Host, From: begun[rec.Token].At, Until: rec.Until,
				})
				delete(begun, rec.Token)
				switch {
				case rec.Lost && rec.Task == deaf && kept == 0:
					kept = rec.Until
				case rec.Lost:
					r.Lost++
					r.broken("%s was lost by %s", rec.Task, rec.Host)
				}
			case eventWaits, eventEdited, eventTold:
			}
		}
		for token := range begun {
			r.broken("nobody knows how the belief in token %d ended", token)
		}
	}
	r.judgeDeaf(old, deaf, kept)
	r.Beliefs = len(beliefs)
	overlaps := overlap.Find(beliefs, permits)
	r.Overlaps = len(overlaps)
	for _, o := range overlaps {
		r.broken("overlap: %v", o)
	}
	for _, b := range overlap.FallingTokens(beliefs, permits) {
		r.broken("falling token: %s held %s with token %d after somebody with a higher one", b.Holder, b.Semaphore, b.Token)
	}
}

// judgeDeaf says how long the holder that ignored its drain kept its slot.
func (r *report) judgeDeaf(old []record, deaf string, until time.Duration) {
	if until == 0 || len(r.Legs) == 0 {
		r.broken("the holder of %s did not keep it to its deadline", deaf)
		return
	}
	for _, rec := range since(old, eventTold, 0) {
		if rec.Task == deaf {
			r.Deaf = &deafTask{Task: deaf, Kept: (until - rec.At).Seconds(), Next: r.Legs[0].started[deaf].Seconds()}
			break
		}
	}
	if r.Deaf == nil || r.Deaf.Kept < r.Drain*0.9 {
		r.broken("the holder of %s lost it before its drain was over: %+v", deaf, r.Deaf)
	}
}

func (r *report) broken(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

// verdict is an error for everything that must not be.
func (r *report) verdict() error {
	var errs []error
	for i, what := range r.Broken {
		if i == 10 {
			errs = append(errs, fmt.Errorf("and %d more", len(r.Broken)-i))
			break
		}
		errs = append(errs, errors.New(what))
	}
	return errors.Join(errs...)
}

// print writes the report for people.
func (r *report) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	fmt.Fprintln(w)
	row("tasks", "%d, from %s to %s and back, with a drain of %gs and permits of %gs", r.Tasks, r.From, r.To, r.Drain, r.Duration)
	for _, l := range r.Legs {
		row(l.Name, "times count from the edit")
		row("  told to stop", "%v", l.Told)
		row("  old holders stopped", "%v", l.Stopped)
		row("  new holders started", "%v", l.Started)
		row("  from one to the next", "%v", l.HandOver)
	}
	if r.Deaf != nil {
		row("ignored its drain", "%s: its holder kept it for %.2fs, to its deadline; the next one began at %.2fs", r.Deaf.Task, r.Deaf.Kept, r.Deaf.Next)
	}
	if r.Killed != "" {
		row("leader killed", "%s, in the middle of the move", r.Killed)
	}
	row("overlaps", "%d, of %d beliefs", r.Overlaps, r.Beliefs)
	row("lost permits", "%d", r.Lost)
	row("broken promises", "%d", len(r.Broken))
	_ = w.Flush()
}

func (s spread) String() string {
	return fmt.Sprintf("%d, median %.3fs, the last after %.3fs", s.N, s.Median, s.Max)
}
