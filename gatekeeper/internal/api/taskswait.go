package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// whyTasksWait explains why a semaphore's tasks are waiting. It returns the first applicable reason, or an empty string
// if no tasks are waiting.
func (s *definitionService) whyTasksWait(ctx context.Context, state *fsm.State, sem string) (string, error) {
	if state.Work(sem).Waiting == 0 {
		return "", nil
	}
	if left, recovering := s.reader.Recovering(); recovering {
		return "No tasks are being handed out because " + recoveringText(left), nil
	}
	stored := state.Definition(sem)
	if stored == nil {
		return fmt.Sprintf("Definition %q does not exist. The tasks are kept and will be handed out once it is created again.", sem), nil
	}
	if why := s.reader.Disabled(stored); why != "" {
		return fmt.Sprintf("The definition of semaphore %q admits no callers: %s.", sem, why), nil
	}
	// Evaluate the rule as if for a worker that every pattern admits.
	request := semaphore.Request{Semaphore: sem, Weight: 1, Worker: true}
	facts := state.Facts(&request, "")
	facts.Admission = semaphore.Admitted()
	if d := semaphore.Decide(&request, &facts); d.Outcome == semaphore.Denied && !d.Reason.Waitable() {
		return d.Sentence(&request, &facts), nil
	}
	all := s.room.Workers(sem)
	available := slices.DeleteFunc(slices.Clone(all), func(w work.Info) bool { return w.Draining })
	if len(available) == 0 {
		text := fmt.Sprintf("No worker is available for semaphore %q.", sem)
		if len(all) > 0 {
			text += plural(len(all), " 1 worker is draining.", " %d workers are draining.")
		}
		return text, nil
	}
	admitted, denials, err := s.admitted(ctx, available)
	if err != nil {
		return "", err
	}
	if len(admitted) == 0 {
		return deniedText(len(available), denials), nil
	}
	weight, ahead, queued := s.reader.FirstWorker(sem)
	if !queued {
		weight = slices.MinFunc(admitted, func(a, b work.Info) int { return int(a.Offer.Weight) - int(b.Offer.Weight) }).Offer.Weight
	}
	request.Weight = weight
	if d := semaphore.Decide(&request, &facts); d.Outcome == semaphore.Denied {
		return d.Sentence(&request, &facts) + unheldPermitsText(state, sem), nil
	}
	held := 0
	for _, w := range admitted {
		held += len(w.Held)
	}
	switch {
	case !slices.ContainsFunc(admitted, func(w work.Info) bool { return w.Free > 0 }):
		return fmt.Sprintf("%s: %s.", plural(len(admitted), "The only worker is at capacity", "All %d workers are at capacity"),
			plural(held, "1 task is held", "%d tasks are held")), nil
	case ahead > 0:
		return plural(ahead, "1 other caller is ahead of the workers in the queue.", "%d other callers are ahead of the workers in the queue."), nil
	}
	return "Workers are available, and the tasks are being handed out.", nil
}

// denial counts the workers that are denied for one reason.
type denial struct {
	reason  semaphore.Reason
	text    string
	workers int
}

// admitted returns the workers that are admitted, and the reasons for denying the others.
func (s *definitionService) admitted(ctx context.Context, workers []work.Info) (admitted []work.Info, denials []denial, err error) {
	for _, w := range workers {
		if w.Denied == semaphore.NoReason {
			admitted = append(admitted, w)
			continue
		}
		i := slices.IndexFunc(denials, func(d denial) bool { return d.reason == w.Denied })
		if i < 0 {
			_, d, text, _, err := s.keeper.Explain(ctx, &semaphore.Request{
				Semaphore: w.Offer.Semaphore, Identity: w.Offer.Identity, Weight: w.Offer.Weight, Worker: true,
			})
			if err != nil {
				return nil, nil, err
			}
			if d.Reason != w.Denied { // the denial predates an edit, and the worker will retry soon
				admitted = append(admitted, w)
				continue
			}
			i, denials = len(denials), append(denials, denial{reason: d.Reason, text: text})
		}
		denials[i].workers++
	}
	return admitted, denials, nil
}

// unheldPermitsText describes the permits that occupy slots but no longer have a holder.
func unheldPermitsText(state *fsm.State, sem string) (text string) {
	cooling, held := 0, 0
	for p := range state.Holders(sem) {
		switch p.State {
		case semaphore.Cooling:
			cooling++
		case semaphore.Held:
			held++
		case semaphore.Live:
		}
	}
	if cooling > 0 {
		text += plural(cooling, " 1 permit is cooling.", " %d permits are cooling.")
	}
	if held > 0 {
		text += plural(held, " 1 permit is held until an operator clears it.", " %d permits are held until an operator clears them.")
	}
	return text
}

// deniedText explains why all workers are denied.
func deniedText(available int, denials []denial) string {
	all := plural(available, "The only worker is denied", "All %d workers are denied")
	if len(denials) == 1 {
		return all + ": " + denials[0].text
	}
	texts := make([]string, len(denials))
	for i, d := range denials {
		texts[i] = fmt.Sprintf("%d of them: %s", d.workers, d.text)
	}
	return all + ". " + strings.Join(texts, " ")
}

// plural returns one if n is 1, and otherwise several formatted with n.
func plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(several, n)
}
