package move

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// handovers tracks the tasks of a move: their old holders until they have stopped, and the permits granted since the
// move. Events must be passed to it in revision order.
type handovers struct {
	from  string
	drain time.Duration // the drain of the move, or 0
	names []string      // the names of the tasks, in order
	tasks map[string]*handover

	change  uint64    // the revision of the move, or 0 before it is known
	movedAt time.Time // when the move was made, according to gkctl's clock
	seen    uint64    // all events up to this revision have arrived
	left    int       // the number of old holders that have not stopped
}

type handover struct {
	pattern string // the group pattern after the move
	old     []*oldHolder
	started []newHolder
	held    []*gatekeeperv1.Permit // permits whose slots remain taken until an operator clears them
	drained bool                   // whether the drain has ended, so that old holders' refreshes are refused
}

// oldHolder is a holder that must stop because of the move.
type oldHolder struct {
	permit *gatekeeperv1.Permit
	how    string // how it stopped; empty until then
	after  time.Duration
	// overran reports whether the holder still had its permit when the drain ended. Without a drain, it reports whether
	// the holder kept the permit until it expired.
	overran bool
}

// newHolder is a holder whose permit was granted after the move.
type newHolder struct {
	permit *gatekeeperv1.Permit
	after  time.Duration
}

// The values of oldHolder.how.
const (
	howReleased = "released"
	howExpired  = "expired"
	howHeld     = "expired, and its slot is held for an operator"
	howFreed    = "freed unsafely"
	howGone     = "gone"
	howEdited   = "not followed: edited again"
)

func newHandovers(moves *gatekeeperv1.MoveResponse, from string, drain time.Duration) *handovers {
	h := &handovers{from: from, drain: drain, tasks: make(map[string]*handover), seen: moves.GetRevision()}
	for _, e := range moves.GetMoves() {
		h.names = append(h.names, e.GetSemaphore())
		h.tasks[e.GetSemaphore()] = &handover{pattern: e.GetGroupPattern()}
	}
	for _, e := range moves.GetEffects() {
		t := h.tasks[e.GetSemaphore()]
		for _, s := range e.GetStopped() {
			h.add(t, s.GetPermit())
		}
		if t != nil {
			t.held = slices.Clone(e.GetHeld())
		}
	}
	return h
}

func (h *handovers) add(t *handover, p *gatekeeperv1.Permit) {
	if t != nil && t.find(p.GetToken()) == nil {
		t.old = append(t.old, &oldHolder{permit: p})
		h.left++
	}
}

// begin records that the move was made.
func (h *handovers) begin(change uint64, at time.Time) { h.change, h.movedAt = change, at }

// event processes an event that arrived at the given time. It returns a line that describes the progress of the move,
// or an empty string.
func (h *handovers) event(e *gatekeeperv1.Event, at time.Time) string {
	t := h.tasks[e.GetSemaphore()]
	if t == nil {
		return ""
	}
	switch e.GetKind() {
	case gatekeeperv1.EventKind_EVENT_KIND_GRANTED:
		return h.granted(t, e, at)
	case gatekeeperv1.EventKind_EVENT_KIND_DRAINED:
		t.drained = t.drained || e.GetChange() == h.change
	case gatekeeperv1.EventKind_EVENT_KIND_REPLACED, gatekeeperv1.EventKind_EVENT_KIND_REVERTED:
		if e.GetRevision() == h.change && at.Before(h.movedAt) {
			h.movedAt = at // the event arrived before the response to the move
		}
		if p := e.GetDefinition().GetDefinition().GetGroupPattern(); e.GetRevision() > h.change && p != t.pattern {
			t.pattern = p
			return h.editedAgain(t, e, at)
		}
	case gatekeeperv1.EventKind_EVENT_KIND_CLEARED:
		t.held = slices.DeleteFunc(t.held, func(p *gatekeeperv1.Permit) bool { return p.GetToken() == e.GetPermit().GetToken() })
	default:
		if how := howStopped(e); how != "" {
			return h.ended(t, e, how, at)
		}
	}
	return ""
}

func (h *handovers) granted(t *handover, e *gatekeeperv1.Event, at time.Time) string {
	p := e.GetPermit()
	switch {
	case e.GetRevision() < h.change:
		if p.GetIdentity().GetGroup() == h.from { // granted between the plan and the move
			h.add(t, p)
		}
		return ""
	case len(t.started) >= max(1, len(t.old)):
		return "" // count only the first holder of each slot
	}
	after := max(0, at.Sub(h.movedAt))
	t.started = append(t.started, newHolder{permit: p, after: after})
	return fmt.Sprintf("%s granted to %s after %s", e.GetSemaphore(), words.HolderText(p), words.Elapsed(after))
}

// editedAgain processes an edit made after the move. From then on, that edit determines whether the old holders must
// stop.
func (h *handovers) editedAgain(t *handover, e *gatekeeperv1.Event, at time.Time) string {
	for _, o := range t.old {
		if o.how == "" {
			h.end(o, howEdited, at)
		}
	}
	return fmt.Sprintf("%s was edited again by %s: its holders are no longer followed", e.GetSemaphore(), cmp.Or(e.GetAuthor(), "an unknown author"))
}

func (h *handovers) ended(t *handover, e *gatekeeperv1.Event, how string, at time.Time) string {
	o := t.find(e.GetPermit().GetToken())
	if o == nil || o.how != "" {
		return ""
	}
	h.end(o, how, at)
	if e.GetRevision() < h.change { // it stopped before the move
		t.old = slices.DeleteFunc(t.old, func(old *oldHolder) bool { return old == o })
		return ""
	}
	if how == howHeld {
		t.held = append(t.held, o.permit)
	}
	o.overran = t.drained || h.drain == 0 && (how == howExpired || how == howHeld)
	text := fmt.Sprintf("%s %s by %s after %s", e.GetSemaphore(), how, words.HolderText(o.permit), words.Elapsed(o.after))
	if how != howReleased {
		text = fmt.Sprintf("%s of %s %s after %s", e.GetSemaphore(), words.HolderText(o.permit), how, words.Elapsed(o.after))
	}
	return text
}

func (h *handovers) end(o *oldHolder, how string, at time.Time) {
	o.how, o.after = how, max(0, at.Sub(h.movedAt))
	h.left--
}

// resync makes up for missed events by comparing the old holders with the current ones.
func (h *handovers) resync(holders []*gatekeeperv1.Permit, revision uint64, at time.Time) {
	live := make(map[uint64]bool, len(holders))
	for _, p := range holders {
		t := h.tasks[p.GetSemaphore()]
		if t == nil || p.GetState() != gatekeeperv1.PermitState_PERMIT_STATE_LIVE {
			continue
		}
		live[p.GetToken()] = true
		switch {
		case p.GetGrantedRevision() < h.change && p.GetIdentity().GetGroup() == h.from:
			h.add(t, p)
		case p.GetGrantedRevision() > h.change && len(t.started) < max(1, len(t.old)):
			t.started = append(t.started, newHolder{permit: p, after: max(0, at.Sub(h.movedAt))})
		}
	}
	for _, t := range h.tasks {
		for _, o := range t.old {
			if o.how == "" && !live[o.permit.GetToken()] {
				h.end(o, howGone, at)
			}
		}
	}
	h.seen = max(h.seen, revision)
}

// done reports whether all old holders have stopped and no more can appear.
func (h *handovers) done() bool { return h.seen >= h.change && h.left == 0 }

// remaining lists the old holders that have not stopped, with their tasks.
func (h *handovers) remaining() (texts []string) {
	for _, name := range h.names {
		for _, o := range h.tasks[name].old {
			if o.how == "" {
				texts = append(texts, fmt.Sprintf("%s of %s", words.HolderText(o.permit), name))
			}
		}
	}
	return texts
}

// held returns the permits that are known to keep their slots until an operator clears them.
func (h *handovers) held() (permits []*gatekeeperv1.Permit) {
	for _, name := range h.names {
		permits = append(permits, h.tasks[name].held...)
	}
	return permits
}

// heldError returns an error if tasks of the move have slots that only an operator can free.
func (h *handovers) heldError() error {
	held := h.held()
	if len(held) == 0 {
		return nil
	}
	tokens := words.Map(held, func(p *gatekeeperv1.Permit) string { return words.Number(p.GetToken()) })
	return ui.WithHint(fmt.Errorf("%s for an operator in %s: the new group cannot get these slots", words.Plural(len(held), "slot is held", "slots are held"),
		words.SomeNames(words.Map(held, (*gatekeeperv1.Permit).GetSemaphore))),
		"Once you know that the jobs have stopped, run: gkctl clear %s", strings.Join(tokens, " "))
}

func (t *handover) find(token uint64) *oldHolder {
	for _, o := range t.old {
		if o.permit.GetToken() == token {
			return o
		}
	}
	return nil
}

// howStopped returns how the holder of a permit stopped according to an event, or an empty string if it did not stop. A
// cooling permit no longer has a holder.
func howStopped(e *gatekeeperv1.Event) string {
	if e.GetKind() == gatekeeperv1.EventKind_EVENT_KIND_HELD {
		return howHeld
	}
	switch e.GetEnded() {
	case gatekeeperv1.PermitEnd_PERMIT_END_UNSPECIFIED:
		return ""
	case gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED:
		return howExpired
	case gatekeeperv1.PermitEnd_PERMIT_END_FREED_UNSAFELY:
		return howFreed
	case gatekeeperv1.PermitEnd_PERMIT_END_SUPERSEDED: // the same holder now holds the permit under a different token
		return howGone
	}
	return howReleased
}
