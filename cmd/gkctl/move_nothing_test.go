package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestGroups_OfAPattern_AreThoseItNames(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"prod":          "prod",
		"prod|test":     "prod test",
		"(?:prod|test)": "prod test",
		"(prod|te.*)":   "prod",
		`dc1\.example`:  "dc1.example",
		"(?i)prod":      "",
		".*":            "",
		"":              "",
		"((":            "",
	} {
		groups := make(map[string]bool)
		addGroups(groups, pattern)
		if got := strings.Join(slices.Sorted(maps.Keys(groups)), " "); got != want {
			t.Errorf("%q names %q, want %q", pattern, got, want)
		}
	}
	for pattern, open := range map[string]bool{".*": true, ".+": true, "": false, "prod": false, "prod|.*": true, "[a-z]+": false, "((": false} {
		if admits(pattern, nobody) != open {
			t.Errorf("%q admits everybody: want %v", pattern, open)
		}
	}
}

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
