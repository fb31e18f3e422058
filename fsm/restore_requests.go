package fsm

func (in *restorer) request(m *Remembered) {
	if in.r.err != nil {
		return
	}
	last, _, _ := in.d.State.requests.Max()
	switch {
	case m.Revision <= last:
		in.r.fail("request with revision %d follows one with revision %d", m.Revision, last)
	case m.Token > in.d.lastToken:
		in.r.fail("a request has token %d, but the last one is %d", m.Token, in.d.lastToken)
	case m.Token != 0 && in.d.EndedPermit(m.Token) != nil:
		in.r.fail("permit %d ended twice", m.Token)
	}
	in.requireRevision(m.Revision, "a request")
	if a := m.Response; a != nil {
		in.checkResponse(m, a)
	}
	// Requests share strings with definitions and sightings, as they did when they were made.
	m.Semaphore, m.Identity.Group, m.Identity.Acquirer = in.r.intern(m.Semaphore), in.r.intern(m.Identity.Group), in.r.intern(m.Identity.Acquirer)
	in.d.addRequest(m)
}

// checkResponse checks the remembered response to an edit.
func (in *restorer) checkResponse(m *Remembered, a *EditResponse) {
	if in.r.err != nil {
		return
	}
	if c := a.Cordon; c != nil {
		in.require(c.ID != "" && c.Revision == m.Revision, "the response to change %d has a cordon with revision %d", m.Revision, c.Revision)
		in.checkOrigin(c.Change, c.Revision, "a cordon")
	}
	if f := a.Firings; f != nil && len(f.Claims) > 0 {
		in.checkFirings(f.Claims[0].Semaphore, f)
	}
	d := a.Definition
	if d == nil {
		return
	}
	in.require(d.Version == m.Revision && d.CreatedRevision > 0 && d.CreatedRevision <= d.Version,
		"the response to change %d has a definition with version %d, created at %d", m.Revision, d.Version, d.CreatedRevision)
	if p := d.Pause; p != nil {
		in.requireRevision(p.Revision, "the pause in a response")
		in.checkOrigin(p.Change, p.Revision, "the pause in a response")
	}
	if now := in.d.Definition(d.Definition.Name); now != nil && now.Definition.Equal(d.Definition) {
		d.Definition = now.Definition // share one copy, as when the edit was made
	}
}

// restoreForgotten restores a name's forgotten mark and reports whether the name has one. A name without any other data
// has no mark. hasTimers is true if the name has drains or temporary edits.
func (in *restorer) restoreForgotten(name string, revision uint64, hasTimers bool) bool {
	if revision == 0 {
		return false
	}
	in.r.requires(3)
	in.require(revision <= in.revision, "requests of semaphore %q were forgotten up to revision %d, but the last one is %d", name, revision, in.revision)
	in.require(hasTimers || in.d.requestMemory(name).requests.len() > 0 || !in.d.gate(name).empty(), "semaphore %q has a mark for forgotten requests but no other data", name)
	in.d.writableMemory(name).forgotten = revision
	return true
}

// checkRequestBounds checks that the remembered requests are within the limits.
func (in *restorer) checkRequestBounds() {
	d := in.d
	requests, edits, requestBytes, editBytes := d.RequestMemory()
	if d.featureLevel < 3 {
		in.require(requests+edits <= int(d.settings.RememberedRequests), "it has %d requests, but the limit is %d", requests+edits, d.settings.RememberedRequests)
	} else {
		bounds := d.settings.Requests.OrDefault()
		in.require(requests <= 1 || requestBytes <= bounds.RequestBytes, "its requests take %d bytes, but the limit is %d", requestBytes, bounds.RequestBytes)
		in.require(edits <= 1 || editBytes <= bounds.EditBytes, "its edits take %d bytes, but the limit is %d", editBytes, bounds.EditBytes)
	}
}
