package semaphore

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the recorded output of the scenarios in testdata")

// TestScenarios runs the scenarios in testdata. A scenario consists of comments (#) and commands, with each command's
// output indented below it. With -update, the output is rewritten; review the diff before committing it.
//
// SEM is a semaphore name, or a glob where a command may apply to several. WHO is group/acquirer or
// group/acquirer/holder-id. The commands are:
//
//	define SEM field=value ...         edit SEM field=value ...       delete SEM
//	acquire SEM WHO [weight=] [firing=] [due=] [behind]               explain SEM WHO ...
//	refresh TOKEN    release TOKEN [not-run|cut-short|failed]         clear TOKEN
//	revoke TOKEN reason                take-over TOKEN
//	pause SEM [reason=] [until=] [stop]  resume SEM                     forget SEM due
//	cordon ID group=PATTERN acquirer=PATTERN                          uncordon ID
//	tick DURATION    expire            holders SEM                    drained
//
// The argument drain adds a drain to an edit, a delete, a pause, a cordon or a revoke. The command drained ends all
// drains. The command tick only advances the clock and lists the permits whose deadlines have passed; expire then acts
// on them as the leader does.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			recorded, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := runScenario(string(recorded))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(recorded), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s: the output differs (-want +got; run with -update to rewrite it):\n%s", file, diff)
			}
		})
	}
}

// runScenario runs a scenario and returns it with its output.
func runScenario(scenario string) (string, error) {
	s := &runner{model: newModel()}
	for n, line := range strings.Split(strings.TrimSuffix(scenario, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // previously recorded output
		}
		fmt.Fprintln(&s.out, line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := s.exec(splitWords(line)); err != nil {
			return "", fmt.Errorf("line %d: %s: %w", n+1, line, err)
		}
	}
	return s.out.String(), nil
}

// runner executes commands on a model and records their output.
type runner struct {
	*model
	out strings.Builder
}

func (s *runner) printf(format string, args ...any) { fmt.Fprintf(&s.out, "  "+format+"\n", args...) }

func (s *runner) exec(w []string) error {
	command, object, args := w[0], "", []string(nil)
	if len(w) > 1 {
		object, args = w[1], w[2:]
	}
	switch command {
	case "tick":
		s.tick(parseDuration(object))
		return nil
	case "expire":
		for _, late := range s.overdue() {
			s.reportEnded(late, "expired", s.model.expire(late))
		}
		return nil
	case "drained":
		before, _ := s.stopped()
		s.model.endDrains()
		s.reportStopped(before)
		return nil
	case "define", "edit", "delete", "pause", "resume", "forget":
		return s.change(command, object, args)
	case "cordon", "uncordon":
		s.cordon(command == "cordon", object, args)
		return nil
	case "acquire", "explain":
		s.decide(command, object, args)
		return nil
	case "holders":
		s.holders(object)
		return nil
	}
	token, err := strconv.ParseUint(object, 10, 64)
	if err != nil {
		return err
	}
	return s.handle(command, token, args)
}

func (s *runner) tick(step time.Duration) {
	before, _ := s.stopped()
	s.now += step
	s.printf("it is %s", s.now)
	s.reportStopped(before)
	for _, late := range s.overdue() {
		s.printf("%s is past its deadline", late.name())
	}
}

// change applies a command to the semaphores that match a glob, and reports the holders that must stop as a result.
func (s *runner) change(command, glob string, args []string) error {
	before, _ := s.stopped()
	names := []string{glob}
	if command != "define" {
		names = slices.DeleteFunc(s.names(), func(n string) bool { ok, _ := path.Match(glob, n); return !ok })
	}
	for _, name := range names {
		if err := s.changeOne(command, name, args); err != nil {
			var bad *FieldError
			if !errors.As(err, &bad) {
				return err
			}
			s.printf("refused: %v", bad)
		}
	}
	s.reportStopped(before)
	return nil
}

func (s *runner) changeOne(command, name string, args []string) error {
	g := s.gate(name)
	s.revision++
	if draining := hasArg(args, "drain"); draining && command != "pause" {
		g.drain = s.revision
	}
	switch command {
	case "define":
		return s.define(name, setFields(defaultDefinition(name), options(args)))
	case "edit":
		return s.define(name, setFields(g.def.Clone(), options(args)))
	case "delete":
		return s.define(name, nil)
	case "pause":
		o := options(args)
		g.pause = &Pause{Reason: o["reason"], Stop: hasArg(args, "stop"), Revision: s.revision}
		if hasArg(args, "drain") {
			g.pause.Drain = time.Hour
		}
		if until, ok := o["until"]; ok {
			g.pause.Until = parseTime(until)
		}
	case "resume":
		g.pause = nil
	case "forget":
		g.lowWater = parseTime(args[0])
		for key, c := range g.claims {
			if c.State != ClaimHeld && c.Firing.Forgotten(g.lowWater) {
				delete(g.claims, key)
			}
		}
	}
	return nil
}

func (s *runner) cordon(on bool, id string, args []string) {
	before, _ := s.stopped()
	s.cordons = slices.DeleteFunc(s.cordons, func(c *cordon) bool { return c.id == id })
	if on {
		o := options(args)
		s.revision++
		c := &cordon{id: id, group: mustCompile(o["group"]), acquirer: mustCompile(o["acquirer"])}
		if hasArg(args, "drain") {
			c.drain = s.revision
		}
		s.cordons = append(s.cordons, c)
	}
	s.reportStopped(before)
}

func (s *runner) decide(command, name string, args []string) {
	req := parseRequest(name, args)
	if err := req.Validate(); err != nil {
		s.printf("refused: %v", err)
		return
	}
	f := s.facts(name, req.Identity, req.Firing)
	f.WaitsAhead = hasArg(args, "behind")
	if command == "explain" {
		for _, step := range Explain(req, f) {
			mark := "ok"
			if !step.Passed {
				mark = "no"
			}
			s.printf("%d %s %s: %s", step.Number, mark, step.Name, step.Text)
		}
		return
	}
	switch d, p := s.acquire(req, f); d.Outcome {
	case Granted, Refreshed, Reacquired:
		s.printf("%s: permit %d", d.Outcome, p.Token)
	case Denied:
		s.printf("%s: %s", d.Reason, d.Sentence(req, f))
	}
}

// handle executes a command on the permit with the given token.
func (s *runner) handle(command string, token uint64, args []string) error {
	g, held := s.find(token)
	if held == nil || held.State == Cooling {
		s.printf("there is no live permit %d", token)
		return nil
	}
	switch command {
	case "refresh":
		d, _ := s.refresh(token)
		if d.Outcome == Refreshed && d.Stop != NotStopping {
			s.printf("refreshed, and must stop: %s", d.Stop)
		} else if d.Outcome == Refreshed {
			s.printf("refreshed")
		} else {
			s.printf("refused: %s, %s", d.Reason, d.Stop)
		}
	case "release":
		job := JobDone
		switch {
		case hasArg(args, "not-run"):
			job = JobNotRun
		case hasArg(args, "cut-short"):
			job = JobCutShort
		case hasArg(args, "failed"):
			job = JobFailed
		}
		s.reportEnded(held, "released", s.end(token, EndReleased, job, ReleaseCooling(g.def, s.now-held.granted)))
	case "revoke":
		stopped := *held.Permit
		s.revision++
		order := StopOrder{Revision: s.revision}
		args = slices.DeleteFunc(args, func(a string) bool {
			if a == "drain" {
				order.Drain = time.Hour
			}
			return a == "drain"
		})
		order.Reason = strings.Join(args, " ")
		stopped.Stop, stopped.Order = StopRevoked, &order
		before, _ := s.stopped()
		held.Permit = &stopped
		s.reportStopped(before)
	case "take-over":
		stopped := *held.Permit
		stopped.Stop, stopped.Order = StopTakenOver, nil
		before, _ := s.stopped()
		held.Permit = &stopped
		s.reportStopped(before)
	case "clear":
		if held.State != Held {
			s.printf("permit %d is not held for an operator", token)
			return nil
		}
		s.reportEnded(held, "cleared", s.end(token, EndCleared, JobDone, 0))
	default:
		return fmt.Errorf("no such command: %s", command)
	}
	return nil
}

func (s *runner) holders(name string) {
	g := s.gate(name)
	for _, h := range g.slots {
		line := fmt.Sprintf("%s: group %s, weight %d, %s", h.name(), h.Identity.Group, h.Weight, h.State)
		if h.Firing != nil {
			line += ", firing " + h.Firing.text()
		}
		s.printf("%s", line)
	}
	if g.def != nil {
		s.printf("%d of %d taken", g.used(), g.def.Permits)
	} else {
		s.printf("%d taken, no definition", g.used())
	}
}

func (s *runner) reportEnded(before *slot, how string, after *slot) {
	name := before.name()
	switch {
	case after == nil && before.State == Cooling:
		s.printf("%s has cooled, its slot is free", name)
	case after == nil:
		s.printf("%s is %s, its slot is free", name, how)
	case after.State == Held:
		s.printf("%s expired, its slot is held for an operator", name)
	default:
		s.printf("%s is %s, its slot cools for %s", name, how, FormatDuration(after.Duration))
	}
}

// reportStopped reports the holders that must stop now but did not have to stop before.
func (s *runner) reportStopped(before []*slot) {
	stopped, why := s.stopped()
	for i, h := range stopped {
		if !slices.Contains(before, h) {
			s.printf("%s must stop: %s", h.name(), why[i].Stop)
		}
	}
}

func (s *runner) names() []string {
	var names []string
	for name, g := range s.gates {
		if g.def != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *slot) name() string { return fmt.Sprintf("permit %d (%s)", s.Token, s.Identity.Acquirer) }
