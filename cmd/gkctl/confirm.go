package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// asksText is how the help of a command says when it asks.
const asksText = `It shows the effect and asks, or in a script needs --yes, when the change stops a holder, shuts out callers who asked within 7 days and
leaves none, sets permits to 0, deletes several definitions, or changes more than 20.`

// yesFlag is --yes: the person agrees beforehand.
type yesFlag struct{ yes bool }

func (f *yesFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
}

// proposal is a change that a person may have to agree to before it is made.
type proposal struct {
	// what says what the change is, as in "this replaces job"; question asks for it, and declined says what follows from a no.
	what, question, declined string
	effects                  []*gatekeeperv1.Effect
	warnings                 []string
	// confirm is why the servers want a person to agree; always asks without a reason too.
	confirm []*gatekeeperv1.Confirmation
	always  bool
	// notes are shown below the effect.
	notes []string
}

// agree asks a person whether a change should be made when it needs that, after showing what the change would do. Without a terminal it
// shows the same and refuses. asked is whether the effect was shown.
func agree(ctx context.Context, s *ui.IO, p *proposal, flag yesFlag) (asked bool, err error) {
	if flag.yes || len(p.confirm) == 0 && !p.always {
		return false, nil
	}
	toStderr := *s
	toStderr.Out = s.Err
	if err := printEffects(&toStderr, p.effects, p.warnings, someOf); err != nil {
		return false, err
	}
	for _, n := range p.notes {
		s.Say("%s", words.Cell(n))
	}
	about := p.what
	if reasons := p.reasons(); reasons != "" {
		about += "; " + reasons
	}
	return true, s.Confirm(ctx, about, p.question, p.declined)
}

// reasons are those of the servers, with when the slots of holders that stop are free.
func (p *proposal) reasons() string {
	texts := confirmTexts(p.effects, p.confirm)
	if p.always && !slices.ContainsFunc(p.confirm, stopsHolders) {
		texts = append([]string{stopText(p.effects)}, texts...)
	}
	return strings.Join(texts, "; ")
}

// confirmTexts are the servers' reasons, a sentence each.
func confirmTexts(effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) []string {
	return words.Mapped(confirm, func(c *gatekeeperv1.Confirmation) string {
		if stopsHolders(c) {
			return stopText(effects)
		}
		return words.Cell(c.GetText())
	})
}

func stopsHolders(c *gatekeeperv1.Confirmation) bool {
	return c.GetKind() == gatekeeperv1.ConfirmationKind_CONFIRMATION_KIND_STOPS_HOLDERS
}

// printNeedsYes says, of a dry run, why the change would need --yes.
func printNeedsYes(s *ui.IO, effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) {
	if len(confirm) > 0 {
		fmt.Fprintln(s.Out, "needs --yes: "+strings.Join(confirmTexts(effects, confirm), "; "))
	}
}
