package selector

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestLabels_Matches(t *testing.T) {
	labels := semaphore.LabelsOf(map[string]string{"team": "data", "zone": "a", "empty": "", "text": `say "no", please`, "cron": "*/7 * * * *"})
	for text, match := range map[string]bool{
		"":                               true,
		"  ":                             true,
		"team=data":                      true,
		"team==data":                     true,
		" team = data , zone = a ":       true,
		"team=web":                       false,
		"team!=web":                      true,
		"team!=data":                     false,
		"owner!=web":                     true, // absent
		"team":                           true,
		"owner":                          false,
		"!team":                          false,
		"!owner":                         true,
		"! owner":                        true,
		"zone in (a,b)":                  true,
		"zone in(a, b )":                 true,
		"zone in (b)":                    false,
		"zone notin (b,c)":               true,
		"zone notin (a)":                 false,
		"owner in (a)":                   false,
		"owner notin (a)":                true,
		"empty=":                         true,
		"empty in (,x)":                  true,
		"empty":                          true,
		"team=":                          false,
		`text="say \"no\", please"`:      true,
		"cron=*/7 * * * *":               true,
		" cron = */7 * * * * , team":     true,
		"cron=*/7  * * * *":              false,
		"cron=*/7 * * *":                 false,
		"cron!=*/7 * * * *":              false,
		`cron="*/7 * * * *"`:             true,
		"cron in (@daily, */7 * * * * )": true,
		`team in ("data","a b")`:         true,
		"team=data,zone in (a,b),!spam":  true,
		"team=data,zone in (b)":          false,
	} {
		s, err := parseLabels("labels", text)
		if err != nil {
			t.Errorf("parseLabels(%q) = %v", text, err)
			continue
		}
		if got := s.match(labels); got != match {
			t.Errorf("match() for %q = %v, want %v", text, got, match)
		}
	}
}

func TestLabels_KeyNamedLikeKeyword_IsAccepted(t *testing.T) {
	s, err := parseLabels("labels", "in=x,notin,in in (x),inner")
	if err != nil {
		t.Fatal(err)
	}
	if !s.match(semaphore.LabelsOf(map[string]string{"in": "x", "notin": "", "inner": ""})) {
		t.Fatal("labels named like keywords do not match")
	}
}

func TestLabels_Invalid_ErrorReportsPosition(t *testing.T) {
	for text, want := range map[string]string{
		"=a":                      "at byte 0: expected a label name",
		"team=data,":              "at byte 10: expected a label name",
		",":                       "at byte 0: expected a label name",
		"team data":               "at byte 5: expected a comma or the end",
		"zone in a":               "at byte 8: expected ( and a list of values",
		"zone in (a":              "at byte 10: expected a comma or )",
		"cron=0,30 2 * * *":       `must be quoted, as in cron="0,30 2 * * *"`,
		"zone in (a (b)":          "at byte 11: expected a comma or )",
		`team="data`:              "at byte 5: the quotation mark is not closed",
		"!":                       "at byte 1: expected a label name",
		"team=a=b":                "at byte 6: expected a comma or the end",
		strings.Repeat("a", 4097): "at most 4096 bytes, not 4097",
	} {
		_, err := parseLabels("labels", text)
		bad, ok := errors.AsType[*semaphore.FieldError](err)
		if !ok || bad.Field != "labels" || !strings.Contains(bad.Rule, want) {
			t.Errorf("parseLabels(%q) = %v, want an error containing %q", text, err, want)
		}
	}
}

// FuzzLabels checks that requirements survive being formatted and parsed again.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{"a=b", "a!=b,c", "x in (a,b)", "!x,y notin (1)", `k="a\"b\\"`, `k=" a,b ",c in (,"=","d e"),d=`, "in in (in)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseLabels("labels", text)
		if err != nil {
			return
		}
		again, err := parseLabels("labels", s.String())
		if err != nil {
			t.Fatalf("parseLabels accepts %q but not its String() %q: %v", text, s.String(), err)
		}
		if again.String() != s.String() {
			t.Fatalf("String() = %q, but %q after parsing it again", s.String(), again.String())
		}
	})
}
