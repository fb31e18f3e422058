package show

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Scripts rely on these fields. New ones may be added, but existing ones must not change. docs/gkctl-reference.md lists
// them.
func TestHoldersAndWaitersJSON_IsStable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		got  any
		want string
	}{
		{
			"holders --at", heldAt{Items: []ui.Message{}, At: "2026-01-31T02:00:00Z", HistoryBegins: "2026-01-31T03:00:00Z"},
			`{"items":[],"at":"2026-01-31T02:00:00Z","history_begins":"2026-01-31T03:00:00Z"}`,
		},
		{"waiters", waitersJSON{Items: []ui.Message{}, Tasks: []ui.Message{}}, `{"items":[],"tasks":[]}`},
	} {
		got, err := ui.ToJSON(c.got)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v\nwant %s", c.name, got, err, c.want)
		}
	}
}
