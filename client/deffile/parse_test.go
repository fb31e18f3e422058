package deffile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const everything = `# the nightly export
definitions:
  - name: nightly-export
    description: exports the day's orders
    labels: {team: data, tier: "1"}
    group_pattern: prod
    acquirer_pattern: app[12]
    permits: 2
    duration: 90s
    max_hold: 2h
    min_hold: 0s
    loss_delay: 1m30s
    on_expiry: hold
    firing_on_loss: free
    takeover: true
    expect_every: 24h
    firing_retention: 48h
    firing_limit: 10
    firing_max_ahead: 0
    max_attempts: 3
    misfire: once
    misfire_window: 2h
  - name: bare
`

func wantEverything() []*gatekeeperv1.Definition {
	return []*gatekeeperv1.Definition{
		{
			Name:            "nightly-export",
			Description:     "exports the day's orders",
			Labels:          map[string]string{"team": "data", "tier": "1"},
			GroupPattern:    proto.String("prod"),
			AcquirerPattern: proto.String("app[12]"),
			Permits:         proto.Uint32(2),
			Duration:        durationpb.New(90 * time.Second),
			MaxHold:         durationpb.New(2 * time.Hour),
			MinHold:         durationpb.New(0),
			LossDelay:       durationpb.New(90 * time.Second),
			OnExpiry:        gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD,
			FiringOnLoss:    gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE,
			Takeover:        true,
			ExpectEvery:     durationpb.New(24 * time.Hour),
			FiringRetention: durationpb.New(48 * time.Hour),
			FiringLimit:     proto.Uint32(10),
			FiringMaxAhead:  durationpb.New(0),
			MaxAttempts:     3,
			Misfire:         gatekeeperv1.Misfire_MISFIRE_ONCE,
			MisfireWindow:   durationpb.New(2 * time.Hour),
		},
		{Name: "bare"},
	}
}

func TestParse_EveryKey_RecordsItsPosition(t *testing.T) {
	file, err := deffile.Parse("defs.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantEverything(), file.Definitions(), protocmp.Transform()); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	first, bare := &file.Entries[0], &file.Entries[1]
	for field, want := range map[string]deffile.Position{
		"name":             {3, 11},
		"acquirer_pattern": {7, 23},
		"firing_limit":     {18, 19},
		"no_such":          {3, 5}, // the start of the entry
		"labels.team":      {5, 20},
		"labels.other.key": {5, 13}, // the start of the labels
	} {
		if got := first.Position(field); got != want {
			t.Errorf("Position(%q) = %v, want %v", field, got, want)
		}
	}
	if got, want := bare.Position("permits"), (deffile.Position{Line: 23, Column: 5}); got != want {
		t.Errorf("Position of an absent field = %v, want %v", got, want)
	}
	if got, want := file.Errorf(0, "group_pattern", "bad %s", "thing").Error(), "defs.yaml:6:20: bad thing"; got != want {
		t.Errorf("Errorf() = %q, want %q", got, want)
	}
	for _, key := range deffile.Keys() {
		if _, ok := first.Fields[key]; !ok {
			t.Errorf("this test does not cover the key %q", key)
		}
	}
}

func TestParse_JSON_IsAccepted(t *testing.T) {
	file, err := deffile.Parse("defs.json", []byte(`{"definitions": [{"name": "a", "permits": 3, "duration": "1m", "takeover": false, "labels": {"k": ""}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []*gatekeeperv1.Definition{{
		Name: "a", Permits: proto.Uint32(3), Duration: durationpb.New(time.Minute), Labels: map[string]string{"k": ""},
	}}
	if diff := cmp.Diff(want, file.Definitions(), protocmp.Transform()); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
}

func TestParse_ExplicitlyEmptyPattern_IsNotAbsent(t *testing.T) {
	file, err := deffile.Parse("f", []byte("definitions:\n  - name: a\n    group_pattern: \"\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := file.Entries[0].Definition; d.GroupPattern == nil || d.AcquirerPattern != nil {
		t.Errorf("group_pattern = %v, acquirer_pattern = %v, want an empty pattern and nil", d.GroupPattern, d.AcquirerPattern)
	}
}

func TestParse_EmptyList_HasNoEntries(t *testing.T) {
	file, err := deffile.Parse("f", []byte("definitions: []\n"))
	if err != nil || len(file.Entries) != 0 {
		t.Errorf("Parse = %v, %v; want no entries", file, err)
	}
}

func TestParse_InvalidFile_ReturnsErrorWithPosition(t *testing.T) {
	head := "definitions:\n  - name: a\n    "
	for name, test := range map[string]struct{ in, want string }{
		"empty":               {"", `f: the file is empty: write "definitions: []" if that is intended`},
		"only a comment":      {"# later\n", `f: the file is empty`},
		"not UTF-8":           {"definitions:\n  - name: \xff\n", "f:2:11: not UTF-8 text"},
		"not YAML":            {"definitions:\n  - name: a\n   permits: 1\n", "f:"},
		"top-level list":      {"- name: a\n", `f:1:1: expected the key "definitions" with a list, not a list`},
		"top-level null":      {"~\n", `f:1:1: expected the key "definitions" with a list, not null`},
		"unknown top key":     {"definition: []\n", `f:1:1: unknown key "definition"; did you mean "definitions"?`},
		"null list":           {"definitions:\n", "f:1:13: definitions must be a list, not null"},
		"map as list":         {"definitions: {a: 1}\n", "f:1:14: definitions must be a list, not a mapping"},
		"empty mapping":       {"{}\n", `f:1:1: the key "definitions" is missing`},
		"text as entry":       {"definitions:\n  - a\n", "f:2:5: a definition must be a mapping, not a string"},
		"missing name":        {"definitions:\n  - permits: 1\n", "f:2:5: this definition has no name"},
		"unknown key":         {head + "permit: 1\n", `f:3:5: unknown key "permit"; did you mean "permits"?`},
		"unrelated key":       {head + "colour: red\n", `f:3:5: unknown key "colour"; the known keys are name, description,`},
		"duplicate key":       {head + "permits: 1\n    permits: 2\n", `f:4:5: the key "permits" appears twice: first on line 3, again on line 4`},
		"duplicate label":     {head + "labels: {k: a, k: b}\n", `f:3:20: the key "k" appears twice: first on line 3`},
		"duplicate name":      {"definitions:\n  - name: a\n  - name: b\n  - name: a\n", `f:4:11: the name "a" appears twice: first on line 2, again on line 4`},
		"number as name":      {"definitions:\n  - name: 1e3\n", `f:2:11: name must be a string, but YAML reads 1e3 as a number: write "1e3"`},
		"list as name":        {"definitions:\n  - name: [a]\n", "f:2:11: name must be a string, not a list"},
		"date as pattern":     {head + "group_pattern: 2026-01-01\n", `f:3:20: group_pattern must be a string, but YAML reads 2026-01-01 as a date: write "2026-01-01"`},
		"missing value":       {head + "duration:\n", "f:3:14: duration has no value: omit the key to use its default"},
		"number as label":     {head + "labels: {k: 1}\n", `f:3:17: label k must be a string, but YAML reads 1 as a number: write "1"`},
		"list as labels":      {head + "labels: [k]\n", "f:3:13: labels must be a mapping, not a list"},
		"number as label key": {head + "labels: {1: a}\n", "f:3:14: a key must be a string, not a number"},
		"text as permits":     {head + "permits: many\n", `f:3:14: permits must be a whole number, not "many"`},
		"negative permits":    {head + "permits: -1\n", `f:3:14: permits must be a whole number, not "-1"`},
		"fractional permits":  {head + "permits: 1.5\n", `f:3:14: permits must be a whole number, not "1.5"`},
		"octal permits":       {head + "permits: 010\n", `f:3:14: permits must be a whole number, not "010"`},
		"huge permits":        {head + "permits: 4294967296\n", `f:3:14: permits 4294967296 is too large`},
		"list as permits":     {head + "permits: [1]\n", "f:3:14: permits must be a whole number, not a list"},
		"duration, no unit":   {head + "duration: 60\n", "f:3:15: duration 60 has no unit: write 60s or 60m, for example"},
		"invalid duration":    {head + "duration: 1 day\n", `f:3:15: duration must be a duration like 90s, 5m or 1h30m, not "1 day"`},
		"map as duration":     {head + "duration: {s: 1}\n", "f:3:15: duration must be a duration like 90s, 5m or 1h30m, not a mapping"},
		"invalid choice":      {head + "on_expiry: keep\n", `f:3:16: on_expiry must be free or hold, not "keep"`},
		"list as choice":      {head + "firing_on_loss: [free]\n", "f:3:21: firing_on_loss must be spent or free, not a list"},
		"yes as takeover":     {head + "takeover: yes\n", `f:3:15: takeover must be true or false, not "yes"`},
		"map as takeover":     {head + "takeover: {}\n", "f:3:15: takeover must be true or false, not a mapping"},
		"anchor":              {head + "labels: &l {k: a}\n", "f:3:13: anchors are not allowed here"},
		"alias":               {head + "labels: &l {k: a}\n  - *l\n", "f:3:13: anchors are not allowed here"},
		"tag":                 {head + "description: !!str 1\n", "f:3:18: tags like !!str are not allowed here"},
		"merge":               {head + "<<: {permits: 1}\n", "f:3:5: merging with << is not allowed here"},
		"second document":     {"definitions: []\n---\ndefinitions: []\n", "f:2:1: the file has a second document: put all definitions into one list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := deffile.Parse("f", []byte(test.in))
			var parseErr *deffile.Error
			if !errors.As(err, &parseErr) {
				t.Fatalf("Parse = %v, want an *Error", err)
			}
			if !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("Parse = %q\nwant the prefix %q", err, test.want)
			}
		})
	}
}
