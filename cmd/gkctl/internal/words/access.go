package words

import (
	"slices"
	"strings"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// GrantText describes a grant.
func GrantText(g *gatekeeperv1.AccessGrant) string {
	text := Word(g.GetRole(), "ROLE_")
	if len(g.GetSemaphores()) > 0 {
		text += " on " + strings.Join(g.GetSemaphores(), ", ")
	}
	if g.GetLabels() != "" {
		text += " where " + g.GetLabels()
	}
	if g.GetGroup() != "" {
		text += " in group " + g.GetGroup()
	}
	if g.GetAcquirer() != "" {
		text += " as acquirer " + g.GetAcquirer()
	}
	return text
}

// BindingChange describes a change to a binding. before is nil for a new binding; after is nil for a removed one.
func BindingChange(before, after *gatekeeperv1.Binding) string {
	name := after.GetName()
	if after == nil {
		name = before.GetName()
	}
	var parts []string
	for _, list := range []struct {
		kind                 string
		oldValues, newValues []string
	}{
		{"", before.GetSubjects(), after.GetSubjects()},
		{"", Map(before.GetGrants(), GrantText), Map(after.GetGrants(), GrantText)},
		{"token ", Map(before.GetTokens(), (*gatekeeperv1.AccessToken).GetId), Map(after.GetTokens(), (*gatekeeperv1.AccessToken).GetId)},
	} {
		for _, x := range list.oldValues {
			if !slices.Contains(list.newValues, x) {
				parts = append(parts, "-"+list.kind+x)
			}
		}
		for _, x := range list.newValues {
			if !slices.Contains(list.oldValues, x) {
				parts = append(parts, "+"+list.kind+x)
			}
		}
	}
	verb := "binding "
	switch {
	case before == nil:
		verb = "new binding "
	case after == nil:
		verb = "removed binding "
	}
	return verb + name + ": " + strings.Join(parts, ", ")
}
