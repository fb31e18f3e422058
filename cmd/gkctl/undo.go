package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type undoOptions struct {
	*app
	change uint64
	drain  drainFlag
	dryRun bool
	yes    yesFlag
	repeat repeatFlag
	output outputFlag
}

func newUndo(a *app) *cobra.Command {
	o := &undoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "undo CHANGE [--drain 2m] [--dry-run] [--yes]",
		Short: "Take one change back",
		Long: `Takes one change back, all of it or nothing: an edit, a move, a pause, a cordon, or an earlier undo. ` + "`gkctl history`" + ` lists the
changes. It is one change, and brings back what was: also a pause or a cordon that was replaced, and with a deleted definition its pause
and what it was to get back in time. What others changed since stays; when a field that the change set was set again since, it is
refused, and says what stands in the way. It shows what it would do, and asks; in a script give --yes.`,
		Example: `  gkctl undo 1234 --dry-run
  gkctl undo 1234 --drain 2m --yes`,
		Args: exactly(1, "the number of a change: gkctl history lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || n == 0 {
				return usagef("%q is no change: `gkctl history` lists them", args[0])
			}
			o.change = n
			return o.run(cmd.Context())
		},
	}
	o.drain.register(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be done; do nothing")
	o.yes.register(cmd)
	o.repeat.register(cmd)
	o.output.register(cmd, formatTable, formatJSON, formatYAML, formatName)
	return cmd
}

func (o *undoOptions) run(ctx context.Context) error {
	drain, err := o.drain.read()
	if err != nil {
		return err
	}
	req := &gatekeeperv1.UndoRequest{
		Change: o.change, Author: o.global.who(), Reason: o.global.reason, Drain: drain, RequestId: o.repeat.requestID(),
	}
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		undo := func(dryRun bool) (*gatekeeperv1.UndoResponse, error) {
			ctx, cancel := o.bounded(ctx)
			defer cancel()
			req.DryRun = dryRun
			r, err := c.Operator().Undo(ctx, req)
			return r, o.refused(err)
		}
		if o.dryRun || !o.yes.yes {
			r, err := undo(true)
			if err != nil {
				return err
			}
			if o.dryRun || r.GetNothing() {
				return o.tell(r)
			}
			if err := o.ask(ctx, r); err != nil {
				return err
			}
			req.Plan = r.GetPlan() // what was agreed to, or nothing
		}
		r, err := undo(false)
		if err != nil {
			return err
		}
		return o.tell(r)
	})
}

// refused says how to go on after a change could not be taken back.
func (o *undoOptions) refused(err error) error {
	if errors.Is(err, client.ErrOutcomeUnknown) {
		return o.repeat.unknown(err)
	}
	e, ok := errors.AsType[*client.StatusError](err)
	if !ok || e.Code != codes.FailedPrecondition && e.Code != codes.Aborted {
		return err
	}
	return withHint(err, "Nothing was undone. `gkctl history --change %d` shows what it changed; `gkctl history NAME` what was changed since.", o.change)
}

// ask shows what would be done, and asks.
func (o *undoOptions) ask(ctx context.Context, r *gatekeeperv1.UndoResponse) error {
	_, err := o.agree(ctx, &proposal{
		what: fmt.Sprintf("this undoes change %d", o.change), question: "Undo it?", declined: "nothing was undone", always: true,
		effects: r.GetEffects(), warnings: r.GetWarnings(), confirm: r.GetConfirm(), notes: r.GetNotes(),
	}, o.yes)
	return err
}

func (o *undoOptions) tell(r *gatekeeperv1.UndoResponse) error {
	switch o.output.String() {
	case formatJSON, formatYAML:
		if r.GetRevision() != 0 {
			return o.printObject(o.output, r)
		}
		data, err := joined(r, struct {
			Revision uint64 `json:"revision,string"`
		}{})
		if err != nil {
			return err
		}
		return o.printObject(o.output, data)
	case formatName:
		return o.printNames(mapped(r.GetEffects(), func(e *gatekeeperv1.Effect) string { return e.GetSemaphore() }))
	}
	if by := r.GetUndoneBy(); by != 0 {
		fmt.Fprintf(o.out, "change %d was undone already, by change %d\n", o.change, by)
		return nil
	}
	for _, n := range r.GetNotes() {
		fmt.Fprintln(o.out, cell(n))
	}
	if r.GetNothing() {
		fmt.Fprintf(o.out, "nothing of change %d is left to undo\n", o.change)
		return nil
	}
	if o.dryRun {
		fmt.Fprintf(o.out, "change %d would be undone; %s (dry run)\n", o.change, stopText(r.GetEffects()))
		return o.tellEffects(r.GetEffects(), r.GetWarnings(), everyLine)
	}
	fmt.Fprintf(o.out, "change %d undone", o.change)
	if names := mapped(r.GetEffects(), func(e *gatekeeperv1.Effect) string { return e.GetSemaphore() }); len(names) > 0 {
		fmt.Fprintf(o.out, " (%s); %s", someNames(names), stopText(r.GetEffects()))
	}
	fmt.Fprintln(o.out)
	o.undoWith(r.GetRevision())
	return nil
}
