package move

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// newTestHandovers returns the handovers for a move of task a, which is held with token 1, and task b, which has no
// holder. The move is planned at revision 10 and made at revision 20.
func newTestHandovers(t *testing.T, drain time.Duration) (h *handovers, at func(time.Duration) time.Time) {
	t.Helper()
	h = newHandovers(&gatekeeperv1.MoveResponse{
		Moves:    []*gatekeeperv1.Moved{{Semaphore: "a", GroupPattern: "dr"}, {Semaphore: "b", GroupPattern: "dr"}},
		Effects:  []*gatekeeperv1.Effect{{Semaphore: "a", Stopped: []*gatekeeperv1.Stopped{{Permit: permitIn("a", "prod", 1, 5)}}}},
		Revision: 10,
	}, "prod", drain)
	start := time.Unix(0, 0)
	h.begin(20, start)
	return h, start.Add
}

func permitIn(name, group string, token, granted uint64) *gatekeeperv1.Permit {
	return &gatekeeperv1.Permit{
		Semaphore: name, Token: token, GrantedRevision: granted, State: gatekeeperv1.PermitState_PERMIT_STATE_LIVE,
		Identity: &gatekeeperv1.Identity{Group: group, Acquirer: "app1"},
	}
}

func permitEvent(revision uint64, kind gatekeeperv1.EventKind, p *gatekeeperv1.Permit) *gatekeeperv1.Event {
	ended := map[gatekeeperv1.EventKind]gatekeeperv1.PermitEnd{
		gatekeeperv1.EventKind_EVENT_KIND_RELEASED: gatekeeperv1.PermitEnd_PERMIT_END_RELEASED,
		gatekeeperv1.EventKind_EVENT_KIND_EXPIRED:  gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED,
		gatekeeperv1.EventKind_EVENT_KIND_HELD:     gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED,
	}[kind]
	return &gatekeeperv1.Event{Revision: revision, Kind: kind, Semaphore: p.GetSemaphore(), Permit: p, Ended: ended}
}

func TestHandovers_ReleaseThenGrant_ReportsBothTimes(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	h.seen = 20
	if h.done() || h.left != 1 {
		t.Fatalf("done() = %v with %d left, want false with 1 left", h.done(), h.left)
	}
	line := h.event(permitEvent(21, gatekeeperv1.EventKind_EVENT_KIND_RELEASED, permitIn("a", "prod", 1, 5)), at(30*time.Millisecond))
	if line != "a released by app1 in prod (token 1) after 30ms" || !h.done() {
		t.Errorf("event() for the release = %q with done() = %v, want the release of token 1 and true", line, h.done())
	}
	line = h.event(permitEvent(22, gatekeeperv1.EventKind_EVENT_KIND_GRANTED, permitIn("a", "dr", 2, 22)), at(40*time.Millisecond))
	if line != "a granted to app1 in dr (token 2) after 40ms" {
		t.Errorf("event() for the grant = %q, want the grant of token 2", line)
	}
	old := h.tasks["a"].old[0]
	if old.overran || len(h.tasks["a"].started) != 1 {
		t.Errorf("old holder %+v with %d new holders, want one new holder and no overrun", old, len(h.tasks["a"].started))
	}
}

func TestHandovers_GrantedBetweenPlanAndMove_IsAnOldHolder(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	h.event(permitEvent(12, gatekeeperv1.EventKind_EVENT_KIND_GRANTED, permitIn("b", "prod", 7, 12)), at(0))
	h.event(permitEvent(13, gatekeeperv1.EventKind_EVENT_KIND_GRANTED, permitIn("b", "other", 8, 13)), at(0)) // not in the old group
	if h.left != 2 {
		t.Errorf("got %d old holders left, want 2", h.left)
	}
}

func TestHandovers_EndedBetweenPlanAndMove_IsNotCounted(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	if line := h.event(permitEvent(12, gatekeeperv1.EventKind_EVENT_KIND_RELEASED, permitIn("a", "prod", 1, 5)), at(0)); line != "" {
		t.Errorf("event() = %q, want no line", line)
	}
	if h.left != 0 || len(h.tasks["a"].old) != 0 || h.done() {
		t.Errorf("%d left, %d old, done() = %v; want 0, 0, false until the events up to the move have arrived", h.left, len(h.tasks["a"].old), h.done())
	}
}

func TestHandovers_HolderStopsAfterDrain_IsReportedAsOverrun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hasDrain, drainEnded bool
		end                  gatekeeperv1.EventKind
		overran              bool
	}{
		"released in time":           {true, false, gatekeeperv1.EventKind_EVENT_KIND_RELEASED, false},
		"released late":              {true, true, gatekeeperv1.EventKind_EVENT_KIND_RELEASED, true},
		"expired late":               {true, true, gatekeeperv1.EventKind_EVENT_KIND_EXPIRED, true},
		"expired within the drain":   {true, false, gatekeeperv1.EventKind_EVENT_KIND_EXPIRED, false}, // not refreshed because the holder died
		"released without a drain":   {false, false, gatekeeperv1.EventKind_EVENT_KIND_RELEASED, false},
		"expired without a drain":    {false, false, gatekeeperv1.EventKind_EVENT_KIND_EXPIRED, true},
		"held for an operator, late": {true, true, gatekeeperv1.EventKind_EVENT_KIND_HELD, true},
	} {
		drain := time.Duration(0)
		if c.hasDrain {
			drain = time.Second
		}
		h, at := newTestHandovers(t, drain)
		// An earlier change's drain ends.
		h.event(&gatekeeperv1.Event{Revision: 22, Kind: gatekeeperv1.EventKind_EVENT_KIND_DRAINED, Semaphore: "a", Change: 15}, at(drain/2+time.Millisecond))
		if c.drainEnded {
			h.event(&gatekeeperv1.Event{Revision: 25, Kind: gatekeeperv1.EventKind_EVENT_KIND_DRAINED, Semaphore: "a", Change: h.change}, at(time.Second))
		}
		h.event(permitEvent(26, c.end, permitIn("a", "prod", 1, 5)), at(2*time.Second))
		if got := h.tasks["a"].old[0]; got.overran != c.overran || h.left != 0 {
			t.Errorf("%s: overran = %v with %d left, want %v with 0", name, got.overran, h.left, c.overran)
		}
	}
}

func TestHandovers_CoolingSlot_HasNoHolder(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, 0)
	e := permitEvent(21, gatekeeperv1.EventKind_EVENT_KIND_COOLING, permitIn("a", "prod", 1, 5))
	e.Ended = gatekeeperv1.PermitEnd_PERMIT_END_EXPIRED
	h.event(e, at(time.Second))
	if old := h.tasks["a"].old[0]; old.how != howExpired || h.left != 0 {
		t.Errorf("old holder %+v with %d left, want it expired and 0 left", old, h.left)
	}
}

func TestHandovers_EditedAgain_IsNoLongerFollowed(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	h.seen = 30
	line := h.event(&gatekeeperv1.Event{
		Revision: 30, Kind: gatekeeperv1.EventKind_EVENT_KIND_REPLACED, Semaphore: "a", Author: "bob",
		Definition: &gatekeeperv1.DefinitionRecord{Definition: &gatekeeperv1.Definition{Name: "a", GroupPattern: proto.String("prod")}},
	}, at(time.Second))
	if !strings.Contains(line, "edited again by bob") || !h.done() {
		t.Errorf("event() = %q, done() = %v; want the new edit, true", line, h.done())
	}
}

func TestHandovers_MissedEvents_ResyncsFromCurrentHolders(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	h.event(permitEvent(12, gatekeeperv1.EventKind_EVENT_KIND_GRANTED, permitIn("b", "prod", 7, 12)), at(0))
	h.resync([]*gatekeeperv1.Permit{
		permitIn("b", "prod", 7, 12), permitIn("a", "dr", 9, 31), permitIn("elsewhere", "prod", 3, 4),
	}, 40, at(time.Second))
	a, b := h.tasks["a"], h.tasks["b"]
	if a.old[0].how != howGone || b.old[0].how != "" || len(a.started) != 1 || h.left != 1 {
		t.Errorf("after resync(): old holder of a %+v, want it gone; %d new holders, want 1; old holder of b %+v, want it live; %d left, want 1", a.old[0], len(a.started), b.old[0], h.left)
	}
	if h.seen != 40 || h.done() {
		t.Errorf("seen = %d, done() = %v, want 40, false", h.seen, h.done())
	}
}

func TestBoard_RedrawsLines_OnlyOnTerminal(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	var live, plain strings.Builder
	b := &board{out: &live, live: true}
	b.printLine(h, "x")
	b.printLine(h, "y")
	b.clear()
	if got := live.String(); strings.Count(got, "\x1b[2A\x1b[J") != 2 || strings.Contains(got, "x") {
		t.Errorf("board with a terminal wrote %q, want its two lines erased twice", got)
	}
	p := &board{out: &plain}
	p.printLine(h, "token 1 released\x1b[2J")
	p.show(h)
	p.clear()
	if plain.String() != "token 1 released [2J\n" {
		t.Errorf("board without a terminal wrote %q, want one line without control characters", plain.String())
	}
	if lines := renderBoard(h, at(3*time.Second)); len(lines) != 2 || lines[1] != "  a  app1 in prod (token 1)  must stop, 3s ago" {
		t.Errorf("renderBoard() = %q, want a line for the old holder of a", lines)
	}
}

func TestHandovers_SupersededPermit_HasNoHolder(t *testing.T) {
	t.Parallel()
	h, at := newTestHandovers(t, time.Second)
	e := permitEvent(21, gatekeeperv1.EventKind_EVENT_KIND_SUPERSEDED, permitIn("a", "prod", 1, 5))
	e.Ended = gatekeeperv1.PermitEnd_PERMIT_END_SUPERSEDED
	h.event(e, at(time.Second))
	if old := h.tasks["a"].old[0]; old.how != howGone || h.left != 0 {
		t.Errorf("old holder %+v with %d left, want it gone and 0 left", old, h.left)
	}
}
