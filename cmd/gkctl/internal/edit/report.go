package edit

import (
	"fmt"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// applied is what was done, as -o json has it.
type applied struct {
	Items    []appliedItem `json:"items"`
	Revision uint64        `json:"revision,string"`
	DryRun   bool          `json:"dry_run,omitempty"`
	// Effects and Confirm are those of the API's PreviewResponse; only of a dry run.
	Effects []ui.Message `json:"effects,omitempty"`
	Confirm []ui.Message `json:"confirm,omitempty"`
	// Warnings are those of the API's PreviewResponse; after a change also those of its effects.
	Warnings []string `json:"warnings,omitempty"`

	end change.Ending
	// preview is what the servers foresaw just before; asked: a person has seen it.
	preview *gatekeeperv1.PreviewResponse
	asked   bool
}

type appliedItem struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	// LivePermits still take slots of a definition that was deleted.
	LivePermits uint32 `json:"live_permits,omitempty"`
	// Stopped are the holders that must stop because of the change, as far as was seen just before it; not of a dry run.
	Stopped []stoppedHolder `json:"stopped,omitempty"`
}

// stoppedHolder is a holder that must stop.
type stoppedHolder struct {
	words.Holder
	// FreeWithin is when its slot is free at the latest.
	FreeWithin string `json:"free_within"`
}

// stoppedHolders are the holders that must stop because of a change, by semaphore.
func stoppedHolders(r *gatekeeperv1.PreviewResponse) map[string][]stoppedHolder {
	out := make(map[string][]stoppedHolder)
	for _, e := range r.GetEffects() {
		for _, s := range e.GetStopped() {
			out[e.GetSemaphore()] = append(out[e.GetSemaphore()],
				stoppedHolder{words.HolderOf(s.GetPermit()), words.ProtoSeconds(s.GetFreeWithin().AsDuration())})
		}
	}
	return out
}

// printApplied prints what a plan has done, a line each, and of a dry run also what that would do.
func printApplied(f *conn.Factory, o ui.Output, plan []step, out *applied) error {
	count, stopped := make(map[string]int), stoppedHolders(out.preview)
	for i := range plan {
		item := appliedItem{Name: plan[i].name, Action: plan[i].action()}
		if item.Action == actionDeleted {
			item.LivePermits = plan[i].before.GetHolders()
		}
		if !out.DryRun {
			item.Stopped = stopped[item.Name]
		}
		count[item.Action]++
		out.Items = append(out.Items, item)
	}
	if !o.Is(ui.Table) {
		out.foresee()
		return f.PrintAs(o, out, words.Mapped(out.Items, func(i appliedItem) string { return i.Name }))
	}
	dry := ""
	if out.DryRun {
		dry = " (dry run)"
	}
	for _, item := range out.Items {
		end := ""
		if item.Action == actionReplaced {
			end = out.end.Text()
		}
		fmt.Fprintf(f.Out, "%s %s%s%s%s\n", item.Name, item.Action, end, liveOn(item.LivePermits), dry)
	}
	if !out.DryRun {
		if err := change.PrintStopped(f.Out, out.preview.GetEffects(), change.SomeOf); err != nil {
			return err
		}
	}
	if len(out.Items) > 1 && f.ErrTTY {
		f.Say("%d created, %d replaced, %d deleted, %d unchanged%s", count[actionCreated], count[actionReplaced], count[actionDeleted], count[actionUnchanged], dry)
	}
	change.UndoWith(f.IO, out.Revision)
	if out.DryRun {
		if err := change.PrintEffects(f.IO, out.preview.GetEffects(), out.preview.GetWarnings(), change.EveryLine); err != nil {
			return err
		}
		change.PrintNeedsYes(f.IO, out.preview.GetEffects(), out.preview.GetConfirm())
		return nil
	}
	if !out.asked {
		for _, text := range change.EffectWarnings(out.preview.GetEffects(), nil, change.SomeOf) {
			f.Say("warning: %s", words.Cell(text))
		}
	}
	return nil
}

// foresee fills in what the servers foresaw.
func (out *applied) foresee() {
	if !out.DryRun {
		out.Warnings = change.EffectWarnings(out.preview.GetEffects(), nil, change.EveryLine)
		return
	}
	out.Effects, out.Confirm = ui.Messages(out.preview.GetEffects()), ui.Messages(out.preview.GetConfirm())
	out.Warnings = out.preview.GetWarnings()
}

// liveOn says what becomes of the permits of a definition that is gone.
func liveOn(n uint32) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 permit lives on until it ends"
	}
	return fmt.Sprintf(", %d permits live on until they end", n)
}
