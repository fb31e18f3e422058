package counted

import "testing"

func TestFormat_MostFrequentFirst_ThenByName(t *testing.T) {
	if got := Format(map[string]int{"b": 3, "a": 3, "c": 12}, ", "); got != "12 c, 3 a, 3 b" {
		t.Errorf("Format() = %q, want the most frequent first", got)
	}
	if got := Format(nil, ", "); got != "none" {
		t.Errorf("Format(nil) = %q, want none", got)
	}
}
