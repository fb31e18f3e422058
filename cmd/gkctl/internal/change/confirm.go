package change

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

// AsksText is how the help of a command says when it asks.
const AsksText = `It shows the effect and asks, or in a script needs --yes, when the change stops a holder, shuts out callers who asked within 7 days and
leaves none, sets permits to 0, deletes several definitions, or changes more than 20.`

// YesFlag is --yes: the person agrees beforehand.
type YesFlag struct{ Yes bool }

// Register adds the flag.
func (f *YesFlag) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "do not ask")
}

// Proposal is a change that a person may have to agree to before it is made.
type Proposal struct {
	// What says what the change is, as in "this replaces job"; question asks for it, and declined says what follows from a no.
	What, Question, Declined string
	Effects                  []*gatekeeperv1.Effect
	Warnings                 []string
	// Confirm is why the servers want a person to agree; always asks without a reason too.
	Confirm []*gatekeeperv1.Confirmation
	Always  bool
	// Notes are shown below the effect.
	Notes []string
}

// Agree asks a person whether a change should be made when it needs that, after showing what the change would do. Without a terminal it
// shows the same and refuses. asked is whether the effect was shown.
func Agree(ctx context.Context, s *ui.IO, p *Proposal, flag YesFlag) (asked bool, err error) {
	if flag.Yes || len(p.Confirm) == 0 && !p.Always {
		return false, nil
	}
	toStderr := *s
	toStderr.Out = s.Err
	if err := PrintEffects(&toStderr, p.Effects, p.Warnings, SomeOf); err != nil {
		return false, err
	}
	for _, n := range p.Notes {
		s.Say("%s", words.Cell(n))
	}
	about := p.What
	if reasons := p.reasons(); reasons != "" {
		about += "; " + reasons
	}
	return true, s.Confirm(ctx, about, p.Question, p.Declined)
}

// reasons are those of the servers, with when the slots of holders that stop are free.
func (p *Proposal) reasons() string {
	texts := confirmTexts(p.Effects, p.Confirm)
	if p.Always && !slices.ContainsFunc(p.Confirm, stopsHolders) {
		texts = append([]string{StopText(p.Effects)}, texts...)
	}
	return strings.Join(texts, "; ")
}

// confirmTexts are the servers' reasons, a sentence each.
func confirmTexts(effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) []string {
	return words.Mapped(confirm, func(c *gatekeeperv1.Confirmation) string {
		if stopsHolders(c) {
			return StopText(effects)
		}
		return words.Cell(c.GetText())
	})
}

func stopsHolders(c *gatekeeperv1.Confirmation) bool {
	return c.GetKind() == gatekeeperv1.ConfirmationKind_CONFIRMATION_KIND_STOPS_HOLDERS
}

// PrintNeedsYes says, of a dry run, why the change would need --yes.
func PrintNeedsYes(s *ui.IO, effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) {
	if len(confirm) > 0 {
		fmt.Fprintln(s.Out, "needs --yes: "+strings.Join(confirmTexts(effects, confirm), "; "))
	}
}
