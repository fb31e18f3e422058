package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestNearestGlob_MistypedBeginning_IsPutRight(t *testing.T) {
	t.Parallel()
	known := []string{"nightly-export", "nightly-report", "pool/eks", "nächtlich"}
	for glob, want := range map[string]string{
		"nihgtly-*":   "nightly-*",
		"pol/*":       "pool/*",
		"pooll/[ab]*": "pool/[ab]*",
		"pool/*":      "", // there are such names: what follows is what matches none
		"*-exprot":    "",
		"zzz*":        "",
		"nihgtly-e?*": "nightly-e?*",
		"nä*":         "",
	} {
		if got := nearestGlob(glob, slices.Values(known)); got != want {
			t.Errorf("%q: %q, want %q", glob, got, want)
		}
	}
}

func TestNames_NothingChosen_SaysWhatWasMeant(t *testing.T) {
	c := statetest.New(t)
	c.Define("nightly-export", func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(map[string]string{"team": "data"}) })
	c.Define("pool", func(*semaphore.Definition) {})
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("zzz%d*", i))
	}
	for _, of := range []struct {
		names        string
		labels       string
		text, meant  string
		noDefinition bool
	}{
		{names: "nightly-exprot", text: `there is no definition "nightly-exprot"; did you mean "nightly-export"?`, meant: "nightly-export", noDefinition: true},
		{names: "pool zzz", text: `there is no definition "zzz"`, noDefinition: true},
		{names: "nihgtly-*", text: `no definition matches "nihgtly-*"; did you mean "nightly-*"?`, meant: "nightly-*"},
		{names: "zzz* pol*", text: `no definition matches "zzz*" or "pol*"; did you mean "poo*"?`, meant: "poo*"},
		{labels: "team=dtaa", text: `no definition has the labels "team=dtaa"; did you mean "team=data"?`, meant: "team=data"},
		{labels: "tier=gold", text: `no definition has the labels "tier=gold"`},
		{names: "pool", labels: "team=data", text: `no definition matches "pool" and has the labels "team=data"`},
		{names: strings.Join(many, " "), text: `no definition matches "` + strings.Join(many[:10], `" or "`) + `" or 2 more`},
	} {
		s, err := Parse("", strings.Fields(of.names), of.labels)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Names(c.State())
		meant, kind := "", false
		if e, ok := errors.AsType[*NoDefinitionError](err); ok {
			meant, kind = e.Meant, true
		} else if e, ok := errors.AsType[*NothingChosenError](err); ok {
			meant = e.Meant
		}
		if err == nil || err.Error() != of.text || meant != of.meant || kind != of.noDefinition {
			t.Errorf("%s -l %s: %v (%q), want %s (%q)", of.names, of.labels, err, meant, of.text, of.meant)
		}
	}

	all := new(Selector)
	if names, err := all.Names(c.State()); err != nil || len(names) != 2 {
		t.Errorf("all: %q, %v", names, err)
	}
	if _, err := all.Names(statetest.New(t).State()); err == nil || err.Error() != "there is no definition" {
		t.Errorf("all of none: %v", err)
	}
}
