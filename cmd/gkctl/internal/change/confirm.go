package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
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
	// Loses says what stops or is lost, of a change that the servers do not preview. It asks, too.
	Loses string
	// Notes are shown below the effect.
	Notes []string
}

// Agree asks a person whether a change should be made when it needs that, after showing what the change would do. Without a terminal it
// shows the same and refuses. asked is whether the effect was shown.
func Agree(ctx context.Context, s *ui.IO, p *Proposal, flag YesFlag) (asked bool, err error) {
	if flag.Yes || len(p.Confirm) == 0 && !p.Always && p.Loses == "" {
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
	if p.Loses != "" {
		texts = append(texts, p.Loses)
	}
	return strings.Join(texts, "; ")
}

// SomeNotes are the first of so many notes, and how many more there are.
func SomeNotes(notes []string) []string {
	if more := len(notes) - SomeOf; more > 0 {
		return append(notes[:SomeOf:SomeOf], fmt.Sprintf("... and %d more", more))
	}
	return notes
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

// PrintPreview prints all that a change would do, and why it would need --yes.
func PrintPreview(s *ui.IO, r *gatekeeperv1.PreviewResponse) error {
	if err := PrintEffects(s, r.GetEffects(), r.GetWarnings(), EveryLine); err != nil {
		return err
	}
	PrintNeedsYes(s, r.GetEffects(), r.GetConfirm())
	return nil
}

// PrintNeedsYes says, of a dry run, why the change would need --yes.
func PrintNeedsYes(s *ui.IO, effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) {
	if len(confirm) > 0 {
		fmt.Fprintln(s.Out, "needs --yes: "+strings.Join(confirmTexts(effects, confirm), "; "))
	}
}

// AskFlags are those of a change that is shown before it is made, and can be repeated: --dry-run, --yes and --request-id.
type AskFlags struct {
	YesFlag
	RepeatFlag
	DryRun bool
}

// Register adds the flags. dryRun says what a dry run shows.
func (f *AskFlags) Register(cmd *cobra.Command, dryRun string) {
	f.YesFlag.Register(cmd)
	f.RepeatFlag.Register(cmd)
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, dryRun+"; do nothing")
}

// Preview asks the servers what a change would do and, unless it is a dry run, asks a person whether to make it. p needs neither effects,
// warnings nor reasons; what says what the change is.
func (f *AskFlags) Preview(
	ctx context.Context, to *conn.Factory, c *client.Client, req *gatekeeperv1.PreviewRequest, p Proposal, what func(*gatekeeperv1.PreviewResponse) string,
) (*gatekeeperv1.PreviewResponse, error) {
	looking, cancel := to.Bounded(ctx)
	defer cancel()
	r, err := c.Operator().Preview(looking, req)
	if err != nil || f.DryRun {
		return r, err
	}
	p.What, p.Effects, p.Warnings, p.Confirm = what(r), r.GetEffects(), r.GetWarnings(), r.GetConfirm()
	_, err = Agree(ctx, to.IO, &p, f.YesFlag)
	return r, err
}

// planned is the servers' answer to a change that they plan: what it does, or did.
type planned interface {
	proto.Message
	// GetRevision is 0 while nothing has been changed.
	GetRevision() uint64
	GetPlan() string
}

// PlannedChange is a change in two calls: the first plans it, the second carries out that plan or nothing.
type PlannedChange[R planned] struct {
	// Call asks the servers. A dry run only plans; plan is the one that was agreed to, or empty.
	Call func(ctx context.Context, dryRun bool, plan string) (R, error)
	// Refused says how to go on after an error.
	Refused func(error) error
	// Settled reports whether a planned change needs no second call.
	Settled func(R) bool
	// Proposal is the plan as a person is asked about it.
	Proposal func(R) *Proposal
}

// Run makes the change as the flags say, and returns the last answer.
func (p *PlannedChange[R]) Run(ctx context.Context, to *conn.Factory, flags *AskFlags) (R, error) {
	call := func(dryRun bool, plan string) (R, error) {
		ctx, cancel := to.Bounded(ctx)
		defer cancel()
		r, err := p.Call(ctx, dryRun, plan)
		if errors.Is(err, client.ErrOutcomeUnknown) {
			return r, flags.Unknown(err)
		}
		return r, p.Refused(err)
	}
	if flags.Yes && !flags.DryRun {
		return call(false, "")
	}
	r, err := call(true, "")
	if err != nil || flags.DryRun || p.Settled(r) {
		return r, err
	}
	if _, err := Agree(ctx, to.IO, p.Proposal(r), flags.YesFlag); err != nil {
		return r, err
	}
	return call(false, r.GetPlan())
}

// PrintPlanned prints a planned change as an object. The object always has a revision, 0 after a dry run.
func PrintPlanned(s *ui.IO, format ui.Output, r planned) error {
	if r.GetRevision() != 0 {
		return s.PrintObject(format, r)
	}
	data, err := ui.Joined(r, struct {
		Revision uint64 `json:"revision,string"`
	}{})
	if err != nil {
		return err
	}
	return s.PrintObject(format, data)
}
