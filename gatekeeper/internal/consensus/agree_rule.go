package consensus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// progress is a member's progress in starting a new set, as recorded in its data directory.
type progress struct {
	state peer.State
	id    ClusterID // the id that it holds or founded; zero if it reported none
}

// mustGenerateID is the next state of the first member when it must generate an id.
var mustGenerateID = progress{state: peer.HoldsID} //nolint:gochecknoglobals // a constant

// parseAnswer parses a member's answer.
func parseAnswer(n peer.Note) (progress, error) {
	s := progress{state: n.State}
	if n.Cluster != "" {
		var err error
		if s.id, err = ParseClusterID(n.Cluster); err != nil {
			return progress{}, err
		}
	}
	if n.State == peer.HoldsID && s.id.IsZero() || n.State == peer.Empty && !s.id.IsZero() {
		return progress{}, errors.New("its answer is inconsistent")
	}
	return s, nil
}

// decide is the rule by which a member of a new set advances. received holds the answers that this process has received
// from the other members, by member id. An answer may be outdated. decide returns the state that this member must store
// next. While the member must wait, next is the same as own, and waitsFor holds the reasons, by member id.
//
// Only the first member generates an id, and only when all others are empty. The others adopt the id that it holds. The
// first member founds the cluster when all others hold its id, and then the others found it too. A data directory never
// replaces the id that it holds.
func decide(self, first string, own progress, received map[string]progress, others []string) (next progress, waitsFor map[string]string, err error) {
	founded, matching := false, 0
	for _, id := range others {
		other, answered := received[id]
		switch {
		case !answered:
		// No member founds the cluster before the first member does.
		case other.state == peer.Founded && (own.state != peer.HoldsID || own.id != other.id || self == first):
			return own, nil, errMemberFounded(self, id, own, other, others)
		case other.state == peer.Founded:
			founded = true
		case other == own:
			matching++
		}
	}
	switch all := matching == len(others); {
	case founded:
		return progress{peer.Founded, own.id}, nil, nil
	case own.state == peer.Empty && self != first && received[first].state == peer.HoldsID:
		return received[first], nil, nil
	case own.state == peer.Empty && self == first && all:
		return mustGenerateID, nil, nil
	case own.state == peer.HoldsID && self == first && all:
		return progress{peer.Founded, own.id}, nil, nil
	}
	waitsFor = make(map[string]string)
	for _, id := range others {
		if other, answered := received[id]; answered && other != own {
			waitsFor[id] = waitReason(self, first, own, id, other, len(received) == len(others))
		}
	}
	return own, waitsFor, nil
}

// waitReason returns why a member's answer keeps this member waiting. all reports whether every member has answered.
func waitReason(self, first string, own progress, id string, other progress, all bool) string {
	stale := "" // the member whose data directory is left over from an earlier start
	switch {
	case own.state == peer.HoldsID && id == first:
		stale = self
	case other.state == peer.HoldsID && self == first:
		stale = id
	default:
		return "has not stored the cluster's id yet"
	}
	text := fmt.Sprintf("does not recognize the cluster id held by %s", stale)
	if stale == id {
		text = fmt.Sprintf("holds a cluster id that %s does not recognize", self)
	}
	if !all { // a member that is down may have founded that cluster, so its id must be preserved
		return text
	}
	return text + fmt.Sprintf(", from a start that was never completed; no permits were granted under it: stop %s, empty its data directory, and start it again", stale)
}

// errMemberFounded returns the error for a member that must not start because another member, id, already has data.
func errMemberFounded(self, id string, own, other progress, others []string) error {
	what := "is empty"
	switch {
	case own.state == peer.HoldsID && own.id == other.id:
		what = "is an old copy"
	case own.state == peer.HoldsID:
		what = "holds the id of a different cluster, which was never founded"
	}
	return fmt.Errorf("%w: %s has data, and the data directory of %s %s. If %s lost its data, it must not rejoin under its old id: remove it (gkctl cluster remove %s), "+
		"and start a server with a new id, an empty data directory, and --join. To start a new cluster without the old one's data, stop all of %s, empty their "+
		"data directories, and start them again", ErrMemberFounded, id, self, what, self, self, strings.Join(slices.Sorted(slices.Values(append(slices.Clone(others), self))), ", "))
}
