package api

import (
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestPageToken_RoundTrips(t *testing.T) {
	for _, key := range []pageKey{{name: "a"}, {name: "世界/x", token: 1}, {name: "b", token: 1<<64 - 1, rank: -1 << 63}} {
		got, err := parsePageToken(key.String())
		if err != nil || got != key {
			t.Errorf("parsePageToken() of %+v = %+v, %v", key, got, err)
		}
	}
	if got, err := parsePageToken(""); err != nil || got != (pageKey{}) {
		t.Errorf("parsePageToken(\"\") = %+v, %v", got, err)
	}
}

func TestPageToken_Invalid_IsRefused(t *testing.T) {
	for _, s := range []string{"x", "!", "AAAA", "AQ", "AQE", "AYCAgICAgICAgICAgA"} {
		if key, err := parsePageToken(s); err == nil {
			t.Errorf("parsePageToken(%q) = %+v, want an error", s, key)
		}
	}
}

func FuzzPageToken(f *testing.F) {
	f.Add(pageKey{name: "a", token: 3}.String())
	f.Fuzz(func(t *testing.T, s string) {
		key, err := parsePageToken(s)
		if err != nil || s == "" {
			return
		}
		if again, err := parsePageToken(key.String()); err != nil || again != key {
			t.Fatalf("round trip of %+v = %+v, %v", key, again, err)
		}
	})
}

func TestPage_LargeRecords_EndsEarly(t *testing.T) {
	record := &gatekeeperv1.DefinitionRecord{Reason: string(make([]byte, pageBytes/2))}
	var p page
	if !p.add(10, record) || p.add(10, record) {
		t.Fatal("want one record of just over half a page to fit, but not two")
	}
	huge := &gatekeeperv1.DefinitionRecord{Reason: string(make([]byte, 2*pageBytes))}
	p = page{}
	if !p.add(10, huge) {
		t.Fatal("add() = false for the first record of a page, so paging would never end")
	}
}
