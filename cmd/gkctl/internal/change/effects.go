package change

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// AllLines means no limit on the number of lines.
	AllLines = math.MaxInt
	// MaxShown is the maximum number of lines shown for each list before asking for confirmation.
	MaxShown = 10
)

// PrintEffects prints the effects of a change, as computed by the servers, on each semaphore and on the holders that
// must stop. It also prints warnings. Each list is limited to the given number of lines.
func PrintEffects(s *ui.IO, effects []*gatekeeperv1.Effect, warnings []string, limit int) error {
	if err := printRules(s.Out, effects, limit); err != nil {
		return err
	}
	if err := PrintStopped(s.Out, effects, limit); err != nil {
		return err
	}
	printLines(s.Out, heldLines(effects), limit)
	printLines(s.Out, taskLines(effects), limit)
	for _, w := range EffectWarnings(effects, warnings, limit) {
		fmt.Fprintln(s.Out, "warning: "+words.Cell(w))
	}
	return nil
}

// printRules prints a line for each semaphore whose fields or callers change.
func printRules(out io.Writer, effects []*gatekeeperv1.Effect, limit int) error {
	var lines [][]string
	for _, e := range effects {
		changes := ruleChanges(e.GetBefore(), e.GetAfter())
		if changes == "" && e.GetTotalAdmitted() == 0 && e.GetTotalShutOut() == 0 {
			continue
		}
		lines = append(lines, []string{
			e.GetSemaphore(), changes, callers(e.GetAdmitted(), e.GetTotalAdmitted()), callers(e.GetShutOut(), e.GetTotalShutOut()),
			words.Number(uint32(len(e.GetStopped()))), words.Number(e.GetUnaffected()),
		})
	}
	return printTable(out, []string{"SEMAPHORE", "CHANGES", "LETS IN", "SHUTS OUT", "STOPS", "CONTINUE"}, lines, limit)
}

// PrintStopped prints a line for each holder that would have to stop.
func PrintStopped(out io.Writer, effects []*gatekeeperv1.Effect, limit int) error {
	var lines [][]string
	for _, e := range effects {
		for _, s := range e.GetStopped() {
			p := s.GetPermit()
			free := words.Brief(s.GetFreeWithin().AsDuration())
			if s.GetDrainLeft() != nil {
				free += fmt.Sprintf(" (its drain had %s left)", words.Brief(s.GetDrainLeft().AsDuration()))
			}
			lines = append(lines, []string{
				p.GetSemaphore(), p.GetIdentity().GetGroup(), p.GetIdentity().GetAcquirer(), words.Number(p.GetToken()), words.Ago(p.GetGrantedAt()),
				free,
			})
		}
	}
	return printTable(out, []string{"STOPS", "GROUP", "ACQUIRER", "TOKEN", "SINCE", "FREE WITHIN"}, lines, limit)
}

// heldLines returns a line for each slot that remains taken until an operator clears it.
func heldLines(effects []*gatekeeperv1.Effect) (lines []string) {
	for _, e := range effects {
		lines = append(lines, words.Map(e.GetHeld(), words.HeldText)...)
	}
	return lines
}

// taskLines returns a line for each semaphore with waiting tasks, saying what happens to them. A change never removes
// waiting tasks.
func taskLines(effects []*gatekeeperv1.Effect) (lines []string) {
	for _, e := range effects {
		n := int(e.GetWaitingTasks())
		if n == 0 {
			continue
		}
		text := e.GetSemaphore() + ": " + words.Plural(n, "task is waiting for a worker", "tasks are waiting for a worker")
		if e.GetTasksRun() != "" {
			text += "; after this change, " + e.GetTasksRun()
		}
		lines = append(lines, text)
	}
	return lines
}

// printLines prints the first lines, up to a limit, followed by the number of lines left out.
func printLines(out io.Writer, lines []string, limit int) {
	for _, line := range lines[:min(limit, len(lines))] {
		fmt.Fprintln(out, words.Cell(line))
	}
	if len(lines) > limit {
		fmt.Fprintf(out, "... and %d more\n", len(lines)-limit)
	}
}

// printTable prints a table of the first lines, up to a limit, followed by the number of lines left out.
func printTable(out io.Writer, headers []string, lines [][]string, limit int) error {
	if len(lines) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(headers, "\t"))
	for _, cells := range lines[:min(limit, len(lines))] {
		fmt.Fprintln(w, strings.Join(words.Map(cells, words.Cell), "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(lines) > limit {
		fmt.Fprintf(out, "... and %d more\n", len(lines)-limit)
	}
	return nil
}

// ruleChanges lists the fields that change. It returns an empty string if none do.
func ruleChanges(before, after *gatekeeperv1.Definition) string {
	switch {
	case before == nil && after == nil:
		return ""
	case before == nil:
		return "created"
	case after == nil:
		return "deleted"
	case words.Equivalent(before, after):
		return ""
	}
	return strings.Join(words.FieldChanges(before, after), "; ")
}

// callers names a few callers and counts the rest.
func callers(some []*gatekeeperv1.Caller, count uint32) string {
	const named = 2
	texts := words.Map(some[:min(named, len(some))], func(c *gatekeeperv1.Caller) string { return c.GetAcquirer() + " in " + c.GetGroup() })
	text := strings.Join(texts, ", ")
	if more := int(count) - len(texts); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// EffectWarnings returns the warnings for the whole change and for each semaphore, without duplicates.
func EffectWarnings(effects []*gatekeeperv1.Effect, general []string, limit int) []string {
	out := general
	named := make(map[string][]string)
	var texts []string
	for _, e := range effects {
		for _, text := range e.GetWarnings() {
			if named[text] == nil {
				texts = append(texts, text)
			}
			named[text] = append(named[text], e.GetSemaphore())
		}
	}
	for _, text := range texts[:min(limit, len(texts))] {
		out = append(out, words.SomeNames(named[text])+": "+text)
	}
	return out
}

// EffectNames returns the names of the semaphores that a change affects.
func EffectNames(effects []*gatekeeperv1.Effect) []string {
	return words.Map(effects, (*gatekeeperv1.Effect).GetSemaphore)
}

// StopCount counts the holders that would have to stop or would get less time, and the holders that may continue.
func StopCount(effects []*gatekeeperv1.Effect) (stopped, continuing int) {
	for _, e := range effects {
		stopped += len(e.GetStopped())
		continuing += int(e.GetUnaffected())
	}
	return stopped, continuing
}

// StopText describes how many holders a change stops, how many drains it shortens, and when the last of their slots
// becomes free.
func StopText(effects []*gatekeeperv1.Effect) string {
	stop, cut := 0, 0
	var free, left time.Duration
	for _, e := range effects {
		for _, s := range e.GetStopped() {
			free = max(free, s.GetFreeWithin().AsDuration())
			if s.GetDrainLeft() == nil {
				stop++
				continue
			}
			cut++
			left = max(left, s.GetDrainLeft().AsDuration())
		}
	}
	var parts []string
	if stop > 0 {
		parts = append(parts, words.Plural(stop, "holder must stop", "holders must stop"))
	}
	switch {
	case cut == 1:
		parts = append(parts, fmt.Sprintf("the drain of 1 holder (%s left) is shortened", words.Brief(left)))
	case cut > 1:
		parts = append(parts, fmt.Sprintf("the drains of %d holders (up to %s left) are shortened", cut, words.Brief(left)))
	}
	if len(parts) == 0 {
		return "no holder has to stop"
	}
	return fmt.Sprintf("%s, and all slots will be free within %s", strings.Join(parts, ", "), words.Brief(free))
}

// PrintUndoCommand prints the command that undoes a change.
func PrintUndoCommand(s *ui.IO, revision uint64) {
	if revision != 0 {
		fmt.Fprintf(s.Out, "undo with: gkctl undo %d\n", revision)
	}
}
