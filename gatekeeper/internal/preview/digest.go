package preview

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Digest stands for what edits would do at a revision: the names, the versions and what would be there. Equal digests are of equal
// edits, whatever their revisions.
type Digest struct {
	Revision uint64
	sum      string
}

// DigestOf returns the digest of edits, which are in the order of their names.
func DigestOf(revision uint64, edits []fsm.Change) (Digest, error) {
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{fsm.EditBatch{Changes: edits}})
	if err != nil {
		return Digest{}, err
	}
	h := sha256.New()
	h.Write(entry)
	for i := range edits {
		h.Write(binary.BigEndian.AppendUint64(nil, edits[i].ExpectedVersion))
	}
	return Digest{revision, hex.EncodeToString(h.Sum(nil)[:16])}, nil
}

// String is the digest as clients have it.
func (d Digest) String() string { return strconv.FormatUint(d.Revision, 10) + "-" + d.sum }

// ParseDigest reads what String wrote.
func ParseDigest(s string) (Digest, bool) {
	revision, sum, found := strings.Cut(s, "-")
	n, err := strconv.ParseUint(revision, 10, 64)
	return Digest{n, sum}, found && err == nil && len(sum) == 32
}

// Same reports whether both stand for the same edits.
func (d Digest) Same(other Digest) bool { return d.sum == other.sum }

// maxChangedSince bounds the names of ChangedSince.
const maxChangedSince = 100

// Changed is a definition that was edited, and who did it last.
type Changed struct{ Semaphore, Author string }

// ChangedSince returns the definitions that were edited after a revision, the last one first, as far as the journal tells.
func ChangedSince(state *fsm.State, revision uint64) (changed []Changed) {
	seen := make(map[string]bool)
	for entry := range state.JournalBackward("", 0) {
		if entry.Revision <= revision || len(changed) == maxChangedSince {
			break
		}
		if (entry.Before != nil || entry.After != nil) && !seen[entry.Semaphore] {
			seen[entry.Semaphore] = true
			changed = append(changed, Changed{entry.Semaphore, entry.Author})
		}
	}
	return changed
}
