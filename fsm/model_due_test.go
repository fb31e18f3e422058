package fsm_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file models the commands that feature level 2 added.

func invalidDrain(d time.Duration) bool { return d < 0 || d > 24*time.Hour }

// timerCommand models the commands proposed by the leader's timers.
func (m *model) timerCommand(cmd fsm.Command) fsm.Result {
	before := m.revision
	switch c := cmd.(type) {
	case fsm.EndDrain:
		if c.Term == m.term {
			m.endDrain(c)
		}
	case fsm.Revert:
		for _, name := range c.Names {
			i := slices.IndexFunc(m.ends[name], func(e fsm.EditEnd) bool { return e.Revision == c.Change })
			if c.Term == m.term && i >= 0 {
				m.revision = before + 1
				m.revert(name, i, c.At)
			}
		}
	case fsm.NoteMissed:
		if c.Term == m.term && m.definition(c.Semaphore) != nil {
			m.revision++
			kind := fsm.MissedEvent
			if c.Missed == fsm.NothingMissed {
				kind = fsm.HeardEvent
			}
			m.note(fsm.JournalEntry{Kind: kind, Semaphore: c.Semaphore, Author: "gatekeeper", Reason: c.Text, At: c.At, Missed: c.Missed})
		}
	case fsm.EndQuarantine:
		if c.Term == m.term && m.quarantine > 0 {
			m.revision++
			m.quarantine = 0
			m.note(fsm.JournalEntry{Kind: fsm.QuarantineEnded, Author: "gatekeeper", At: c.At})
		}
	}
	if m.revision == before {
		return fsm.RevisionResult{}
	}
	return m.changed()
}

func (m *model) endDrain(c fsm.EndDrain) {
	newRevision := m.revision + 1
	for _, name := range c.Names {
		n := len(m.drains[name])
		m.drains[name] = slices.DeleteFunc(slices.Clone(m.drains[name]), func(d semaphore.Drain) bool { return d.Revision == c.Change })
		if len(m.drains[name]) < n {
			m.revision = newRevision
		}
		if d := m.definition(name); d != nil && d.Pause != nil && d.Pause.Revision == c.Change && d.Pause.Drain > 0 {
			p := *d.Pause
			p.Drain = 0
			d.Pause, m.revision = &p, newRevision
		}
	}
	for i := range m.cordons {
		if o := &m.cordons[i]; o.ID == c.Cordon && o.Revision == c.Change && o.Drain > 0 {
			o.Drain, m.revision, m.cordonRevision = 0, newRevision, newRevision
		}
	}
	for i := range m.permits {
		if p := &m.permits[i]; p.Token == c.Token && p.StopOrder().Revision == c.Change && p.StopOrder().Drain > 0 {
			p.Order, m.revision = withoutDrain(p.Order), newRevision
		}
	}
}

func (m *model) revert(name string, i int, at time.Time) {
	d, end := m.definition(name), m.ends[name][i]
	m.ends[name] = slices.Delete(slices.Clone(m.ends[name]), i, i+1)
	e := fsm.JournalEntry{Kind: fsm.RevertedEvent, Semaphore: name, Before: d.Definition, After: d.Definition, Author: "gatekeeper", At: at}
	restored, kept := semaphore.Revert(d.Definition, end.Before, end.After)
	revertedFields := semaphore.Changed(d.Definition, restored)
	e.Reason = fmt.Sprintf("the edit made at revision %d has expired", end.Revision)
	if err := restored.Validate(m.settings.MaxDuration); err != nil && len(revertedFields) > 0 {
		e.Reason += "; its fields keep their current values, because the definition would be invalid with the old ones: " + err.Error()
		m.note(e)
		return
	}
	if len(revertedFields) > 0 {
		e.Reason += "; reverted: " + strings.Join(revertedFields, ", ")
	}
	if len(kept) > 0 {
		e.Reason += "; changed since then and not reverted: " + strings.Join(kept, ", ")
	}
	if len(revertedFields)+len(kept) == 0 {
		e.Reason += "; there was nothing to revert"
	}
	if len(revertedFields) > 0 {
		if restored.Misfire != d.Definition.Misfire {
			if d.MisfiresFrom = at; restored.Misfire == semaphore.MisfireSkip {
				d.MisfiresFrom = time.Time{}
			}
		}
		d.Definition, d.Version, d.UpdatedBy, d.UpdatedAt, d.Reason = restored, m.revision, "gatekeeper", at, e.Reason
		e.After, e.Drain = restored, end.Drain
		m.drain(name, end.Drain)
	}
	m.forgetEnd(name, i, end)
	m.note(e)
}

// forgetEnd updates the temporary edits from index i onward as if the ended edit had never been made.
func (m *model) forgetEnd(name string, i int, end fsm.EditEnd) {
	for j := i; j < len(m.ends[name]); j++ {
		later := &m.ends[name][j]
		later.Before, _ = semaphore.Revert(later.Before, end.Before, end.After)
		later.After, _ = semaphore.Revert(later.After, end.Before, end.After)
	}
}

// drain starts a drain if the semaphore has a live permit.
func (m *model) drain(name string, d time.Duration) {
	live := slices.ContainsFunc(m.permits, func(p semaphore.Permit) bool { return p.Semaphore == name && p.State == semaphore.Live })
	if d > 0 && live {
		m.drains[name] = newest(append(slices.Clone(m.drains[name]), semaphore.Drain{Revision: m.revision, Duration: d}), 16)
	}
}

// schedule updates the drains and temporary edits after an edit. It returns the temporary edits that were removed.
func (m *model) schedule(c fsm.EditBatch, change fsm.UndoEdit, before *semaphore.Definition) (removed []*fsm.EditEnd) {
	name := change.Name
	if before != nil {
		m.drain(name, c.Drain)
	}
	m.ends[name] = slices.Clone(m.ends[name])
	if change.Kind == fsm.Delete {
		for _, end := range m.ends[name] {
			removed = append(removed, &end)
		}
		delete(m.ends, name)
	}
	for _, revision := range change.RemovedEnds {
		for i, end := range m.ends[name] {
			if end.Revision == revision {
				removed = append(removed, &end)
				m.ends[name] = slices.Delete(m.ends[name], i, i+1)
				m.forgetEnd(name, i, end)
				break
			}
		}
	}
	for _, end := range change.RestoredEnds {
		m.ends[name] = append(m.ends[name], *end)
	}
	if change.Kind != fsm.Delete && !c.Until.IsZero() {
		m.ends[name] = append(m.ends[name], fsm.EditEnd{Revision: m.revision, Until: c.Until, Before: before, After: change.Definition, Drain: c.Drain})
	}
	slices.SortFunc(m.ends[name], func(a, b fsm.EditEnd) int { return cmp.Compare(a.Revision, b.Revision) })
	return removed
}

func (m *model) sight(c fsm.Sight) fsm.Result {
	if c.Term != m.term {
		return fsm.RevisionResult{}
	}
	for _, s := range c.Sightings {
		if s.Group == "" || s.Acquirer == "" || s.At.IsZero() {
			return fsm.InvalidResult{}
		}
	}
	r := fsm.RevisionResult{}
	for _, s := range c.Sightings {
		i := slices.IndexFunc(m.sightings, func(o fsm.Sighting) bool { return o.Group == s.Group && o.Acquirer == s.Acquirer })
		if i >= 0 && !m.sightings[i].At.Before(s.At) {
			continue
		}
		r.Applied = true
		if i >= 0 {
			m.sightings = slices.Delete(m.sightings, i, i+1)
		}
		m.sightings = append(m.sightings, s)
	}
	slices.SortFunc(m.sightings, func(a, b fsm.Sighting) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Acquirer, b.Acquirer))
	})
	return r
}

// withoutDrain returns a copy of o without a drain. It deliberately does not use the implementation under test.
func withoutDrain(o *semaphore.StopOrder) *semaphore.StopOrder {
	if o == nil {
		return nil
	}
	without := *o
	without.Drain = 0
	return &without
}
