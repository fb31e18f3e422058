package lookup

import "testing"

func TestNearestGlob_MistypedBeginning_IsPutRight(t *testing.T) {
	t.Parallel()
	known := []string{"nightly-export", "nightly-report", "pool/eks"}
	for glob, want := range map[string]string{
		"nihgtly-*":   "nightly-*",
		"pol/*":       "pool/*",
		"pooll/[ab]*": "pool/[ab]*",
		"pool/*":      "", // there are such names: what follows is what matches none
		"*-exprot":    "",
		"zzz*":        "",
		"nihgtly-e?*": "nightly-e?*",
	} {
		if got := nearestGlob(glob, known); got != want {
			t.Errorf("%q: %q, want %q", glob, got, want)
		}
	}
}
