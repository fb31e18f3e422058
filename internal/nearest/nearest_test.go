package nearest_test

import (
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/nearest"
)

func TestWord_Slips_FindTheWordMeant(t *testing.T) {
	known := []string{"name", "permits", "duration", "group_pattern", "acquirer_pattern"}
	for unknown, want := range map[string]string{
		"permit":       "permits",
		"groupPattern": "group_pattern",
		"Permits":      "permits",
		"duraton":      "duration",
		"nam":          "name",
		"nm" + "ae":    "name", // a swap is one slip
		"colour":       "",
		"":             "",
	} {
		if got := nearest.Word(unknown, known); got != want {
			t.Errorf("Word(%q) = %q, want %q", unknown, got, want)
		}
	}
	if got := nearest.Word("x", nil); got != "" {
		t.Errorf("Word with nothing known = %q, want none", got)
	}
}

func FuzzWord(f *testing.F) {
	f.Add("permit", "permits,name")
	f.Fuzz(func(t *testing.T, unknown, known string) {
		words := strings.Split(known, ",")
		got := nearest.Word(unknown, append(words, unknown))
		if !strings.EqualFold(got, unknown) && unknown != "" {
			t.Errorf("Word(%q) = %q although it is known itself", unknown, got)
		}
	})
}
