package main

import (
	"encoding/json"
	"fmt"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// applied is what was done, as -o json has it.
type applied struct {
	Items    []appliedItem `json:"items"`
	Revision uint64        `json:"revision,string"`
	DryRun   bool          `json:"dry_run,omitempty"`
	// Effects and Warnings are those of the API's PreviewResponse; only of a dry run.
	Effects  []json.RawMessage `json:"effects,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`

	end     ending
	preview *gatekeeperv1.PreviewResponse
	// stops is what was foreseen just before definitions with live permits were deleted.
	stops *gatekeeperv1.PreviewResponse
}

type appliedItem struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	// LivePermits still take slots of a definition that was deleted.
	LivePermits uint32 `json:"live_permits,omitempty"`
	// Stopped are their holders, who were told to stop just now; of a deletion that was made.
	Stopped []stoppedHolder `json:"stopped,omitempty"`
}

// stoppedHolder is a holder that was told to stop.
type stoppedHolder struct {
	moveHolder
	// FreeWithin is when its slot is free at the latest.
	FreeWithin string `json:"free_within"`
}

// stoppedOf are the holders of a semaphore that a change tells to stop.
func stoppedOf(r *gatekeeperv1.PreviewResponse, name string) []stoppedHolder {
	var out []stoppedHolder
	for _, e := range r.GetEffects() {
		if e.GetSemaphore() != name {
			continue
		}
		for _, s := range e.GetStopped() {
			out = append(out, stoppedHolder{holderOf(s.GetPermit()), protoSeconds(s.GetFreeWithin().AsDuration())})
		}
	}
	return out
}

// told tells what a plan has done, a line each, and of a dry run also what that would do.
func (a *app) told(o outputFlag, plan []change, out *applied) error {
	count := make(map[string]int)
	for i := range plan {
		item := appliedItem{Name: plan[i].name, Action: plan[i].action()}
		if item.Action == actionDeleted {
			item.LivePermits = plan[i].before.GetHolders()
			item.Stopped = stoppedOf(out.stops, item.Name)
		}
		count[item.Action]++
		out.Items = append(out.Items, item)
	}
	switch o.String() {
	case formatJSON, formatYAML:
		for _, e := range out.preview.GetEffects() {
			data, err := messageJSON(e)
			if err != nil {
				return err
			}
			out.Effects = append(out.Effects, data)
		}
		out.Warnings = out.preview.GetWarnings()
		return a.printObject(o, out)
	case formatName:
		for _, item := range out.Items {
			fmt.Fprintln(a.out, item.Name)
		}
		return nil
	}
	dry := ""
	if out.DryRun {
		dry = " (dry run)"
	}
	for _, item := range out.Items {
		end := ""
		if item.Action == actionReplaced {
			end = out.end.text()
		}
		fmt.Fprintf(a.out, "%s %s%s%s%s\n", item.Name, item.Action, end, liveOn(item.LivePermits), dry)
	}
	if err := tellStopped(a.out, out.stops.GetEffects(), someOf); err != nil {
		return err
	}
	if len(out.Items) > 1 && a.errTTY {
		a.say("%d created, %d replaced, %d deleted, %d unchanged%s", count[actionCreated], count[actionReplaced], count[actionDeleted], count[actionUnchanged], dry)
	}
	a.undoWith(out.Revision)
	return a.tellEffects(out.preview.GetEffects(), out.preview.GetWarnings(), everyLine)
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
