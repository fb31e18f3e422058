package check

// grants returns the ways in which a grant may have happened, given its responses: in a free slot, in place of an older
// token of the same identity, or in place of a token that appears in no response.
func (st *step) grants() []func(*state) bool {
	g := st.grant
	switch {
	case g.fresh || g.singleRun():
		return []func(*state) bool{st.granted}
	case st.old != nil:
		return []func(*state) bool{func(s *state) bool { return st.superseded(s, g.superseded) }}
	}
	all := []func(*state) bool{st.supersededAny, st.supersededUnseen}
	if g.superseded == 0 {
		all = append(all, st.granted)
	}
	return all
}

// granted takes a free slot. The identity's other permits must have ended.
func (st *step) granted(s *state) bool {
	if st.index != s.granted || !s.admits(st.grant.identity) || s.paused || !st.endOthers(s) {
		return false
	}
	return st.fits(s, uint64(s.def.Permits)) && st.put(s, slot{})
}

// superseded takes over the slot of the same identity's live token. A pause without stop does not prevent that.
func (st *step) superseded(s *state, token uint64) bool {
	p, sure, ok := s.find(token)
	if !ok || st.index != s.granted || !s.admits(st.grant.identity) || s.stopped {
		return false
	}
	if p.gone && (!p.maybeSuperseded || p.released) || p.revoked || p.grant.task || p.holder != st.holder || p.weight != st.weight || !sure && !s.confirmTaken(token) {
		return false
	}
	s.drop(token)
	if !sure {
		s.bound -= min(s.bound, p.weight)
		s.clip()
	}
	next := slot{debt: p.debt, hadDebt: p.hadDebt}
	if !p.replaced && st.grant.request.Replaces != token {
		next.hadDebt = true
		if !p.lapsed && (p.debt == nil || p.debt.lapse < p.grant.lapse) {
			next.debt = p.grant
		}
	}
	return st.put(s, next)
}

// supersededAny takes over the slot of the identity's newest token that appears in a response, even if a token that
// appears in none has superseded it.
func (st *step) supersededAny(s *state) bool {
	var token uint64
	for _, slots := range []map[uint64]slot{s.sure, s.maybe} {
		for t, p := range slots {
			if p.holder == st.holder && t > token && (!p.gone || p.maybeSuperseded && !p.released) {
				token = t
			}
		}
	}
	return token != 0 && st.superseded(s, token)
}

// supersededUnseen takes over the slot of a token that appears in no response and had been granted a free slot. The
// time of that grant and the definition at that time are unknown.
func (st *step) supersededUnseen(s *state) bool {
	if st.index != s.granted || !s.admits(st.grant.identity) || s.stopped || !st.endOthers(s) {
		return false
	}
	return st.fits(s, s.peak) && st.put(s, slot{hadDebt: true})
}

// endOthers ends the identity's other permits. It returns false if one of them cannot have ended.
func (st *step) endOthers(s *state) bool {
	if s.holds(st.holder) {
		return false
	}
	for _, slots := range []map[uint64]slot{s.sure, s.maybe} {
		for token, p := range slots {
			if p.holder == st.holder && !p.gone {
				st.end(s, token, p)
			}
		}
	}
	return true
}

// fits reports whether the permit fits in addition to the weight that is definitely taken. If so, it lowers the bound
// for the rest.
func (st *step) fits(s *state, permits uint64) bool {
	taken := s.taken()
	if taken+st.weight > permits {
		return false
	}
	s.bound = min(s.bound, permits-taken-st.weight)
	s.prune()
	return true
}

// put adds the new permit's slot, which inherits p's fields.
func (st *step) put(s *state, p slot) bool {
	token := st.grant.token
	s.granted++
	p.grant, p.weight, p.holder, p.moments = st.grant, st.weight, st.holder, s.before[token]
	p.cooled = p.cooled || !st.hasCooldown || st.early.cooled
	p.lapsed, p.free = p.lapsed || st.early.lapsed, p.free || st.early.free // the task's worker may never have relied on it
	p.maybeSuperseded = p.maybeSuperseded || st.early.maybeSuperseded
	p.replaced = p.replaced || st.early.replaced
	delete(s.before, token)
	s.put(token, p)
	return true
}
