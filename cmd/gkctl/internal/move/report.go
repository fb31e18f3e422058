package move

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// moveReport is the result of a move in JSON output. Times are relative to the move.
type moveReport struct {
	From     string     `json:"from"`
	To       string     `json:"to"`
	Revision uint64     `json:"revision,string"`
	Drain    string     `json:"drain,omitempty"`
	Tasks    []moveTask `json:"tasks"`
	// NotMoved lists the semaphores that were chosen but not moved.
	NotMoved []notMoved `json:"not_moved,omitempty"`
	// Followed reports whether gkctl followed the progress. Left counts the old holders that had not stopped when gkctl
	// stopped following, or that left a slot held for an operator.
	Followed bool `json:"followed"`
	Left     int  `json:"left"`

	movedText string // the numbers of moved tasks and pools, as text
}

type moveTask struct {
	Name    string          `json:"name"`
	Stopped []stoppedHolder `json:"stopped"`
	Started []startedHolder `json:"started"`
	// Held lists expired permits that keep their slots until an operator clears them.
	Held []words.Holder `json:"held,omitempty"`
}

type stoppedHolder struct {
	words.Holder
	// How describes how the holder stopped, for example "released" or "expired". It is empty if gkctl did not see the
	// holder stop.
	How   string `json:"how,omitempty"`
	After string `json:"after,omitempty"`
	// Overran reports whether the holder failed to stop in time and kept its slot until After.
	Overran bool `json:"overran,omitempty"`
}

type startedHolder struct {
	words.Holder
	After string `json:"after"`
}

type notMoved struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Problem reports whether the definition admits the old group and must be edited by hand.
	Problem bool `json:"problem,omitempty"`
}

func newMoveReport(from, to string, moves *gatekeeperv1.MoveResponse) *moveReport {
	r := &moveReport{From: from, To: to, Tasks: []moveTask{}, movedText: tasksText(moves.GetMoves())}
	for _, n := range moves.GetNotMoved() {
		r.NotMoved = append(r.NotMoved, notMoved{n.GetSemaphore(), n.GetWhy(), n.GetProblem()})
	}
	return r
}

func (r *moveReport) add(h *handovers, followed bool) {
	r.Revision, r.Followed, r.Left = h.change, followed, h.left+len(h.held())
	for _, name := range h.names {
		task := moveTask{Name: name, Stopped: []stoppedHolder{}, Started: []startedHolder{}}
		for _, o := range h.tasks[name].old {
			s := stoppedHolder{Holder: words.HolderOf(o.permit), How: o.how, Overran: o.overran}
			if o.how != "" {
				s.After = words.ProtoSeconds(o.after)
			}
			task.Stopped = append(task.Stopped, s)
		}
		for _, n := range h.tasks[name].started {
			task.Started = append(task.Started, startedHolder{words.HolderOf(n.permit), words.ProtoSeconds(n.after)})
		}
		for _, p := range h.tasks[name].held {
			task.Held = append(task.Held, words.HolderOf(p))
		}
		r.Tasks = append(r.Tasks, task)
	}
}

// protoDuration formats a duration as in protobuf's JSON. It returns an empty string for nil.
func protoDuration(d *durationpb.Duration) string {
	if d == nil {
		return ""
	}
	data, err := protojson.Marshal(d)
	if err != nil {
		return ""
	}
	return strings.Trim(string(data), `"`)
}

// printReport prints the result of a move. h is nil if nothing was moved.
func (o *moveOptions) printReport(r *moveReport, h *handovers) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, r, words.Map(r.Tasks, func(t moveTask) string { return t.Name }))
	}
	fmt.Fprintf(o.f.Out, "moved %s from %s to %s\n", r.movedText, r.From, r.To)
	for _, n := range r.NotMoved {
		fmt.Fprintf(o.f.Out, "%s was not moved: %s\n", n.Name, n.Why)
	}
	if r.Followed {
		o.printHandovers(h)
	} else if h.left > 0 {
		fmt.Fprintf(o.f.Out, "%s stop\n", words.Plural(h.left, "holder must", "holders must"))
	}
	for _, p := range h.held() {
		fmt.Fprintln(o.f.Out, words.HeldText(p))
	}
	change.PrintUndoCommand(o.f.IO, r.Revision)
	return nil
}

// printHandovers prints how many holders stopped, how many got permits, and when. It lists the holders that stopped too
// late.
func (o *moveOptions) printHandovers(h *handovers) {
	stopped, released, granted := 0, 0, 0
	var last, lastGranted time.Duration
	var late []string
	for _, name := range h.names {
		t := h.tasks[name]
		for _, old := range t.old {
			if old.how == "" || old.how == howEdited {
				continue
			}
			stopped++
			last = max(last, old.after)
			if old.how == howReleased {
				released++
			}
			switch {
			case old.overran && old.how == howReleased:
				late = append(late, fmt.Sprintf("%s stopped too late: it released %s after %s", words.HolderText(old.permit), name, words.Elapsed(old.after)))
			case old.overran:
				late = append(late, fmt.Sprintf("%s did not stop in time: %s %s after %s", words.HolderText(old.permit), name, old.how, words.Elapsed(old.after)))
			case old.how == howExpired || old.how == howHeld:
				late = append(late, fmt.Sprintf("%s stopped refreshing: %s %s after %s", words.HolderText(old.permit), name, old.how, words.Elapsed(old.after)))
			}
		}
		for _, n := range t.started {
			granted++
			lastGranted = max(lastGranted, n.after)
		}
	}
	switch {
	case stopped == 0 && h.left == 0 && len(h.held()) == 0:
		fmt.Fprintln(o.f.Out, "no permits were held")
	case stopped > 0:
		fmt.Fprintf(o.f.Out, "%s stopped (%s), the last one after %s\n", words.Plural(stopped, "old holder", "old holders"),
			words.Plural(released, "released its permit", "released their permits"), words.Elapsed(last))
	}
	if h.left > 0 {
		fmt.Fprintf(o.f.Out, "%s not stopped\n", words.Plural(h.left, "old holder has", "old holders have"))
	}
	if granted > 0 {
		fmt.Fprintf(o.f.Out, "%s granted a permit, the last one after %s\n", words.Plural(granted, "new holder was", "new holders were"), words.Elapsed(lastGranted))
	}
	for _, text := range late {
		fmt.Fprintln(o.f.Out, text)
	}
}
