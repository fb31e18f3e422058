package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A call whose answer was lost is repeated with its request id, and answered as the first one was. What the id is given to besides is a
// mistake of whoever gave it, and must not be answered as if it were done: the state machine refuses an id that another kind of change
// had, and what is here one that said something else, as far as the journal still knows.

// done is what a change did of which a call is the repeat.
type done struct {
	revision uint64
	entries  []*fsm.JournalEntry // as far as the journal remembers
}

func (d *done) names() []string {
	names := make([]string, len(d.entries))
	for i, e := range d.entries {
		names[i] = e.Semaphore
	}
	return names
}

// each reports whether something holds of all that the change did.
func (d *done) each(holds func(e *fsm.JournalEntry) bool) bool {
	return !slices.ContainsFunc(d.entries, func(e *fsm.JournalEntry) bool { return !holds(e) })
}

// repeated tells what became of the change of that request id; nil when it is none that was made. It reads first: what a repeat chooses
// is not looked up again, for the state may have changed since, not least by the change itself. A *semaphore.FieldError refuses an id
// that was used for something else: for another kind of change, or one of which same says that it is not what the call asks for.
func (s *operatorService) repeated(
	ctx context.Context, requestID string, kind fsm.EditKind, same func(state *fsm.State, d *done) bool,
) (*done, error) {
	if requestID == "" {
		return nil, nil //nolint:nilnil // no repeat
	}
	if err := semaphore.ValidateRequestID(requestID); err != nil {
		return nil, err
	}
	state, err := s.cfg.Keeper.Read(ctx)
	if err != nil {
		return nil, err
	}
	made := state.EditRequest(requestID)
	if made == nil {
		return nil, nil //nolint:nilnil // no repeat
	}
	if made.Edit != kind {
		return nil, invalid("request_id", requestID, made.Used())
	}
	d := doneBy(state, made.Revision)
	if !same(state, d) {
		return nil, usedForAnother(made)
	}
	return d, nil
}

func doneBy(state *fsm.State, revision uint64) *done {
	d := &done{revision: revision}
	for entry := range state.Journal("", revision) {
		if entry.Revision != revision {
			break
		}
		d.entries = append(d.entries, entry)
	}
	return d
}

func usedForAnother(made *fsm.Remembered) error {
	return invalid("request_id", made.RequestID, fmt.Sprintf("is that of %v that said something else, change %d: use a new one", made.Edit, made.Revision))
}

// left reports whether the change left a semaphore alone: the journal of that name goes back so far, and does not hold it.
func (d *done) left(state *fsm.State, name string) bool {
	for first := range state.Journal(name, 0) {
		return first.Revision <= d.revision && d.each(func(e *fsm.JournalEntry) bool { return e.Semaphore != name })
	}
	return false
}

// samePause compares all of a pause but who, why, and whom it chooses by labels: those may have changed since.
func samePause(cmd *fsm.Pause, end keeper.Ending, c *choice) func(*fsm.State, *done) bool {
	return func(state *fsm.State, d *done) bool {
		if c.labels == nil {
			for name := range c.plain {
				if d.left(state, name) {
					return false
				}
			}
		}
		return d.each(func(e *fsm.JournalEntry) bool {
			return c.names.match(e.Semaphore) && e.Pause.Stop == cmd.Stop && e.Pause.Drain == cmd.Drain && sameEnd(end, e.Pause.Until)
		})
	}
}

// sameResume compares whose pauses were ended; what was chosen and not paused was left alone. change is whose alone, 0 for anybody's.
func sameResume(c *choice, change uint64) func(*fsm.State, *done) bool {
	return func(_ *fsm.State, d *done) bool {
		return d.each(func(e *fsm.JournalEntry) bool {
			return c.names.match(e.Semaphore) && (change == 0 || e.Pause.Origin() == change)
		})
	}
}

func sameSetCordon(cmd *fsm.SetCordon, end keeper.Ending) func(*fsm.State, *done) bool {
	return func(_ *fsm.State, d *done) bool {
		return d.each(func(e *fsm.JournalEntry) bool {
			c := e.Cordon
			return c.ID == cmd.ID && c.GroupPattern == cmd.GroupPattern && c.AcquirerPattern == cmd.AcquirerPattern && c.Drain == cmd.Drain &&
				sameEnd(end, c.Until)
		})
	}
}

func sameUncordon(id string) func(*fsm.State, *done) bool {
	return func(_ *fsm.State, d *done) bool {
		return d.each(func(e *fsm.JournalEntry) bool { return e.Cordon.ID == id })
	}
}

func sameUndo(change uint64) func(*fsm.State, *done) bool {
	return func(_ *fsm.State, d *done) bool {
		return d.each(func(e *fsm.JournalEntry) bool { return e.Details().Undoes == change })
	}
}

// sameEnd tells whether there is one in both. Not when: what lasts an hour, or until two o'clock, says another instant when it is repeated.
func sameEnd(end keeper.Ending, was time.Time) bool { return (end == keeper.Ending{}) == was.IsZero() }

// repeatedCordon answers the repeat of a cordon.
func repeatedCordon(id string, d *done) *gatekeeperv1.CordonResponse {
	for _, e := range d.entries {
		return &gatekeeperv1.CordonResponse{Cordon: toCordon(e.Cordon)}
	}
	return &gatekeeperv1.CordonResponse{Cordon: &gatekeeperv1.CordonRecord{Id: id, Revision: d.revision}}
}

// sameEdits returns the error for a batch whose request id was used for other edits; nil for a repeat.
func sameEdits(state *fsm.State, batch *fsm.EditBatch, result fsm.EditResult) error {
	d := doneBy(state, result.Revision)
	asked := make(map[string]*fsm.Change, len(batch.Changes))
	for i := range batch.Changes {
		c := &batch.Changes[i]
		asked[c.Name] = c
	}
	made := make(map[string]struct{}, len(d.entries))
	same := d.each(func(e *fsm.JournalEntry) bool {
		made[e.Semaphore] = struct{}{}
		return sameEdit(asked[e.Semaphore], e)
	})
	for name := range asked {
		if _, there := made[name]; !there && !slices.Contains(result.Skipped, name) && d.left(state, name) {
			same = false
		}
	}
	if same {
		return nil
	}
	return usedForAnother(&fsm.Remembered{RequestID: batch.RequestID, Edit: fsm.EditDefinitions, Revision: result.Revision})
}

// sameEdit compares what is there after it: what was created is replaced by whoever looks before he repeats.
func sameEdit(c *fsm.Change, e *fsm.JournalEntry) bool {
	if c == nil || (c.Kind == fsm.Delete) != (e.Kind == fsm.Deleted) {
		return false
	}
	return e.Kind == fsm.Deleted || len(semaphore.Changed(e.After, c.Definition)) == 0
}
