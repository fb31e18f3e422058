package selector

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Plain names are looked up directly, and globs are matched against every name. Both must select the same semaphores
// from any starting point, with or without labels and Within.
func TestDefinitionsAndHolders_PlainNames_MatchSameAsGlobs(t *testing.T) {
	t.Parallel()
	c := statetest.New(t)
	for i := range 12 {
		name := fmt.Sprintf("job-%02d", i)
		c.Define(name, func(d *semaphore.Definition) {
			d.Labels = semaphore.LabelsOf(map[string]string{"odd": fmt.Sprint(i % 2)})
			d.Permits = 3
		})
		for h := range i % 3 {
			c.Grant(name, "zone-a", fmt.Sprintf("host-%d", h))
		}
	}
	state := c.State()
	even := func(_ *fsm.State, name string) bool { return (name[len(name)-1]-'0')%2 == 0 }
	names := []string{"job-05", "job-02", "job-02", "none", "job-11", "job-04"}
	globs := []string{"job-0[245]", "job-1[1]", "none"}
	for _, labels := range []string{"", "odd=1", "odd!=1"} {
		for _, within := range []func(*fsm.State, string) bool{nil, even} {
			plain, err := Parse("", names, labels)
			if err != nil {
				t.Fatal(err)
			}
			globbed, err := Parse("", globs, labels)
			if err != nil {
				t.Fatal(err)
			}
			plain, globbed = plain.Within(within), globbed.Within(within)
			all := slices.Collect(globbed.Definitions(state, ""))
			if within == nil && labels == "" && len(all) != 4 {
				t.Fatalf("got %d definitions, want 4", len(all))
			}
			for _, from := range []string{"", "job-02", "job-03", "zzz"} {
				if got, want := slices.Collect(plain.Definitions(state, from)), slices.Collect(globbed.Definitions(state, from)); !slices.Equal(got, want) {
					t.Errorf("from %q with labels %q: got %d definitions, want %d", from, labels, len(got), len(want))
				}
			}
			holders := slices.Collect(globbed.Holders(state, "", 0))
			if !slices.IsSortedFunc(holders, func(a, b *semaphore.Permit) int {
				return cmp.Or(cmp.Compare(a.Semaphore, b.Semaphore), cmp.Compare(a.Token, b.Token))
			}) {
				t.Error("Holders() is not sorted")
			}
			for _, from := range append(holders, &semaphore.Permit{}) {
				for _, token := range []uint64{from.Token, from.Token + 1} {
					got := slices.Collect(plain.Holders(state, from.Semaphore, token))
					if want := slices.Collect(globbed.Holders(state, from.Semaphore, token)); !slices.Equal(got, want) {
						t.Errorf("from %s, %d with labels %q: got %d holders, want %d", from.Semaphore, token, labels, len(got), len(want))
					}
				}
			}
		}
	}
}
