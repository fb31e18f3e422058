package semaphore

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// drawDefinition draws most fields from a few values, so that two definitions often have the same value in a field.
func drawDefinition(t *rapid.T, what string) *Definition {
	pick := func(field string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what+" "+field) }
	d := defaultDefinition("s")
	d.Description = pick("description", "", "nightly")
	d.GroupPattern, d.AcquirerPattern = pick("group", ".*", "east", "west"), pick("acquirer", ".*", "app1")
	for _, key := range []string{"team", "tier"} {
		if value := pick(key, "absent", "", "a", "b"); value != "absent" {
			d.Labels = append(d.Labels, Label{key, value})
		}
	}
	number := func(field string) uint32 { return rapid.Uint32Range(1, 3).Draw(t, what+" "+field) }
	span := func(field string) time.Duration { return time.Duration(number(field)) * time.Minute }
	d.Permits, d.FiringLimit = number("permits"), number("firing limit")
	d.Duration, d.MaxHold, d.MinHold, d.LossDelay = span("duration"), span("max hold"), span("min hold"), span("loss delay")
	d.ExpectEvery, d.FiringRetention = span("expect every"), span("retention")
	d.FiringMaxAhead = rapid.SampledFrom([]time.Duration{0, FiringUnbounded, time.Minute}).Draw(t, what+" max ahead")
	d.OnExpiry = OnExpiry(rapid.Uint8Range(1, 2).Draw(t, what+" on expiry"))
	d.FiringOnLoss = FiringOnLoss(rapid.Uint8Range(1, 2).Draw(t, what+" on loss"))
	d.Takeover = rapid.Bool().Draw(t, what+" takeover")
	return d
}

func TestRevert_RandomEdits_RestoresOnlyFieldsNotSetSince(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after, current := drawDefinition(t, "before"), drawDefinition(t, "after"), drawDefinition(t, "current")
		original := current.Clone()
		requireEqual := func(what string, got, want *Definition) {
			t.Helper()
			if !got.Equal(want) {
				t.Fatalf("%s:\n%s", what, cmp.Diff(want, got))
			}
		}

		restored, kept := Revert(after, before, after)
		requireEqual("no field set since", restored, before)
		if len(kept) > 0 {
			t.Fatalf("kept = %v even though no field has been set since", kept)
		}
		restored, kept = Revert(before, before, after)
		requireEqual("already reverted", restored, before)
		if len(kept) > 0 {
			t.Fatalf("kept = %v even though the change has already been reverted", kept)
		}

		restored, kept = Revert(current, before, after)
		requireEqual("Revert modified current", current, original)
		// A field is restored only if the edit set it and it has not been set since.
		set, since := Changed(before, after), Changed(after, current)
		var wantKept, wantRestored []string
		for _, field := range set {
			switch {
			case !slices.Contains(since, field):
				wantRestored = append(wantRestored, field)
			case slices.Contains(Changed(before, current), field):
				wantKept = append(wantKept, field)
			}
		}
		if diff := cmp.Diff(wantKept, kept, cmpopts.EquateEmpty(), cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Fatalf("kept (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantRestored, Changed(current, restored), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("restored (-want +got):\n%s", diff)
		}
		for _, field := range Changed(before, restored) {
			if slices.Contains(wantRestored, field) {
				t.Fatalf("%s was not restored to its old value", field)
			}
		}
		again, _ := Revert(restored, before, after)
		requireEqual("reverted twice", again, restored)
	})
}

// This test fails if a field is added to Definition but not to Revert and Changed.
func TestRevert_EveryField_IsRestored(t *testing.T) {
	before := defaultDefinition("s")
	fields := reflect.TypeFor[Definition]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if name == "Name" {
			continue // never changed
		}
		after := before.Clone()
		switch v := reflect.ValueOf(after).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Slice:
			v.Set(reflect.ValueOf(Labels{{"team", "data"}}))
		case reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Uint8, reflect.Uint32:
			v.SetUint(v.Uint() + 1)
		default:
			t.Fatalf("%s: the test does not support kind %v", name, v.Kind())
		}
		changed := Changed(before, after)
		if len(changed) != 1 {
			t.Errorf("%s: Changed() = %v", name, changed)
		}
		if restored, kept := Revert(after, before, after); !restored.Equal(before) || len(kept) != 0 {
			t.Errorf("%s was not reverted: Revert() = %+v, kept %v", name, restored, kept)
		}
	}
}

func TestRevert_FieldChangedSince_IsKeptAndReported(t *testing.T) {
	before, after, current := defaultDefinition("s"), defaultDefinition("s"), defaultDefinition("s")
	before.Labels = Labels{{"team", "data"}, {"tier", "1"}}
	after.Permits, after.Description, after.Labels = 5, "for the sale", Labels{{"sale", "yes"}, {"team", "shop"}}
	current.Permits, current.Description, current.Labels = 9, "for the sale", Labels{{"sale", "yes"}, {"team", "ops"}}
	restored, kept := Revert(current, before, after)
	if diff := cmp.Diff([]string{"labels.team", "permits"}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	want := defaultDefinition("s")
	want.Permits, want.Labels = 9, Labels{{"team", "ops"}, {"tier", "1"}}
	if diff := cmp.Diff(want, restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if !slices.Equal(current.Labels, Labels{{"sale", "yes"}, {"team", "ops"}}) {
		t.Error("Revert modified the labels of current")
	}
}
