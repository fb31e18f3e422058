package edit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// againFromNow is how to go on after a file was refused as stale.
const againFromNow = "`gkctl get -o yaml` writes what there is now: start from that. Or take the version out of the file: `gkctl diff -f` then " +
	"shows what it would change, and apply does it."

// staleError refuses a change that was made from a version which is no longer the current one.
type staleError struct{ err error }

func (e *staleError) Error() string { return e.err.Error() }
func (e *staleError) Unwrap() error { return e.err }

// recordAt is a definition as it was at an older version. Its Definition is nil when the journal no longer knows.
func recordAt(ctx context.Context, c *client.Client, name string, version uint64) (*gatekeeperv1.DefinitionRecord, error) {
	out := &gatekeeperv1.DefinitionRecord{Version: version}
	r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: []string{name}, Change: version})
	for _, e := range r.GetEntries() {
		if e.GetSemaphore() == name && e.GetAfter() != nil {
			out.Definition = e.GetAfter()
		}
	}
	return out, err
}

// stale says what somebody else did to a definition since it was read: which fields, who, when, why. again says how to go on.
func stale(ctx context.Context, c *client.Client, ch *step, refused error, again string) error {
	hint := "Nothing was changed. " + again
	r, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: ch.name})
	switch {
	case ui.Is[*client.NoSuchDefinitionError](err) && ch.before != nil:
		return &staleError{ui.WithHint(fmt.Errorf("%s was deleted since you read it", ch.name), "%s", hint)}
	case err != nil:
		return &staleError{ui.WithHint(refused, "%s", hint)}
	}
	now := r.GetRecord()
	if ch.before == nil {
		return &staleError{ui.WithHint(fmt.Errorf("%s was created since you looked, %s", ch.name, byWhom(now)), "%s", hint)}
	}
	lines := []string{fmt.Sprintf("%s was changed since you read it: you saw version %d, now it is version %d, %s",
		ch.name, ch.before.GetVersion(), now.GetVersion(), byWhom(now))}
	was := ch.before.GetDefinition()
	if was == nil {
		was = ch.after
		lines = append(lines, "what it was is no longer known; from your file to what it is now:")
	}
	lines = append(lines, words.FieldChanges(was, now.GetDefinition())...)
	return &staleError{ui.WithHint(errors.New(strings.Join(lines, "\n  ")), "%s", hint)}
}

// byWhom says who made a definition what it is, when and why.
func byWhom(r *gatekeeperv1.DefinitionRecord) string {
	who := r.GetUpdatedBy()
	if who == "" {
		who = "somebody"
	}
	text := "changed by " + who
	if t := r.GetUpdatedAt(); t != nil {
		text += " at " + words.When(t)
	}
	if r.GetReason() != "" {
		text += " (" + r.GetReason() + ")"
	}
	return text
}
