package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestNearestGlob_MistypedPrefix_IsCorrected(t *testing.T) {
	t.Parallel()
	known := []string{"nightly-export", "nightly-report", "pool/eks", "nächtlich"}
	for glob, want := range map[string]string{
		"nihgtly-*":   "nightly-*",
		"pol/*":       "pool/*",
		"pooll/[ab]*": "pool/[ab]*",
		"pool/*":      "", // the prefix exists, so there is nothing to suggest
		"*-exprot":    "",
		"zzz*":        "",
		"nihgtly-e?*": "nightly-e?*",
		"nä*":         "",
	} {
		if got := nearestGlob(glob, slices.Values(known)); got != want {
			t.Errorf("nearestGlob(%q) = %q, want %q", glob, got, want)
		}
	}
}

// A suggestion must match a definition, and must never invert a requirement.
func TestNames_NoSuchLabels_SuggestsExistingLabels(t *testing.T) {
	c := statetest.New(t)
	define := func(name string, labels map[string]string) {
		c.Define(name, func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(labels) })
	}
	define("a", map[string]string{"tier": "test", "environment": "production"})
	define("b", map[string]string{"team": "data", "environment": "production", "tier": "test", "cron": "0,30 2 * * *"})
	define("c", map[string]string{"team": "web", "environment": "production", "tier": "test", "owner": "x"})
	for labels, suggestion := range map[string]string{
		"tier!=test":                                     "",
		"environment notin (production)":                 "",
		"environment in (production,staging),team=dtaa":  "environment in (production,staging),team=data",
		"environment in (production, staging),tier=gold": "",
		"tier==test,team=data,owner=x":                   "",
		"tier==tets , team=data":                         "tier=test,team=data",
		"tier in (tets),!owner":                          "tier=test,!owner",
		"team=dtaa,owner=x":                              "", // no definition with team=data has an owner
		`cron="0,30 3 * * *"`:                            `cron="0,30 2 * * *"`,
		"tire":                                           "",
	} {
		s, err := Parse("", nil, labels)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Names(c.State())
		e, ok := errors.AsType[*NoMatchError](err)
		if !ok || e.Suggestion != suggestion {
			t.Errorf("labels %s: got %v, want the suggestion %q", labels, err, suggestion)
			continue
		}
		if s, err = Parse("", nil, suggestion); err == nil && suggestion != "" {
			_, err = s.Names(c.State())
		}
		if err != nil {
			t.Errorf("labels %s: suggestion %q matches nothing: %v", labels, suggestion, err)
		}
	}
}

// Each search scans all definitions, so only the first few requirements and globs get suggestions.
func TestNames_NoMatch_LimitsSuggestionSearch(t *testing.T) {
	c := statetest.New(t)
	c.Define("nightly", func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(map[string]string{"team": "data"}) })
	for _, before := range []int{maxQuoted - 1, maxQuoted} {
		globs := append(slices.Repeat([]string{"zzz*"}, before), "nihgt*")
		labels := strings.Repeat("team=data,", before) + "team=dtaa"
		for _, test := range []struct {
			globs  []string
			labels string
		}{{globs: globs}, {labels: labels}} {
			s, err := Parse("", test.globs, test.labels)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Names(c.State())
			if e, ok := errors.AsType[*NoMatchError](err); !ok || (e.Suggestion != "") != (before < maxQuoted) {
				t.Errorf("Names() with a mistyped entry after %d others = %v, want a suggestion: %v", before, err, before < maxQuoted)
			}
		}
	}
}

func TestNames_NoMatch_SuggestsSimilarName(t *testing.T) {
	c := statetest.New(t)
	c.Define("nightly-export", func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(map[string]string{"team": "data"}) })
	c.Define("pool", func(*semaphore.Definition) {})
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("zzz%d*", i))
	}
	for _, test := range []struct {
		names            string
		labels           string
		text, suggestion string
		noDefinition     bool
	}{
		{names: "nightly-exprot", text: `there is no definition "nightly-exprot"; did you mean "nightly-export"?`, suggestion: "nightly-export", noDefinition: true},
		{names: "pool zzz", text: `there is no definition "zzz"`, noDefinition: true},
		{names: "nihgtly-*", text: `no definitions match "nihgtly-*"; did you mean "nightly-*"?`, suggestion: "nightly-*"},
		{names: "zzz* pol*", text: `no definitions match "zzz*" or "pol*"; did you mean "poo*"?`, suggestion: "poo*"},
		{labels: "team=dtaa", text: `no definitions have the labels "team=dtaa"; did you mean "team=data"?`, suggestion: "team=data"},
		{labels: "tier=gold", text: `no definitions have the labels "tier=gold"`},
		{names: "pool", labels: "team=data", text: `no definitions match "pool" and have the labels "team=data"`},
		{names: strings.Join(many, " "), text: `no definitions match "` + strings.Join(many[:10], `" or "`) + `" or 2 more`},
	} {
		s, err := Parse("", strings.Fields(test.names), test.labels)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Names(c.State())
		suggestion, kind := "", false
		if e, ok := errors.AsType[*NoDefinitionError](err); ok {
			suggestion, kind = e.Suggestion, true
		} else if e, ok := errors.AsType[*NoMatchError](err); ok {
			suggestion = e.Suggestion
		}
		if err == nil || err.Error() != test.text || suggestion != test.suggestion || kind != test.noDefinition {
			t.Errorf("%s -l %s: got %v (%q), want %s (%q)", test.names, test.labels, err, suggestion, test.text, test.suggestion)
		}
	}

	all := new(Selector)
	if names, err := all.Names(c.State()); err != nil || len(names) != 2 {
		t.Errorf("Names() with an empty selector = %q, %v, want both names", names, err)
	}
	if _, err := all.Names(statetest.New(t).State()); err == nil || err.Error() != "there are no definitions" {
		t.Errorf("Names() with an empty selector and an empty state = %v, want an error", err)
	}
}

// Names limits a change to maxChosen definitions. CheckMatch, which listings use, has no limit.
func TestCheckMatch_MoreThanMaxChosen_Succeeds(t *testing.T) {
	c := statetest.New(t)
	var edits fsm.EditBatch
	for i := range maxChosen + 1 {
		edits.Changes = append(edits.Changes, c.Change(fmt.Sprint(i), nil))
	}
	c.Do(edits)
	for names, text := range map[string]string{
		"":     "",
		"1*":   "",
		"7":    "",
		"7 x":  `there is no definition "x"`,
		"zz*":  `no definitions match "zz*"`,
		"[ab]": `no definitions match "[ab]"`,
	} {
		s, err := Parse("", strings.Fields(names), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CheckMatch(c.State()); err != nil && err.Error() != text || err == nil && text != "" {
			t.Errorf("CheckMatch() for %q = %v, want %s", names, err, text)
		}
	}
	if _, err := new(Selector).Names(c.State()); err == nil {
		t.Error("Names() succeeded with more than maxChosen definitions, want an error")
	}
}
