package preview

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Digest stands for what a change would do at a revision. Changes of the same targets have the same digest, but for the revision.
type Digest struct {
	Revision uint64
	sum      string
}

// Target is one definition that a change is about: its version, and what is put there or taken away.
type Target struct {
	Name    string
	Version uint64
	Text    string
}

// DigestOf returns the digest of targets, which are in the order of their names.
func DigestOf(revision uint64, targets []Target) Digest {
	h := sha256.New()
	for _, t := range targets {
		b := binary.AppendUvarint(nil, t.Version)
		for _, s := range []string{t.Name, t.Text} {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
		h.Write(b)
	}
	return Digest{revision, hex.EncodeToString(h.Sum(nil)[:16])}
}

// EditTargets are the targets of edits that replace group patterns.
func EditTargets(edits []fsm.Change) (targets []Target) {
	for i := range edits {
		targets = append(targets, Target{edits[i].Name, edits[i].ExpectedVersion, edits[i].Definition.GroupPattern})
	}
	return targets
}

// PauseTargets are the targets of a pause or a resume of these definitions: their pauses as they are.
func PauseTargets(state *fsm.State, names []string) (targets []Target) {
	for _, name := range names {
		t := Target{Name: name}
		if sd := state.Definition(name); sd != nil {
			if t.Version = sd.Version; sd.Pause != nil {
				t.Text = strconv.FormatUint(sd.Pause.Revision, 10)
			}
		}
		targets = append(targets, t)
	}
	return targets
}

// String is the digest as clients have it.
func (d Digest) String() string { return strconv.FormatUint(d.Revision, 10) + "-" + d.sum }

// ParseDigest reads what String wrote.
func ParseDigest(s string) (Digest, bool) {
	revision, sum, found := strings.Cut(s, "-")
	n, err := strconv.ParseUint(revision, 10, 64)
	return Digest{n, sum}, found && err == nil && len(sum) == 32
}

// Same reports whether both stand for the same targets.
func (d Digest) Same(other Digest) bool { return d.sum == other.sum }

// maxChangedSince bounds the names of ChangedSince.
const maxChangedSince = 100

// Changed is a definition that was edited, and who did it last.
type Changed struct{ Semaphore, Author string }

// ChangedSince returns the definitions that were edited, paused or resumed after a revision, the last one first, as far as the journal tells.
func ChangedSince(state *fsm.State, revision uint64) (changed []Changed) {
	seen := make(map[string]bool)
	for entry := range state.JournalBackward("", 0) {
		if entry.Revision <= revision || len(changed) == maxChangedSince {
			break
		}
		edited := entry.Before != nil || entry.After != nil || entry.Kind == fsm.PausedEvent || entry.Kind == fsm.ResumedEvent
		if edited && !seen[entry.Semaphore] {
			seen[entry.Semaphore] = true
			changed = append(changed, Changed{entry.Semaphore, entry.Author})
		}
	}
	return changed
}
