package deffile_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMarshal_EveryField_RoundTripsInOrder(t *testing.T) {
	data, err := deffile.Marshal(wantEverything())
	if err != nil {
		t.Fatal(err)
	}
	want := `definitions:
  - name: nightly-export
    description: exports the day's orders
    labels:
      team: data
      tier: "1"
    group_pattern: prod
    acquirer_pattern: app[12]
    permits: 2
    duration: 1m30s
    max_hold: 2h
    min_hold: 0s
    loss_delay: 1m30s
    on_expiry: hold
    firing_on_loss: free
    takeover: true
    expect_every: 24h
    firing_retention: 48h
    firing_limit: 10
    firing_max_ahead: 0s
    max_attempts: 3
    misfire: once
    misfire_window: 2h
  - name: bare
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("Marshal (-want +got):\n%s", diff)
	}
	checkParse(t, wantEverything(), data)
}

func TestMarshalRecords_Version_IsLastKeyAndRoundTrips(t *testing.T) {
	data, err := deffile.MarshalRecords([]*gatekeeperv1.DefinitionRecord{
		{Definition: &gatekeeperv1.Definition{Name: "a", Permits: proto.Uint32(2)}, Version: 17},
		{Definition: &gatekeeperv1.Definition{Name: "b"}},
		{Definition: &gatekeeperv1.Definition{Name: "c"}, Version: 1<<64 - 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `definitions:
  - name: a
    permits: 2
    version: 17
  - name: b
  - name: c
    version: 18446744073709551615
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("MarshalRecords (-want +got):\n%s", diff)
	}
	file, err := deffile.Parse("f", data)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{17, 0, 1<<64 - 1} {
		if got := file.Entries[i].Version; got != want {
			t.Errorf("version of entry %d = %d, want %d", i, got, want)
		}
	}
	checkParse(t, []*gatekeeperv1.Definition{{Name: "a", Permits: proto.Uint32(2)}, {Name: "b"}, {Name: "c"}}, data)
}

func TestParse_BadVersion_ReturnsAnError(t *testing.T) {
	for _, version := range []string{"0", "-1", "017", "1.5", "latest", `"17"`, "18446744073709551616", "[1]", ""} {
		if _, err := deffile.Parse("f", []byte("definitions: [{name: a, version: "+version+"}]")); err == nil {
			t.Errorf("Parse accepted the version %q", version)
		}
	}
}

func TestMarshal_NoDefinitions_WritesAnEmptyList(t *testing.T) {
	data, err := deffile.Marshal(nil)
	if err != nil || string(data) != "definitions: []\n" {
		t.Errorf("Marshal(nil) = %q, %v, want an empty list", data, err)
	}
}

func TestMarshal_UnrepresentableValue_ReturnsAnError(t *testing.T) {
	for _, d := range []*gatekeeperv1.Definition{
		{Name: "a\xff"},
		{Name: "a", OnExpiry: 99},
		{Name: "a", FiringOnLoss: 99},
	} {
		if data, err := deffile.Marshal([]*gatekeeperv1.Definition{d}); err == nil {
			t.Errorf("Marshal(%v) = %q, want an error", d, data)
		}
	}
}

func TestFormatDuration_OmitsZeroUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1m": time.Minute, "24h": 24 * time.Hour, "1h30m": 90 * time.Minute, "1h0m5s": time.Hour + 5*time.Second,
		"90ms": 90 * time.Millisecond, "10m": 10 * time.Minute, "-1m": -time.Minute, "20s": 20 * time.Second,
	} {
		got := deffile.FormatDuration(d)
		back, err := time.ParseDuration(got)
		if got != want || err != nil || back != d {
			t.Errorf("FormatDuration(%v) = %q, want %q; parsed as %v, %v", d, got, want, back, err)
		}
	}
}

// FuzzMarshal checks that definitions written by Marshal are read back unchanged.
func FuzzMarshal(f *testing.F) {
	f.Add("a", "text\non two lines\n", "k", "v", ".*", uint32(1), int64(time.Minute))
	f.Add("null", " leading", "on", "", "~", uint32(0), int64(0))
	f.Add("1e3", "tab\there: #not a comment", "<<", "=", "- x", uint32(1<<31), int64(-1))
	f.Add("0x1", "\r\n\u0085\u2028", "2026-01-01", "\x00", "a\\.b", uint32(7), int64(1<<62))
	f.Fuzz(func(t *testing.T, name, description, key, value, pattern string, permits uint32, duration int64) {
		want := []*gatekeeperv1.Definition{
			{
				Name: name, Description: description, Labels: map[string]string{key: value}, GroupPattern: &pattern,
				Permits: &permits, Duration: durationpb.New(time.Duration(duration)),
			},
			{Name: name + "2", AcquirerPattern: proto.String(""), FiringLimit: &permits, Takeover: permits%2 == 0},
		}
		data, err := deffile.Marshal(want)
		if err != nil {
			for _, s := range []string{name, description, key, value, pattern} {
				if !utf8.ValidString(s) {
					return
				}
			}
			t.Errorf("Marshal: %v", err)
			return
		}
		checkParse(t, want, data)
	})
}

// FuzzParse checks that every error from Parse is an *Error, and that parsed definitions survive a round trip through
// Marshal.
func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"definitions": [{"name": "a"}]}`))
	f.Add([]byte("definitions:\n  - name: &a a\n    labels: *a\n"))
	f.Add([]byte("definitions: [{name: ? a, <<: {}}]\n--- !!map {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := deffile.Parse("f", data)
		if err != nil {
			var parseErr *deffile.Error
			if !errors.As(err, &parseErr) {
				t.Errorf("Parse = %v, want an *Error", err)
			}
			return
		}
		again, err := deffile.Marshal(file.Definitions())
		if err != nil {
			t.Fatalf("Marshal of the parsed definitions: %v", err)
		}
		checkParse(t, file.Definitions(), again)
	})
}

func checkParse(t *testing.T, want []*gatekeeperv1.Definition, data []byte) {
	t.Helper()
	file, err := deffile.Parse("f", data)
	if err != nil {
		t.Fatalf("failed to parse the output of Marshal: %v\n%s", err, data)
	}
	if diff := cmp.Diff(want, file.Definitions(), protocmp.Transform()); diff != "" {
		t.Errorf("parsed definitions (-want +got):\n%s\nfrom\n%s", diff, data)
	}
}
