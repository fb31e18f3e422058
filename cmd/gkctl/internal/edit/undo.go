package edit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type undoOptions struct {
	f                      *conn.Factory
	changes                []uint64
	partial, skipConflicts bool
	drain                  change.DrainFlag
	change.AskFlags
	output ui.Output
}

func newUndo(f *conn.Factory, run func(*undoOptions, context.Context) error) *cobra.Command {
	o := &undoOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "undo CHANGE... [--partial] [--skip-conflicts] [--drain 2m] [--dry-run] [--yes]",
		Short:   "Undo changes",
		Long: `Undoes changes atomically: edits, moves, pauses, cordons, forgotten firings, or earlier undos. ` + "`gkctl history`" + ` lists
the changes. An undo is a single change that restores the previous state. That includes a replaced pause or cordon and, for a deleted
definition, its pause and its temporary values (--for). Later changes to other fields are kept.

Nothing is undone if the same field has been changed again since; --skip-conflicts leaves such semaphores as they are and undoes the rest.
Undo also fails if the journal no longer has part of a change; --partial undoes the rest.

It shows the effect and asks for confirmation; in a script, pass --yes.`,
		Example: `  gkctl undo 1234 --dry-run
  gkctl undo 1234 --drain 2m --yes
  gkctl undo 1234 1235 1236 --skip-conflicts`,
		Args: ui.AtLeastOne("change numbers (gkctl history lists them)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				n, err := strconv.ParseUint(arg, 10, 64)
				if err != nil || n == 0 {
					return ui.Usagef("%q is not a change number: `gkctl history` lists the changes", arg)
				}
				o.changes = append(o.changes, n)
			}
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.partial, "partial", false, "undo the parts of the changes that are still in the journal")
	cmd.Flags().BoolVar(&o.skipConflicts, "skip-conflicts", false, "skip semaphores that have been changed since")
	o.drain.Register(cmd)
	o.AskFlags.Register(cmd, "show the effect")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *undoOptions) run(ctx context.Context) error {
	drain, err := o.drain.Read()
	if err != nil {
		return err
	}
	req := &gatekeeperv1.UndoRequest{
		Change: o.changes[0], Also: o.changes[1:], Partial: o.partial, SkipConflicts: o.skipConflicts,
		Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, Drain: drain, RequestId: o.RequestID(),
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		undo := change.PlannedChange[*gatekeeperv1.UndoResponse]{
			Call: func(ctx context.Context, dryRun bool, plan string) (*gatekeeperv1.UndoResponse, error) {
				req.DryRun, req.Plan = dryRun, plan
				return c.Operator().Undo(ctx, req)
			},
			WithHint: o.withHint, Settled: (*gatekeeperv1.UndoResponse).GetNothing, Proposal: o.proposal,
		}
		r, err := undo.Run(ctx, o.f, &o.AskFlags)
		if err != nil {
			return err
		}
		return o.print(r)
	})
}

// withHint adds a hint to an error from undo.
func (o *undoOptions) withHint(err error) error {
	e, ok := errors.AsType[*client.StatusError](err)
	switch {
	case !ok || e.Code != codes.FailedPrecondition && e.Code != codes.Aborted:
		return err
	case e.Reason == "UNDO_INCOMPLETE":
		return ui.WithHint(err, "Nothing was undone. `--partial` undoes the rest; `gkctl history --change %d` shows it.", o.changes[0])
	case e.Reason == "UNDO_CONFLICT" && !o.skipConflicts:
		return ui.WithHint(err, "Nothing was undone. `gkctl history --change %d` shows what it changed, and `gkctl history NAME` shows what has changed since. "+
			"`--skip-conflicts` leaves those semaphores as they are and undoes the rest.", o.changes[0])
	}
	return ui.WithHint(err, "Nothing was undone. `gkctl history --change %d` shows what it changed, and `gkctl history NAME` shows what has changed since.", o.changes[0])
}

// printNotUndone prints the parts of the changes that were not undone.
func (o *undoOptions) printNotUndone(r *gatekeeperv1.UndoResponse) {
	for _, m := range r.GetMissing() {
		fmt.Fprintf(o.f.Out, "not undone: %s\n", words.Cell(words.MissingText(m)))
	}
	for _, s := range r.GetSkipped() {
		fmt.Fprintf(o.f.Out, "not undone: %s\n", words.Cell(s))
	}
}

// proposal returns the proposal shown when asking for confirmation.
func (o *undoOptions) proposal(r *gatekeeperv1.UndoResponse) *change.Proposal {
	return &change.Proposal{
		What: "this undoes " + words.ChangesText(o.changes), Question: "Undo it?", Declined: "nothing was undone", Always: true,
		Effects: r.GetEffects(), Warnings: r.GetWarnings(), Confirm: r.GetConfirm(), Notes: slices.Concat(r.GetNotes(), words.Map(r.GetMissing(), words.MissingText), r.GetSkipped()),
	}
}

func (o *undoOptions) print(r *gatekeeperv1.UndoResponse) error {
	switch o.output.String() {
	case ui.JSON, ui.YAML:
		return change.PrintPlanned(o.f.IO, o.output, r)
	case ui.Name:
		return o.f.PrintNames(words.Map(r.GetEffects(), func(e *gatekeeperv1.Effect) string { return e.GetSemaphore() }))
	}
	if by := r.GetUndoneBy(); by != 0 {
		verb := "was"
		if len(o.changes) > 1 {
			verb = "were"
		}
		fmt.Fprintf(o.f.Out, "%s %s already undone by change %d\n", words.ChangesText(o.changes), verb, by)
		return nil
	}
	for _, n := range r.GetNotes() {
		fmt.Fprintln(o.f.Out, words.Cell(n))
	}
	o.printNotUndone(r)
	if r.GetNothing() {
		fmt.Fprintf(o.f.Out, "there is nothing left to undo in %s\n", words.ChangesText(o.changes))
		return nil
	}
	if o.DryRun {
		fmt.Fprintf(o.f.Out, "%s would be undone; %s (dry run)\n", words.ChangesText(o.changes), change.StopText(r.GetEffects()))
		return change.PrintEffects(o.f.IO, r.GetEffects(), r.GetWarnings(), change.AllLines)
	}
	fmt.Fprintf(o.f.Out, "%s undone", words.ChangesText(o.changes))
	if names := words.Map(r.GetEffects(), func(e *gatekeeperv1.Effect) string { return e.GetSemaphore() }); len(names) > 0 {
		fmt.Fprintf(o.f.Out, " (%s); %s", words.SomeNames(names), change.StopText(r.GetEffects()))
	}
	fmt.Fprintln(o.f.Out)
	change.PrintUndoCommand(o.f.IO, r.GetRevision())
	return nil
}
