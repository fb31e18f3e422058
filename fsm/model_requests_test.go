package fsm_test

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file models remembered requests.

func (m *model) remember(r fsm.Remembered) {
	r.Revision = m.revision
	if m.level < 3 {
		skipped := r.OriginalResponse().Skipped
		if r.RequestHash, r.Response = 0, nil; len(skipped) > 0 {
			r.Response = &fsm.EditResponse{Skipped: skipped}
		}
	}
	if _, ok := m.forgotten[r.Semaphore]; !ok {
		m.forgotten[r.Semaphore] = m.forgottenMark(r.Semaphore)
	}
	m.requests = append(m.requests, r)
}

// modelEdit identifies an edit's request.
type modelEdit struct {
	kind                  fsm.EditKind
	id                    string
	requestHash, revision uint64
}

func (m *model) rememberEdit(e modelEdit, answer fsm.EditResponse) {
	if e.id == "" {
		return
	}
	r := fsm.Remembered{RequestID: e.id, Edit: e.kind, RequestHash: e.requestHash}
	if a := answer; a.NoOp || len(a.Names)+len(a.Skipped) > 0 || a.Definition != nil || a.Permits > 0 || a.Cordon != nil || a.Firings != nil {
		r.Response = &a
	}
	m.remember(r)
}

func (m *model) recordNoOp(e modelEdit) {
	if e.id != "" && m.level >= 3 {
		m.revision++
		m.rememberEdit(e, fsm.EditResponse{NoOp: true})
	}
}

// repeated returns the result of an earlier edit with the same request id, a refusal, or nil for a new edit.
func (m *model) repeated(e modelEdit, as func(fsm.Remembered) fsm.Result) fsm.Result {
	switch r := m.request("", semaphore.Identity{}, e.id); {
	case e.id == "":
		return nil
	case r == nil && e.revision != 0 && e.revision < m.forgottenMark(""):
		return fsm.InvalidResult{TooOld: m.tooOld("", e.revision)}
	case r == nil:
		return nil
	case r.Edit != e.kind || r.RequestHash != 0 && e.requestHash != 0 && r.RequestHash != e.requestHash:
		return fsm.InvalidResult{UsedBy: r}
	default:
		return as(*r)
	}
}

func repeatedChange(r fsm.Remembered) fsm.Result {
	first := r.OriginalResponse()
	result := fsm.RevisionResult{Revision: r.Revision, Repeated: true, Names: first.Names, Cordon: first.Cordon}
	if first.NoOp {
		result.Revision = 0
	}
	return result
}

func (m *model) forgottenMark(name string) uint64 {
	if forgottenMark, ok := m.forgotten[name]; ok || name == "" {
		return forgottenMark
	}
	return m.namesForgotten
}

func (m *model) tooOld(name string, revision uint64) *fsm.TooOld {
	return &fsm.TooOld{RequestRevision: revision, Forgotten: m.forgottenMark(name), Revision: m.revision}
}

// rememberedFor returns the remembered requests for a semaphore, or the remembered edits if name is empty, oldest
// first.
func (m *model) rememberedFor(name string) (list []fsm.Remembered) {
	for _, r := range m.requests {
		if r.Semaphore == name {
			list = append(list, r)
		}
	}
	return list
}

func (m *model) forgetOldestRequest(name string) {
	i := slices.IndexFunc(m.requests, func(r fsm.Remembered) bool { return r.Semaphore == name })
	m.forgotten[name] = max(m.forgotten[name], m.requests[i].Revision)
	m.requests = slices.Delete(m.requests, i, i+1)
}

// boundRequests forgets the oldest requests until the limits are met.
func (m *model) boundRequests() {
	if m.level < 3 {
		m.requests = newest(m.requests, m.settings.RememberedRequests)
		return
	}
	bounds := m.settings.Requests.OrDefault()
	for {
		var total uint64
		busiest, count, all := "", 0, 0
		for _, name := range slices.Sorted(maps.Keys(m.forgotten)) {
			if name == "" {
				continue
			}
			list := m.rememberedFor(name)
			total, all = total+totalSize(list), all+len(list)
			if len(list) > 0 && len(list) >= count {
				busiest, count = name, len(list)
			}
		}
		if total <= bounds.RequestBytes || all == 1 {
			break
		}
		m.forgetOldestRequest(busiest)
	}
	for list := m.rememberedFor(""); totalSize(list) > bounds.EditBytes && len(list) > 1; list = m.rememberedFor("") {
		m.forgetOldestRequest("")
	}
}

// totalSize returns the total estimated size of the requests.
func totalSize(list []fsm.Remembered) (n uint64) {
	addText := func(overhead int, texts ...string) {
		for _, t := range texts {
			n += uint64(overhead + len(t))
		}
	}
	for _, r := range list {
		n += 256
		addText(0, r.Semaphore, r.Identity.Group, r.Identity.Acquirer, r.Identity.HolderID, r.Identity.Principal, r.RequestID)
		a := r.Response
		if a == nil {
			continue
		}
		n += 128
		addText(16, a.Names...)
		addText(16, a.Skipped...)
		if d := a.Definition; d != nil {
			n += 512
			addText(0, d.UpdatedBy, d.Reason, d.Definition.Name, d.Definition.Description, d.Definition.GroupPattern, d.Definition.AcquirerPattern)
			for _, l := range d.Definition.Labels {
				addText(16, l.Key, l.Value)
			}
			if d.Pause != nil {
				addText(0, d.Pause.Reason, d.Pause.Author)
			}
		}
		if c := a.Cordon; c != nil {
			n += 512
			addText(0, c.ID, c.GroupPattern, c.AcquirerPattern, c.Author, c.Reason)
		}
		if a.Firings != nil {
			for _, c := range a.Firings.Claims {
				n += 256
				addText(0, c.Firing.Name, c.Winner.Group, c.Winner.Acquirer, c.Winner.HolderID, c.Winner.Principal)
			}
		}
	}
	return n
}

// dropUnusedMarks drops the marks of semaphores that have no other data.
func (m *model) dropUnusedMarks() {
	for _, name := range slices.Sorted(maps.Keys(m.forgotten)) {
		if forgottenMark := m.forgotten[name]; len(m.rememberedFor(name)) == 0 && (forgottenMark == 0 || m.level < 3 || name != "" && !m.hasData(name)) {
			delete(m.forgotten, name)
			if m.level >= 3 {
				m.namesForgotten = max(m.namesForgotten, forgottenMark)
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
		for list := m.rememberedFor(name); len(list) > kept && list[0].Revision <= c.UpTo; list = m.rememberedFor(name) {
			m.forgetOldestRequest(name)
			r.Applied = true
		}
	}
	return r
}

// requestHash draws a request's hash and revision. Below feature level 3, both are usually 0.
func (d draw) requestHash() (hash, revision uint64) {
	if d.m.level < 3 && d.likely("no request hash") {
		return 0, 0
	}
	return pick[uint64](d, "request hash", 0, 1, 1, 2), d.requestRevision()
}

func (d draw) requestRevision() uint64 {
	if d.m.level < 3 || rapid.Bool().Draw(d.T, "no request revision") {
		return 0
	}
	return rapid.Uint64Range(0, d.m.revision).Draw(d.T, "request revision")
}

func (d draw) trim() fsm.Trim {
	return fsm.Trim{
		Term: d.timerTerm(), UpTo: rapid.Uint64Range(0, d.m.revision).Draw(d.T, "up to"),
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
