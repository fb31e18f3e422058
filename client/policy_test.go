package client

import (
	"fmt"
	"testing"
)

func TestPolicies_HaveNames(t *testing.T) {
	for want, p := range map[string]fmt.Stringer{
		"skip": DenialPolicy(0), "wait": DenialWait, "run-late": DenialRunLate, "DenialPolicy(9)": DenialPolicy(9),
	} {
		if p.String() != want {
			t.Errorf("String() = %q, want %q", p, want)
		}
	}
	for want, p := range map[string]fmt.Stringer{
		"skip": OutagePolicy(0), "wait": OutageWait, "run-unguarded": OutageRunUnguarded, "OutagePolicy(-1)": OutagePolicy(-1),
	} {
		if p.String() != want {
			t.Errorf("String() = %q, want %q", p, want)
		}
	}
}
