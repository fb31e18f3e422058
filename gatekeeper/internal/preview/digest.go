package preview

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Digest identifies what a change would do at a revision. Changes with the same targets have the same digest, except
// for the revision.
type Digest struct {
	Revision uint64
	sum      string
}

// Target identifies a definition that a change affects, its version, and the text that the change adds or removes.
type Target struct {
	Name    string
	Version uint64
	Text    string
}

// DigestOf returns the digest of targets, which must be ordered by name.
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

// editTargets returns the targets of edits to group patterns.
func editTargets(edits []fsm.Change) (targets []Target) {
	for i := range edits {
		targets = append(targets, Target{edits[i].Name, edits[i].ExpectedVersion, edits[i].Definition.GroupPattern})
	}
	return targets
}

// PauseTargets returns the targets of pausing or resuming these definitions: their current pauses.
func PauseTargets(state *fsm.State, names []string) (targets []Target) {
	for i, e := range expected(state, names) {
		t := Target{Name: names[i], Version: e.Version}
		if e.Pause != 0 {
			t.Text = strconv.FormatUint(e.Pause, 10)
		}
		targets = append(targets, t)
	}
	return targets
}

// expected returns the versions and pauses of these definitions in this state, for a command's Expected field.
func expected(state *fsm.State, names []string) []fsm.Expected {
	all := make([]fsm.Expected, len(names))
	for i, name := range names {
		if sd := state.Definition(name); sd != nil {
			all[i] = sd.AsExpected()
		}
	}
	return all
}

// String returns the digest in the form sent to clients.
func (d Digest) String() string { return strconv.FormatUint(d.Revision, 10) + "-" + d.sum }

// ParseDigest parses the result of String.
func ParseDigest(s string) (Digest, bool) {
	revision, sum, found := strings.Cut(s, "-")
	n, err := strconv.ParseUint(revision, 10, 64)
	return Digest{n, sum}, found && err == nil && len(sum) == 32
}

// Same reports whether both digests identify the same targets.
func (d Digest) Same(other Digest) bool { return d.sum == other.sum }

// maxChangedSince limits the result of ChangedSince.
const maxChangedSince = 100

// Changed is a definition that was edited, paused or resumed, and the author of the last such change.
type Changed struct{ Semaphore, Author string }

// ChangedSince returns the definitions that were edited, paused or resumed after a revision, most recent first, as far
// back as the journal goes.
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

// ChangedError is returned for a change that would no longer have the effect its caller was shown. Nothing was changed.
type ChangedError struct{ Changed []Changed }

// Names returns the names of the definitions that have changed since the dry run.
func (e *ChangedError) Names() (names []string) {
	for _, c := range e.Changed {
		names = append(names, c.Semaphore)
	}
	return names
}

func (e *ChangedError) Error() string {
	const limit = 10
	var items []string
	for _, c := range e.Changed[:min(len(e.Changed), limit)] {
		items = append(items, c.Semaphore+" by "+c.Author)
	}
	if more := len(e.Changed) - limit; more > 0 {
		items = append(items, fmt.Sprintf("%d more", more))
	}
	if len(items) == 0 {
		return "nothing was changed: the change would no longer have the effect shown by the dry run"
	}
	return "nothing was changed, because these definitions were edited since the dry run: " + strings.Join(items, ", ")
}

// checkShown returns a *ChangedError if a change's targets differ from the ones its caller was shown. shown is nil if
// the caller accepts any targets.
func checkShown(state *fsm.State, shown *Digest, targets []Target) error {
	if shown == nil || shown.Same(DigestOf(0, targets)) {
		return nil
	}
	return &ChangedError{ChangedSince(state, shown.Revision)}
}

// ExpectedPauses returns the Expected field for a command that pauses or resumes these definitions, or nil if the
// caller accepts any state. It returns a *ChangedError if the targets differ from the ones the caller was shown.
func ExpectedPauses(state *fsm.State, shown *Digest, names []string) ([]fsm.Expected, error) {
	if shown == nil {
		return nil, nil
	}
	return expected(state, names), checkShown(state, shown, PauseTargets(state, names))
}
