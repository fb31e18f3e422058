package preview

import (
	"testing"
)

// A digest covers the name, version and text of each target. Changing any of them, or the number of targets, must
// change the digest.
func TestDigest_NameVersionOrTextChanges_Differs(t *testing.T) {
	t.Parallel()
	edit := func(name string, version uint64, group string) Target { return Target{name, version, group} }
	digestOf := func(revision uint64, targets ...Target) Digest { return DigestOf(revision, targets) }
	shown := digestOf(7, edit("a", 1, "dr"), edit("b", 2, "dr"))
	for what, other := range map[string]Digest{
		"another name":    digestOf(7, edit("a", 1, "dr"), edit("c", 2, "dr")),
		"another version": digestOf(7, edit("a", 1, "dr"), edit("b", 3, "dr")),
		"another target":  digestOf(7, edit("a", 1, "dr"), edit("b", 2, "dev")),
		"another split":   digestOf(7, edit("a", 1, "d"), edit("rb", 2, "dr")),
		"one fewer":       digestOf(7, edit("a", 1, "dr")),
		"one more":        digestOf(7, edit("a", 1, "dr"), edit("b", 2, "dr"), edit("c", 2, "dr")),
	} {
		if shown.Same(other) {
			t.Errorf("%s: got the same digest, want a different one", what)
		}
	}
	if !shown.Same(digestOf(9, edit("a", 1, "dr"), edit("b", 2, "dr"))) {
		t.Error("the same edits at a later revision: got a different digest, want the same")
	}
	if parsed, ok := ParseDigest(shown.String()); !ok || parsed != shown {
		t.Errorf("ParseDigest(%s) = %v, %v, want %v, true", shown, parsed, ok, shown)
	}
	for _, s := range []string{"", "7", "-", "x-" + shown.sum, "7-" + shown.sum[1:]} {
		if d, ok := ParseDigest(s); ok {
			t.Errorf("ParseDigest(%q) = %v, want false", s, d)
		}
	}
}
