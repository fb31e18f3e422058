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

// ConfirmHelp is the paragraph of a command's help that explains when the command asks for confirmation.
const ConfirmHelp = `It shows the effect and asks for confirmation (in a script, pass --yes) when the change stops a holder, locks out every caller
seen in the last 7 days, sets permits to 0, deletes several definitions, or changes more than 20.`

// YesFlag holds --yes, which confirms a change in advance.
type YesFlag struct{ Yes bool }

// Register adds the flag.
func (f *YesFlag) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.Yes, "yes", "y", false, "do not ask for confirmation")
}

// Proposal is a change that may need confirmation.
type Proposal struct {
	// What describes the change, as in "this replaces job". Question asks for confirmation. Declined is the outcome if
	// the answer is no.
	What, Question, Declined string
	Effects                  []*gatekeeperv1.Effect
	Warnings                 []string
	// Confirm lists the servers' reasons for requiring confirmation. Always requires confirmation even if there are no
	// reasons.
	Confirm []*gatekeeperv1.Confirmation
	Always  bool
	// Loss describes what would be stopped or lost by a change that the servers do not preview. If set, it requires
	// confirmation.
	Loss string
	// Notes are shown below the effect.
	Notes []string
}

// Confirm shows what a change would do and asks for confirmation if the change requires it. Without a terminal it
// prints the same text and returns an error. asked reports whether the effects were shown.
func Confirm(ctx context.Context, s *ui.IO, p *Proposal, flag YesFlag) (asked bool, err error) {
	if flag.Yes || len(p.Confirm) == 0 && !p.Always && p.Loss == "" {
		return false, nil
	}
	toStderr := *s
	toStderr.Out = s.Err
	if err := PrintEffects(&toStderr, p.Effects, p.Warnings, MaxShown); err != nil {
		return false, err
	}
	for _, n := range p.Notes {
		s.Logf("%s", words.Cell(n))
	}
	about := p.What
	if reasons := p.reasons(); reasons != "" {
		about += "; " + reasons
	}
	return true, s.Confirm(ctx, about, p.Question, p.Declined)
}

// reasons returns the reasons for asking, including when the slots of stopped holders become free.
func (p *Proposal) reasons() string {
	texts := confirmTexts(p.Effects, p.Confirm)
	if p.Always && !slices.ContainsFunc(p.Confirm, stopsHolders) {
		texts = append([]string{StopText(p.Effects)}, texts...)
	}
	if p.Loss != "" {
		texts = append(texts, p.Loss)
	}
	return strings.Join(texts, "; ")
}

// TruncateNotes truncates a list of notes and appends the number of notes left out.
func TruncateNotes(notes []string) []string {
	if more := len(notes) - MaxShown; more > 0 {
		return append(notes[:MaxShown:MaxShown], fmt.Sprintf("... and %d more", more))
	}
	return notes
}

// confirmTexts returns the servers' reasons, one sentence each.
func confirmTexts(effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) []string {
	return words.Map(confirm, func(c *gatekeeperv1.Confirmation) string {
		if stopsHolders(c) {
			return StopText(effects)
		}
		return words.Cell(c.GetText())
	})
}

func stopsHolders(c *gatekeeperv1.Confirmation) bool {
	return c.GetKind() == gatekeeperv1.ConfirmationKind_CONFIRMATION_KIND_STOPS_HOLDERS
}

// PrintPreview prints all effects of a change, and why the change would need --yes.
func PrintPreview(s *ui.IO, r *gatekeeperv1.PreviewResponse) error {
	if err := PrintEffects(s, r.GetEffects(), r.GetWarnings(), AllLines); err != nil {
		return err
	}
	PrintNeedsYes(s, r.GetEffects(), r.GetConfirm())
	return nil
}

// PrintNeedsYes prints why a change would need --yes. It is used after a dry run.
func PrintNeedsYes(s *ui.IO, effects []*gatekeeperv1.Effect, confirm []*gatekeeperv1.Confirmation) {
	if len(confirm) > 0 {
		fmt.Fprintln(s.Out, "needs --yes: "+strings.Join(confirmTexts(effects, confirm), "; "))
	}
}

// AskFlags holds the flags of a change that can be previewed, confirmed and retried: --dry-run, --yes and --request-id.
type AskFlags struct {
	YesFlag
	RepeatFlag
	DryRun bool
}

// Register adds the flags. dryRun describes the output of a dry run.
func (f *AskFlags) Register(cmd *cobra.Command, dryRun string) {
	f.YesFlag.Register(cmd)
	f.RepeatFlag.Register(cmd)
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, dryRun+" without changing anything")
}

// Preview queries the effects of a change. Unless --dry-run is set, it then asks for confirmation if the change
// requires it. It fills in p's effects, warnings and reasons. what returns the description of the change.
func (f *AskFlags) Preview(
	ctx context.Context, to *conn.Factory, c *client.Client, req *gatekeeperv1.PreviewRequest, p Proposal, what func(*gatekeeperv1.PreviewResponse) string,
) (*gatekeeperv1.PreviewResponse, error) {
	previewCtx, cancel := to.Bounded(ctx)
	defer cancel()
	r, err := c.Operator().Preview(previewCtx, req)
	if err != nil || f.DryRun {
		return r, err
	}
	p.What, p.Effects, p.Warnings, p.Confirm = what(r), r.GetEffects(), r.GetWarnings(), r.GetConfirm()
	_, err = Confirm(ctx, to.IO, &p, f.YesFlag)
	return r, err
}

// planned is the servers' response to a planned change: its effects, before or after the change is made.
type planned interface {
	proto.Message
	// GetRevision returns 0 until the change is made.
	GetRevision() uint64
	GetPlan() string
}

// PlannedChange is a change made in two calls. The first call returns a plan. The second carries out exactly that plan,
// or does nothing.
type PlannedChange[R planned] struct {
	// Call calls the servers. A dry run only returns a plan. plan is the confirmed plan, or empty.
	Call func(ctx context.Context, dryRun bool, plan string) (R, error)
	// WithHint adds a hint to an error.
	WithHint func(error) error
	// Settled reports whether the plan needs no second call.
	Settled func(R) bool
	// Proposal converts the plan to the proposal shown by Confirm.
	Proposal func(R) *Proposal
}

// Run makes the change as the flags dictate, and returns the last response.
func (p *PlannedChange[R]) Run(ctx context.Context, to *conn.Factory, flags *AskFlags) (R, error) {
	call := func(dryRun bool, plan string) (R, error) {
		ctx, cancel := to.Bounded(ctx)
		defer cancel()
		r, err := p.Call(ctx, dryRun, plan)
		if errors.Is(err, client.ErrOutcomeUnknown) {
			return r, flags.Unknown(err)
		}
		return r, p.WithHint(err)
	}
	if flags.Yes && !flags.DryRun {
		return call(false, "")
	}
	r, err := call(true, "")
	if err != nil || flags.DryRun || p.Settled(r) {
		return r, err
	}
	if _, err := Confirm(ctx, to.IO, p.Proposal(r), flags.YesFlag); err != nil {
		return r, err
	}
	return call(false, r.GetPlan())
}

// PrintPlanned prints a planned change as an object. The revision is 0 after a dry run.
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
