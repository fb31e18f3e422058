package keeper

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/denials"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// DeniedCaller is a caller that was denied a permit for a reason that waiting does not resolve. Reason and Message
// explain why the same request would be denied now or, if it would no longer be denied, why it was last denied.
type DeniedCaller struct {
	denials.Denial
	// Resolved is set if the same request would no longer be denied for such a reason.
	Resolved bool
	// OtherHolder is another caller that would still be admitted and that has held a permit since the first of these
	// denials; nil if there is none.
	OtherHolder *semaphore.Identity
	// HeldAt is the time at which the caller last held a permit, according to the journal; zero if it never held one.
	HeldAt time.Time
	// Text describes the denials to an operator.
	Text string
}

// noteDenied records a denial that waiting does not resolve. Any other answer shows that the causes of the caller's
// earlier denials have been resolved.
func (k *Keeper) noteDenied(call *AcquireCall, d *Denial) {
	if d == nil || !needsAction(&call.Request, d.Decision, k.cfg.Machine.State()) {
		k.denials.Passed(&call.Request)
		return
	}
	k.denials.Denied(call.Request, d.Decision.Reason, d.Message, k.cfg.WallClock())
}

// needsAction reports whether the same request will be denied until someone edits the definition, resumes, uncordons,
// clears a slot, or changes the request. client.DeniedError.NeedsAction makes the same distinction, except that it
// excludes pauses and claimed firings.
func needsAction(req *semaphore.Request, d semaphore.Decision, state *fsm.State) bool {
	switch d.Reason {
	case semaphore.NoSuchSemaphore, semaphore.GroupMismatch, semaphore.AcquirerMismatch, semaphore.Cordoned, semaphore.Paused,
		semaphore.HeldForOperator, semaphore.AlreadyHeld, semaphore.WeightExceedsPermits,
		semaphore.FiringTooFarAhead, semaphore.FiringForgotten:
		return true
	case semaphore.NoFreePermit:
		held := false
		for p := range state.Holders(req.Semaphore) {
			if p.State != semaphore.Held {
				return false
			}
			held = true
		}
		return held
	case semaphore.FiringClaimed:
		return d.Claim != nil && d.Claim.State == semaphore.ClaimHeld && d.Claim.Winner == req.Identity
	default:
		return false
	}
}

// DeniedCallersOf returns the callers that a semaphore recently denied, the most urgent first; see urgency. Only a
// leader records denials.
func (k *Keeper) DeniedCallersOf(state *fsm.State, name string) []DeniedCaller {
	return k.evaluate(state, k.denials.Of(name, k.cfg.WallClock()))
}

// DeniedCallers returns the callers that the wanted semaphores recently denied, and the time at which this server began
// to record denials. Callers are ordered by semaphore and, within a semaphore, as in DeniedCallersOf. A semaphore's
// callers are evaluated when the first of them is read from the sequence.
func (k *Keeper) DeniedCallers(
	ctx context.Context, wanted func(state *fsm.State, name string) bool,
) (state *fsm.State, callers iter.Seq[DeniedCaller], since time.Time, err error) {
	t, err := k.leading()
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	if state, err = k.Read(ctx); err != nil {
		return nil, nil, time.Time{}, err
	}
	chosen := slices.DeleteFunc(k.denials.All(k.cfg.WallClock()), func(d denials.Denial) bool { return !wanted(state, d.Semaphore) })
	slices.SortStableFunc(chosen, func(a, b denials.Denial) int { return cmp.Compare(a.Semaphore, b.Semaphore) })
	return state, func(yield func(DeniedCaller) bool) {
		for len(chosen) > 0 {
			n := slices.IndexFunc(chosen, func(d denials.Denial) bool { return d.Semaphore != chosen[0].Semaphore })
			if n < 0 {
				n = len(chosen)
			}
			for _, v := range k.evaluate(state, chosen[:n]) {
				if !yield(v) {
					return
				}
			}
			chosen = chosen[n:]
		}
	}, t.began, nil
}

// DenyAll returns the most urgent caller of each semaphore that will not grant any permits until someone acts, ordered
// by the semaphores' last denials. It omits a semaphore if it is paused, or if a caller is denied for already holding a
// permit or the firing. Use the result for a summary only: DenyAll does not confirm that this server still leads.
func (k *Keeper) DenyAll() []DeniedCaller {
	state := k.cfg.Machine.State()
	recent := make(map[string][]denials.Denial)
	var names []string
	for _, d := range k.denials.All(k.cfg.WallClock()) {
		if recent[d.Semaphore] == nil {
			names = append(names, d.Semaphore)
		}
		recent[d.Semaphore] = append(recent[d.Semaphore], d)
	}
	var out []DeniedCaller
	for _, name := range names {
		if all, _ := k.allDenied(state, name, recent[name]); all {
			out = append(out, k.evaluate(state, recent[name])[0])
		}
	}
	return out
}

// DeniesAll reports whether a semaphore has callers but will not grant any of them a permit until someone acts.
// byCordon reports whether a cordon is the reason, in which case a caller gets permits again once the cordon is
// removed. It returns false for a paused semaphore.
func (k *Keeper) DeniesAll(state *fsm.State, name string) (all, byCordon bool) {
	return k.allDenied(state, name, k.denials.Of(name, k.cfg.WallClock()))
}

// allDenied is DeniesAll for the given denials of a semaphore. It stops at the first caller that is still served, so
// that it need not examine every caller of a semaphore with many standbys.
func (k *Keeper) allDenied(state *fsm.State, name string, recent []denials.Denial) (all, byCordon bool) {
	if sd := state.Definition(name); sd != nil && sd.Pause != nil {
		return false, false
	}
	for i := range recent {
		d := &recent[i]
		if d.Passed {
			if k.admits(state, name, d.Identity) {
				return false, false
			}
			continue // it has been served since then, but an edit or a cordon now shuts it out
		}
		reason, _, stillDenied := k.decideAgain(state, d)
		switch {
		case !stillDenied, reason == semaphore.Paused, reason == semaphore.AlreadyHeld, reason == semaphore.FiringClaimed:
			return false, false
		case k.otherHolder(state, d) != nil:
			return false, false
		}
		all = true
		byCordon = byCordon || reason == semaphore.Cordoned
	}
	return all, byCordon
}

// admits reports whether a definition's patterns admit a caller and no cordon applies to it.
func (k *Keeper) admits(state *fsm.State, name string, id semaphore.Identity) bool {
	a := k.patterns.admission(state, state.Definition(name), id)
	return a.Group && a.Acquirer && len(a.Cordons) == 0
}

// DenialsChanged returns the names of definitions whose denials have changed since an earlier call. after is the second
// result of that call; see denials.Memory.Changed.
func (k *Keeper) DenialsChanged(after uint64) (names []string, now uint64) {
	return k.denials.Changed(after)
}

// Misspellings returns the callers asking for an undefined name that looks like a misspelling of name, which is
// defined.
func (k *Keeper) Misspellings(state *fsm.State, name string) []DeniedCaller {
	var near []denials.Denial
	for _, d := range k.denials.All(k.cfg.WallClock()) {
		if state.Definition(d.Semaphore) == nil && nearest.Word(d.Semaphore, []string{name}) != "" {
			near = append(near, d)
		}
	}
	return k.evaluate(state, near)
}

// deniedCaller reevaluates a denied request against the current state.
func (k *Keeper) deniedCaller(state *fsm.State, d *denials.Denial) DeniedCaller {
	v := DeniedCaller{Denial: *d}
	v.OtherHolder, v.HeldAt = k.otherHolder(state, d), k.heldAt(state, d)
	now, message, stillDenied := k.decideAgain(state, d)
	if v.Resolved = !stillDenied; stillDenied {
		v.Reason, v.Message = now, message
	}
	v.Text = v.text(d.Reason)
	return v
}

// evaluate reevaluates denied requests and sorts them by urgency. Callers with the same urgency are sorted by when they
// last held a permit, the most recent first.
func (k *Keeper) evaluate(state *fsm.State, list []denials.Denial) []DeniedCaller {
	out := make([]DeniedCaller, len(list))
	for i := range list {
		out[i] = k.deniedCaller(state, &list[i])
	}
	slices.SortStableFunc(out, func(a, b DeniedCaller) int {
		return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), b.HeldAt.Compare(a.HeldAt))
	})
	return out
}

// urgency ranks callers by how likely they are to need attention: first cordoned callers, then other denied callers,
// then likely standbys, and finally callers that would no longer be denied.
func (v *DeniedCaller) urgency() int {
	switch {
	case v.Resolved:
		return 3
	case v.OtherHolder != nil:
		return 2
	case v.Reason == semaphore.Cordoned:
		return 0
	default:
		return 1
	}
}

// decideAgain reports whether the same request would still be denied until someone acts, and why. A caller that has
// retried without being denied counts as served: any later cause will show up the next time it calls. A pause is
// ignored unless it was the reason for the recorded denial, because it does not show whether the rule admits the
// caller.
func (k *Keeper) decideAgain(state *fsm.State, d *denials.Denial) (reason semaphore.Reason, message string, stillDenied bool) {
	if d.Passed {
		return 0, "", false
	}
	if d.Reason == semaphore.FiringTooFarAhead {
		return d.Reason, d.Message, true // its due time will come, but the wrong clock remains wrong
	}
	facts := k.facts(state, &AcquireCall{Request: d.Request})
	if d.Reason != semaphore.Paused {
		facts.Pause = nil
	}
	now, waits := semaphore.DecideWaiting(&d.Request, &facts)
	switch {
	case d.Worker && (waits || now.Reason == semaphore.HeldForOperator):
		return 0, "", false // each worker slot calls once, so this one is in the queue or has received its task
	case now.Reason == semaphore.AlreadyHeld && d.Reason != semaphore.AlreadyHeld:
		return 0, "", false // it has been granted a permit since then
	}
	now = semaphore.Decide(&d.Request, &facts)
	if !needsAction(&d.Request, now, state) {
		return 0, "", false
	}
	return now.Reason, k.sentence(state, &d.Request, &facts, now), true
}

// otherHolder returns another caller that has held a permit since the denied caller was first denied and that would
// still be admitted, or nil if there is none.
func (k *Keeper) otherHolder(state *fsm.State, d *denials.Denial) *semaphore.Identity {
	serves := func(p *semaphore.Permit) bool { return !sameCaller(p, d) && k.admits(state, d.Semaphore, p.Identity) }
	for p := range state.Holders(d.Semaphore) {
		if p.State == semaphore.Live && serves(p) {
			return &p.Identity
		}
	}
	for e := range state.JournalBackward(d.Semaphore, 0) {
		if e.At.Before(d.First) {
			break
		}
		if e.Kind == fsm.Released && serves(e.Permit) {
			return &e.Permit.Identity
		}
	}
	return nil
}

// heldAt returns when the denied caller last held a permit for the semaphore: now if it holds one, zero if the journal
// shows none.
func (k *Keeper) heldAt(state *fsm.State, d *denials.Denial) time.Time {
	for p := range state.Holders(d.Semaphore) {
		if sameCaller(p, d) {
			return k.cfg.WallClock()
		}
	}
	for e := range state.JournalBackward(d.Semaphore, 0) {
		if e.Permit != nil && sameCaller(e.Permit, d) {
			return e.At
		}
	}
	return time.Time{}
}

// sameCaller reports whether the holder of a permit is the denied caller. Holder ids differ between acquisitions.
func sameCaller(p *semaphore.Permit, d *denials.Denial) bool {
	return p.Identity.Group == d.Identity.Group && p.Identity.Acquirer == d.Identity.Acquirer
}

// text describes the denied request, the reason, how often it was denied, and whether it still would be. lastReason is
// the reason for its last denial.
func (v *DeniedCaller) text(lastReason semaphore.Reason) string {
	denied := "was denied"
	if v.Reason != lastReason {
		denied = "would now be denied"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q in group %q requested %q and %s: %v. %s ", v.Identity.Acquirer, v.Identity.Group, v.Semaphore, denied, v.Reason, v.Message)
	if v.Count == 1 {
		fmt.Fprintf(&b, "Denied once, at %s", rfc3339(v.Last))
	} else {
		fmt.Fprintf(&b, "Denied %d times, first at %s, last at %s", v.Count, rfc3339(v.First), rfc3339(v.Last))
	}
	if v.Reason != lastReason {
		fmt.Fprintf(&b, "; the reason then was %v", lastReason)
	}
	b.WriteString(".")
	switch {
	case v.Resolved && v.Passed:
		b.WriteString(" It has since retried and was not denied for that reason.")
	case v.Resolved:
		b.WriteString(" The same request would not be denied for that reason now.")
	case v.OtherHolder != nil:
		fmt.Fprintf(&b, " %q in group %q was granted a permit in the meantime: this caller may be a standby.", v.OtherHolder.Acquirer, v.OtherHolder.Group)
	}
	return b.String()
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
