package consensus

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// These tests explore every order in which three members can query, answer, decide, crash and lose their data
// directories. A member keeps the answers it has received until its process exits, so that late answers are covered.

const memberCount = 3

func testMemberID(i int) string { return fmt.Sprintf("gk%d", i+1) }

// dirState encodes a member's progress in one byte: unknown, empty, or a held or founded seed. Seeds are numbered in
// the order they are drawn.
type dirState uint8

const (
	notReceived dirState = iota
	empty
	heldSeed        // plus 2 for each later seed
	foundedSeed     // plus 2 for each later seed
	seedBits    = 1 // shift of the seed number
)

func (f dirState) founded() bool { return f >= foundedSeed && (f-foundedSeed)%2 == 0 }
func (f dirState) seed() uint64 {
	if f < heldSeed {
		return 0
	}
	return uint64(f-heldSeed)/2 + 1
}

func dirStateOf(s progress) dirState {
	switch n := dirState(s.id.Seed-1) << seedBits; s.state {
	case peer.HoldsID:
		return heldSeed + n
	case peer.Founded:
		return foundedSeed + n
	default:
		return empty
	}
}

func (f dirState) toProgress() progress {
	switch {
	case f <= empty:
		return progress{state: peer.Empty}
	case f.founded():
		return progress{peer.Founded, ClusterID{f.seed(), 1}}
	default:
		return progress{peer.HoldsID, ClusterID{f.seed(), 1}}
	}
}

// setState is the state of a set of starting members.
type setState struct {
	own         [memberCount]dirState
	received    [memberCount][memberCount]dirState // answers received by the running processes
	drawn       uint8                              // number of seeds drawn
	wiped       uint8                              // number of directories lost
	lost        [memberCount]uint8                 // bit set of the seeds that a member founded before losing its directory
	everFounded uint8                              // bit set of the seeds that were founded
}

func (s setState) String() string {
	var b strings.Builder
	for i, own := range s.own {
		fmt.Fprintf(&b, "%s %s %d; ", testMemberID(i), own.toProgress().state, own.seed())
	}
	return b.String()
}

// next calls each with every possible next state. It returns an error if a step breaks a rule.
func (s setState) next(wipes, draws uint8, each func(setState)) error {
	for i, own := range s.own {
		to := s
		to.received[i] = [memberCount]dirState{}
		each(to) // crash
		if s.wiped < wipes {
			to.wiped++
			if own.founded() {
				to.lost[i] |= 1 << own.seed()
			}
			to.own[i] = empty
			each(to) // loss of its directory
		}
		if own.founded() {
			continue
		}
		for j, other := range s.own {
			if i != j {
				to := s
				to.received[i][j] = other
				each(to)
			}
		}
		to, err := s.step(i, draws)
		if err != nil {
			return err
		}
		each(to)
	}
	return nil
}

// step makes member i decide, based on the answers it has received.
func (s setState) step(i int, draws uint8) (setState, error) {
	received := make(map[string]progress)
	var others []string
	for j := range s.own {
		if j == i {
			continue
		}
		others = append(others, testMemberID(j))
		if h := s.received[i][j]; h != notReceived {
			received[testMemberID(j)] = h.toProgress()
		}
	}
	own := s.own[i].toProgress()
	next, _, err := decide(testMemberID(i), testMemberID(0), own, received, others)
	if err != nil {
		return s, nil // it refuses to start and writes nothing
	}
	if next == mustGenerateID {
		if s.drawn == draws {
			return s, nil
		}
		s.drawn++
		next.id = ClusterID{uint64(s.drawn), 1}
	}
	if own.state == peer.HoldsID && next.id != own.id {
		return s, fmt.Errorf("%s replaced its seed", testMemberID(i))
	}
	s.own[i] = dirStateOf(next)
	if next.state != peer.Founded {
		return s, nil
	}
	bit := uint8(1) << next.id.Seed
	s.everFounded |= bit
	if s.lost[i]&bit != 0 {
		return s, fmt.Errorf("%s founded a cluster again after losing its data", testMemberID(i))
	}
	for j, other := range s.own {
		if other.seed() != next.id.Seed && s.everFounded&(1<<other.seed()) != 0 {
			return s, fmt.Errorf("%s founded a cluster while %s had the seed of another founded cluster", testMemberID(i), testMemberID(j))
		}
	}
	return s, nil
}

// explore visits all reachable states, and returns a predecessor of each.
func explore(t *testing.T, wipes, draws uint8) map[setState]setState {
	t.Helper()
	start := setState{own: [memberCount]dirState{empty, empty, empty}}
	predecessors := map[setState]setState{start: start}
	for queue := []setState{start}; len(queue) > 0; queue = queue[1:] {
		err := queue[0].next(wipes, draws, func(to setState) {
			if _, known := predecessors[to]; !known {
				predecessors[to] = queue[0]
				queue = append(queue, to)
			}
		})
		if err != nil {
			for s := queue[0]; s != start; s = predecessors[s] {
				t.Log(s)
			}
			t.Fatal(err)
		}
	}
	return predecessors
}

// A cluster may be founded only if no directory has the seed of another founded cluster, and never by a member that
// already founded it and then lost its directory.
func TestDecide_AnyOrderWithLostDataDirs_FoundsOneCluster(t *testing.T) {
	refounded := 0
	states := explore(t, 3, 2)
	for s := range states {
		if s.everFounded == 1<<1|1<<2 {
			refounded++
		}
	}
	t.Logf("%d states; in %d of them a second cluster was founded after all members had lost the first", len(states), refounded)
	if refounded == 0 {
		t.Error("no second cluster was founded, so the rule was not tested")
	}
}

// However often members crash, the cluster is founded once all of them stay up long enough. Starting from every state,
// the members query and decide in turn.
func TestDecide_CrashesInAnyOrder_FoundsCluster(t *testing.T) {
	for s := range explore(t, 0, 1) {
		to := s
		for range 4 { // the id is drawn, the others store it, the first member founds the cluster, the others follow
			for i := range to.own {
				for j := range to.own {
					if i != j {
						to.received[i][j] = to.own[j]
					}
				}
				if to.own[i].founded() {
					continue
				}
				var err error
				if to, err = to.step(i, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range to.own {
			if !to.own[i].founded() || to.own[i] != to.own[0] {
				t.Fatalf("from state %v the members reached %v, want all founded with the same id", s, to)
			}
		}
	}
}

func TestDecide_Waiting_MessageNamesMember(t *testing.T) {
	empty := empty.toProgress()
	holds := func(seed uint64) progress { return progress{peer.HoldsID, ClusterID{seed, 1}} }
	founded := func(seed uint64) progress { return progress{peer.Founded, ClusterID{seed, 1}} }
	for name, test := range map[string]struct {
		self     string
		own      progress
		received map[string]progress
		member   string // the member that self waits for; empty if self refuses to start
		want     []string
	}{
		"first member, another member has not stored the id": {"gk1", holds(1), map[string]progress{"gk2": empty, "gk3": holds(1)}, "gk2", []string{"has not stored"}},
		"wiped first member": {"gk1", empty, map[string]progress{"gk2": holds(1), "gk3": empty}, "gk2",
			[]string{"that gk1 does not recognize", "no permits were granted", "stop gk2, empty its data directory"}},
		"wiped first member, another member down": {"gk1", empty, map[string]progress{"gk2": holds(1)}, "gk2", []string{"that gk1 does not recognize"}},
		"other member, first member lost the id": {"gk2", holds(1), map[string]progress{"gk1": empty, "gk3": empty}, "gk1",
			[]string{"does not recognize the cluster id held by gk2", "stop gk2, empty its data directory"}},
		"other member, first member drew a second id": {"gk2", holds(1), map[string]progress{"gk1": holds(2), "gk3": empty}, "gk1", []string{"stop gk2, empty"}},
		"wiped first member of a founded cluster": {"gk1", empty, map[string]progress{"gk2": founded(0)}, "",
			[]string{"gk2 has data", "directory of gk1 is empty", "gkctl cluster remove gk1", "--join", "stop all of gk1, gk2, gk3, empty their data directories"}},
		"other wiped member of a founded cluster": {"gk3", empty, map[string]progress{"gk1": holds(1), "gk2": founded(0)}, "", []string{"gk2 has data"}},
		"id of another cluster":                   {"gk3", holds(1), map[string]progress{"gk2": founded(2)}, "", []string{"holds the id of a different cluster"}},
		"old copy of the first member":            {"gk1", holds(1), map[string]progress{"gk2": founded(1)}, "", []string{"is an old copy"}},
	} {
		var others []string
		for _, id := range []string{"gk1", "gk2", "gk3"} {
			if id != test.self {
				others = append(others, id)
			}
		}
		next, waitsFor, err := decide(test.self, "gk1", test.own, maps.Clone(test.received), others)
		msg := waitsFor[test.member]
		if test.member == "" && err != nil {
			msg = err.Error()
		}
		if next != test.own || (err != nil) != (test.member == "") {
			t.Errorf("%s: decide() = %v, error %v", name, next, err)
		}
		for _, want := range test.want {
			if !strings.Contains(msg, want) {
				t.Errorf("%s: got message %q, want it to contain %q", name, msg, want)
			}
		}
		if name == "wiped first member, another member down" && strings.Contains(msg, "no permits were granted") {
			t.Errorf("%s: message %q claims that no permits were granted, but the member that is down may have data", name, msg)
		}
	}
}
