package fsm_test

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file models the remembered requests.

func (m *model) remember(r fsm.Remembered) {
	r.Revision = m.revision
	if m.level < 3 {
		skipped := r.FirstAnswer().Skipped
		if r.Asked, r.Answer = 0, nil; len(skipped) > 0 {
			r.Answer = &fsm.EditAnswer{Skipped: skipped}
		}
	}
	if _, ok := m.forgotten[r.Semaphore]; !ok {
		m.forgotten[r.Semaphore] = m.mark(r.Semaphore)
	}
	m.requests = append(m.requests, r)
}

// modelEdit identifies the request of an edit.
type modelEdit struct {
	kind            fsm.EditKind
	id              string
	asked, revision uint64
}

func (m *model) rememberEdit(e modelEdit, answer fsm.EditAnswer) {
	if e.id == "" {
		return
	}
	r := fsm.Remembered{RequestID: e.id, Edit: e.kind, Asked: e.asked}
	if a := answer; a.Nothing || len(a.Names)+len(a.Skipped) > 0 || a.Definition != nil || a.Permits > 0 || a.Cordon != nil || a.Firings != nil {
		r.Answer = &a
	}
	m.remember(r)
}

func (m *model) rememberNothing(e modelEdit) {
	if e.id != "" && m.level >= 3 {
		m.revision++
		m.rememberEdit(e, fsm.EditAnswer{Nothing: true})
	}
}

// repeated returns the original result of the edit with this request id, a refusal, or nil for a new edit.
func (m *model) repeated(e modelEdit, as func(fsm.Remembered) fsm.Result) fsm.Result {
	switch r := m.request("", semaphore.Identity{}, e.id); {
	case e.id == "":
		return nil
	case r == nil && e.revision != 0 && e.revision < m.mark(""):
		return fsm.InvalidResult{TooOld: m.tooOld("", e.revision)}
	case r == nil:
		return nil
	case r.Edit != e.kind || r.Asked != 0 && e.asked != 0 && r.Asked != e.asked:
		return fsm.InvalidResult{Used: r}
	default:
		return as(*r)
	}
}

func repeatedChange(r fsm.Remembered) fsm.Result {
	first := r.FirstAnswer()
	result := fsm.RevisionResult{Revision: r.Revision, Repeated: true, Names: first.Names, Cordon: first.Cordon}
	if first.Nothing {
		result.Revision = 0
	}
	return result
}

func (m *model) mark(name string) uint64 {
	if mark, ok := m.forgotten[name]; ok || name == "" {
		return mark
	}
	return m.namesForgotten
}

func (m *model) tooOld(name string, revision uint64) *fsm.TooOld {
	return &fsm.TooOld{RequestRevision: revision, Forgotten: m.mark(name), Revision: m.revision}
}

// under returns the requests of a name, oldest first.
func (m *model) under(name string) (list []fsm.Remembered) {
	for _, r := range m.requests {
		if r.Semaphore == name {
			list = append(list, r)
		}
	}
	return list
}

func (m *model) forgetOldestOf(name string) {
	i := slices.IndexFunc(m.requests, func(r fsm.Remembered) bool { return r.Semaphore == name })
	m.forgotten[name] = max(m.forgotten[name], m.requests[i].Revision)
	m.requests = slices.Delete(m.requests, i, i+1)
}

// boundRequests forgets the requests beyond the limits.
func (m *model) boundRequests() {
	if m.level < 3 {
		m.requests = newest(m.requests, m.settings.RememberedRequests)
		return
	}
	bounds := m.settings.Requests.OrDefault()
	for {
		var total uint64
		most, count, all := "", 0, 0
		for _, name := range slices.Sorted(maps.Keys(m.forgotten)) {
			if name == "" {
				continue
			}
			list := m.under(name)
			total, all = total+sizes(list), all+len(list)
			if len(list) > 0 && len(list) >= count {
				most, count = name, len(list)
			}
		}
		if total <= bounds.RequestBytes || all == 1 {
			break
		}
		m.forgetOldestOf(most)
	}
	for list := m.under(""); sizes(list) > bounds.EditBytes && len(list) > 1; list = m.under("") {
		m.forgetOldestOf("")
	}
}

// sizes returns the sum of the estimated sizes of requests.
func sizes(list []fsm.Remembered) (n uint64) {
	text := func(each int, texts ...string) {
		for _, t := range texts {
			n += uint64(each + len(t))
		}
	}
	for _, r := range list {
		n += 256
		text(0, r.Semaphore, r.Identity.Group, r.Identity.Acquirer, r.Identity.HolderID, r.Identity.Principal, r.RequestID)
		a := r.Answer
		if a == nil {
			continue
		}
		n += 128
		text(16, a.Names...)
		text(16, a.Skipped...)
		if d := a.Definition; d != nil {
			n += 512
			text(0, d.UpdatedBy, d.Reason, d.Definition.Name, d.Definition.Description, d.Definition.GroupPattern, d.Definition.AcquirerPattern)
			for _, l := range d.Definition.Labels {
				text(16, l.Key, l.Value)
			}
			if d.Pause != nil {
				text(0, d.Pause.Reason, d.Pause.Author)
			}
		}
		if c := a.Cordon; c != nil {
			n += 512
			text(0, c.ID, c.GroupPattern, c.AcquirerPattern, c.Author, c.Reason)
		}
		if a.Firings != nil {
			for _, c := range a.Firings.Claims {
				n += 256
				text(0, c.Firing.Name, c.Winner.Group, c.Winner.Acquirer, c.Winner.HolderID, c.Winner.Principal)
			}
		}
	}
	return n
}

// settleMarks drops the marks of names that have no other data.
func (m *model) settleMarks() {
	for _, name := range slices.Sorted(maps.Keys(m.forgotten)) {
		if mark := m.forgotten[name]; len(m.under(name)) == 0 && (mark == 0 || m.level < 3 || name != "" && !m.keeps(name)) {
			delete(m.forgotten, name)
			if m.level >= 3 {
				m.namesForgotten = max(m.namesForgotten, mark)
			}
		}
	}
}

func (m *model) trimRequests(c fsm.Trim) fsm.Result {
	r := fsm.RevisionResult{}
	if c.Term != m.term {
		return r
	}
	for _, name := range c.Names {
		kept := int(m.settings.Requests.OrDefault().Kept)
		if name != "" && m.definition(name) == nil {
			kept = 0
		}
		for list := m.under(name); len(list) > kept && list[0].Revision <= c.UpTo; list = m.under(name) {
			m.forgetOldestOf(name)
			r.Applied = true
		}
	}
	return r
}

// asked draws the hash and the revision of a request. Below feature level 3 it mostly draws none.
func (d draw) asked() (hash, revision uint64) {
	if d.m.level < 3 && d.likely("nothing asked") {
		return 0, 0
	}
	return pick[uint64](d, "asked", 0, 1, 1, 2), d.requestRevision()
}

func (d draw) requestRevision() uint64 {
	if d.m.level < 3 || rapid.Bool().Draw(d.T, "no request revision") {
		return 0
	}
	return rapid.Uint64Range(0, d.m.revision).Draw(d.T, "request revision")
}

func (d draw) trim() fsm.Trim {
	return fsm.Trim{
		Term: d.timer(), UpTo: rapid.Uint64Range(0, d.m.revision).Draw(d.T, "up to"),
		Names: rapid.SliceOfN(rapid.SampledFrom(modelNames), 0, 4).Draw(d.T, "trimmed"),
	}
}

func (d draw) requestBounds() fsm.RequestBounds {
	if d.m.level < 3 && d.likely("default bounds") {
		return fsm.RequestBounds{}
	}
	return fsm.RequestBounds{
		Kept: uint32(rapid.IntRange(0, 2).Draw(d.T, "kept")), RequestBytes: pick[uint64](d, "request bytes", 0, 2047, 2048, 2700),
		EditBytes: pick[uint64](d, "edit bytes", 0, 2048, 4000),
	}
}
