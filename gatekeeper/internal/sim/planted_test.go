//go:build planted

package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/internal/planted"
)

// TestPlanted plants one bug after the other. The checkers that pass every scenario must see each.
func TestPlanted(t *testing.T) {
	for _, sc := range scenarios() {
		if len(sc.with) > 0 {
			t.Run(sc.name+" alone", func(t *testing.T) {
				if phase, broken := sc.shows(t); broken != nil {
					t.Errorf("phase %d breaks a promise without the bug: %v", phase, broken)
				}
			})
		}
		for _, bug := range sc.bugs {
			t.Run(string(bug), func(t *testing.T) {
				phase, broken := sc.shows(t, bug)
				if broken == nil {
					t.Fatalf("%q was planted and none of the checkers saw it in any run of %q", bug, sc.name)
				}
				t.Logf("seen in phase %d: %s", phase, broken[0])
			})
		}
	}
}

// shows plays the scenario with bugs until a promise is broken: chance has its part in when clients ask.
func (sc *scenario) shows(t *testing.T, bugs ...planted.Bug) (phase int, broken []string) {
	var names []string
	for _, b := range slices.Concat(bugs, sc.with) {
		names = append(names, string(b))
	}
	t.Setenv(planted.Variable, strings.Join(names, ","))
	for n := range max(20*sc.phases, 200) {
		if broken := sc.play(t, n%sc.phases); len(broken) > 0 {
			return n % sc.phases, broken
		}
		if len(bugs) == 0 && n >= 10*sc.phases {
			break // nothing is to be seen
		}
	}
	return 0, nil
}
