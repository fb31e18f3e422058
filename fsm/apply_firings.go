package fsm

import (
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Operators can repair remembered firings and undo those repairs. The leader plans both. The command lists every firing
// and the time to which the low-water mark is lowered. The leader takes that time from its clock, because the state
// machine never reads a clock. No other commands lower the mark.

// forgetFirings forgets either all of the given firings or none.
func (d *draft) forgetFirings(c ForgetFirings) Result {
	request := editRequest{EditForgetFirings, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := d.repeated(request, func(done *Remembered) Result {
		return FiringsResult{Revision: done.ChangeID(), Firings: done.OriginalResponse().Firings, Repeated: true}
	}); r != nil {
		return r
	}
	if c.Semaphore == "" {
		return invalid("forget firings: no semaphore is given")
	}
	if err := validExpected(c.Firings); err != nil {
		return invalid("forget firings of %q: %v", c.Semaphore, err)
	}
	claims, conflict := d.forgettable(c.Semaphore, c.Firings)
	if conflict != nil {
		return FiringsResult{Conflict: conflict}
	}
	mark := d.LowWater(c.Semaphore)
	if !c.LowerTo.IsZero() && c.LowerTo.Before(mark) {
		mark = c.LowerTo
	}
	if len(claims) == 0 && mark.Equal(d.LowWater(c.Semaphore)) {
		d.rememberNoOp(request)
		return FiringsResult{}
	}
	revision := d.advance()
	change := d.changeFirings(FiringsForgotten, c.Semaphore, claims, mark, JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	d.rememberEdit(request, EditResponse{Firings: change})
	return FiringsResult{Revision: revision, Firings: change}
}

func validExpected(firings []ExpectedClaim) error {
	type key struct {
		name string
		due  time.Time
	}
	named := make(map[key]struct{}, len(firings))
	for _, f := range firings {
		k := key{f.Firing.Name, f.Firing.Due}
		if _, duplicate := named[k]; duplicate || f.Firing.Name == "" {
			return fmt.Errorf("firing %q is listed twice or has no name", f.Firing.Name)
		}
		named[k] = struct{}{}
	}
	return nil
}

// forgettable returns the claims for the given firings. It returns a conflict if a claim is not as expected or its
// permit still occupies a slot.
func (d *draft) forgettable(name string, firings []ExpectedClaim) ([]*semaphore.Claim, *Conflict) {
	claims := make([]*semaphore.Claim, len(firings))
	for i, f := range firings {
		claims[i] = d.Claim(name, f.Firing)
		if claims[i] == nil || claims[i].Token != f.Token || claims[i].State == semaphore.ClaimHeld {
			return nil, &Conflict{Index: i, Kind: ConflictFirings, Name: name}
		}
	}
	return claims, nil
}

// changeFirings forgets or restores claims, depending on kind, and sets the low-water mark. e provides the author, the
// reason and the time.
func (d *draft) changeFirings(kind EventKind, name string, claims []*semaphore.Claim, mark time.Time, e JournalEntry) *FiringsChange {
	change := &FiringsChange{Claims: claims, MarkBefore: d.LowWater(name), MarkAfter: mark}
	e.Kind, e.Semaphore = kind, name
	details := e.Details()
	details.Firings = change
	d.note(e.With(details)) // before the change: after a deletion, the journal may be the only trace of the name
	d.emit(Event{Kind: kind, Semaphore: name, Author: e.Author, Reason: e.Reason, At: e.At})
	for _, claim := range claims {
		if kind == FiringsForgotten {
			d.setClaim(claim, nil)
		} else {
			d.setClaim(nil, claim)
		}
	}
	if !mark.Equal(change.MarkBefore) {
		g := d.write(name)
		if g.lowWater = 0; !mark.IsZero() {
			g.lowWater = mark.UnixNano()
		}
		d.sweep(name, g)
	}
	return change
}

// undoFirings first forgets the firings in u.Forget and then restores the claims in u.Restore. If the low-water mark is
// lowered, the journal entry for the forgotten firings records it. If the mark is raised, the entry for the restored
// firings does.
func (d *draft) undoFirings(u UndoFirings, e JournalEntry) {
	before := d.LowWater(u.Semaphore)
	after := before
	if !u.LowWater.IsZero() {
		after = u.LowWater
	}
	claims, _ := d.forgettable(u.Semaphore, u.Forget) // already checked
	if len(claims) > 0 || after.Before(before) {
		d.changeFirings(FiringsForgotten, u.Semaphore, claims, earlier(before, after), e)
	}
	if len(u.Restore) > 0 || after.After(before) {
		d.changeFirings(FiringsRemembered, u.Semaphore, u.Restore, after, e)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// validUndoFirings checks the claims to restore in the same way as Restore checks a snapshot's claims. Otherwise, an
// undo could produce a state that cannot be restored from its snapshot.
func (d *draft) validUndoFirings(u UndoFirings, tokens map[uint64]struct{}) error {
	if len(u.Restore)+len(u.Forget) == 0 && (u.LowWater.IsZero() || u.LowWater.Equal(u.ExpectedLowWater)) {
		return fmt.Errorf("there is nothing to do")
	}
	named := append([]ExpectedClaim(nil), u.Forget...)
	for _, c := range u.Restore {
		_, duplicate := tokens[c.Token]
		p := d.Permit(c.Token)
		switch {
		case c.Semaphore != u.Semaphore:
			return fmt.Errorf("firing %q belongs to semaphore %q", c.Firing.Name, c.Semaphore)
		case c.State == semaphore.ClaimHeld:
			return fmt.Errorf("the claim of firing %q is held, so it cannot be restored", c.Firing.Name)
		case c.Token == 0 || c.Token > d.lastToken || duplicate || c.Revision == 0 || c.Revision > d.revision:
			return fmt.Errorf("firing %q was not claimed by token %d at revision %d", c.Firing.Name, c.Token, c.Revision)
		case p != nil && (p.Semaphore != c.Semaphore || !p.Firing.Equal(&c.Firing)):
			return fmt.Errorf("permit %d does not belong to firing %q", c.Token, c.Firing.Name)
		case c.State == semaphore.ClaimOpen && (p != nil || c.Attempts == 0):
			return fmt.Errorf("firing %q is open after %d attempts although permit %d exists", c.Firing.Name, c.Attempts, c.Token)
		}
		tokens[c.Token] = struct{}{}
		named = append(named, ExpectedClaim{Firing: c.Firing, Token: c.Token})
	}
	return validExpected(named)
}

// firingsConflict returns a conflict if the state is not what the undo expects, or nil if it is.
func (d *draft) firingsConflict(u UndoFirings) *Conflict {
	if _, conflict := d.forgettable(u.Semaphore, u.Forget); conflict != nil {
		return conflict
	}
	for _, c := range u.Restore {
		if d.Claim(c.Semaphore, c.Firing) != nil || d.claimOf(c.Token) != nil {
			return &Conflict{Kind: ConflictFirings, Name: u.Semaphore}
		}
	}
	if !u.LowWater.IsZero() && !d.LowWater(u.Semaphore).Equal(u.ExpectedLowWater) {
		return &Conflict{Kind: ConflictFirings, Name: u.Semaphore}
	}
	return nil
}
