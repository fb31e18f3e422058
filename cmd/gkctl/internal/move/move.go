package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type moveOptions struct {
	f        *conn.Factory
	from, to string
	chosen   chosen
	drain    change.DrainFlag
	dryRun   bool
	yes      change.YesFlag
	force    bool
	noWait   bool
	output   ui.Output
}

func newMove(f *conn.Factory, run func(*moveOptions, context.Context) error) *cobra.Command {
	o := &moveOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "move --from GROUP --to GROUP [NAME|GLOB...|-l SELECTOR|--all] [--drain 2m] [--dry-run] [--yes]",
		Short:   "Move tasks from one group to another in one step",
		Long: `Changes definitions that admit the --from group to admit the --to group instead. By default it changes all of these definitions;
names, globs and labels narrow the selection. Other groups remain admitted. gkctl shows the effect, asks for confirmation, and edits all of the
definitions in one step, or none. If one of them was changed concurrently, it changes nothing. Then it shows old holders stopping and new holders
getting permits, until the last old holder has stopped, and lists the holders that stopped too late. A slot is granted to a new holder only after the
old holder has released it, or at the old holder's deadline.

--drain is how long old holders may continue; without it, their next refresh is refused. A task whose pattern is not a plain list of
groups is listed but not moved, and gkctl exits with 1. It also exits with 1 if a slot is held for an operator (on_expiry: hold), because
a move does not free it. --force is needed if no caller has ever been seen in the new group, or if a task would admit no known caller.
--timeout, if given, also limits how long gkctl follows the progress. The move is not reverted when that time is up.`,
		Example: `  gkctl move --from prod --to dr-site --drain 2m --dry-run
  gkctl move --from prod --to dr-site 'nightly-*' --drain 2m --reason "prod's storage is failing"
  gkctl move --from prod --to dr-site -l team=data --yes -o json`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.chosen.names = args
			return run(o, cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.from, "from", "", "group to move away from")
	flags.StringVar(&o.to, "to", "", "group to move to")
	o.chosen.register(cmd)
	o.drain.Register(cmd)
	flags.BoolVar(&o.dryRun, "dry-run", false, "show the moves and their effects without changing anything")
	o.yes.Register(cmd)
	flags.BoolVar(&o.force, "force", false, "move even if the group has no known callers or a task would admit no known caller")
	flags.BoolVar(&o.noWait, "no-wait", false, "do not follow the progress")
	f.CompleteGroups(cmd, "from")
	f.CompleteGroups(cmd, "to")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *moveOptions) request() (*gatekeeperv1.MoveRequest, error) {
	switch {
	case o.from == "" || o.to == "":
		return nil, ui.Usagef("specify --from and --to: the old group and the new group")
	case o.from == o.to:
		return nil, ui.Usagef("--from and --to are both %q", o.from)
	}
	if len(o.chosen.names) == 0 && o.chosen.labels == "" {
		o.chosen.all = true // all definitions that admit the old group; the confirmation shows which
	}
	selector, err := o.chosen.selector()
	if err != nil {
		return nil, err
	}
	drain, err := o.drain.Read()
	return &gatekeeperv1.MoveRequest{
		FromGroup: o.from, ToGroup: o.to, Selector: selector, Drain: drain, Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, DryRun: true,
	}, err
}

func (o *moveOptions) run(ctx context.Context) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		planCtx, cancel := o.f.Bounded(ctx)
		defer cancel()
		moves, err := c.Operator().Move(planCtx, req)
		switch {
		case err != nil:
			return err
		case moves.GetMistake() != "" && o.notAllMoved(moves) == nil:
			return &ui.CodeError{
				Code: ui.ExitNoSuch, Err: errors.New(moves.GetMistake()), Hint: "Nothing was moved. `gkctl get` shows which groups each definition admits.",
			}
		}
		refused := o.refusal(moves)
		switch {
		case o.dryRun: // with the same exit code as the move itself
			return errors.Join(o.printPlan(moves, refused), cmp.Or(refused, o.notAllMoved(moves)))
		case len(moves.GetMoves()) == 0:
			return o.printNoMoves(moves)
		case refused != nil:
			return refused
		}
		if err := o.confirm(ctx, moves); err != nil {
			return err
		}
		return o.makeMove(ctx, c, moves, req)
	})
}

// printPlan prints the result of a dry run.
func (o *moveOptions) printPlan(moves *gatekeeperv1.MoveResponse, refused error) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintAs(o.output, moves, words.Map(moves.GetMoves(), (*gatekeeperv1.Moved).GetSemaphore))
	}
	if len(moves.GetMoves()) == 0 {
		o.noteNotMoved(moves)
		o.noteNoMoves(moves)
		return nil
	}
	if refused != nil {
		fmt.Fprint(o.f.Out, "needs --force: ")
	}
	fmt.Fprintf(o.f.Out, "%s would move from %s to %s; %s (dry run)\n", tasksText(moves.GetMoves()), o.from, o.to, change.StopText(moves.GetEffects()))
	if err := change.PrintEffects(o.f.IO, moves.GetEffects(), warningsOf(moves), change.AllLines); err != nil {
		return err
	}
	o.noteNotMoved(moves)
	return nil
}

// printNoMoves prints the result of a move that has nothing to do.
func (o *moveOptions) printNoMoves(moves *gatekeeperv1.MoveResponse) error {
	o.noteNotMoved(moves)
	report := newMoveReport(o.from, o.to, moves)
	if o.output.Is(ui.Table) {
		o.noteNoMoves(moves)
	} else if err := o.printReport(report, nil); err != nil {
		return err
	}
	return o.notAllMoved(moves)
}

// noteNoMoves prints that the chosen tasks are already in the new group. Tasks that cannot be moved have already been
// listed.
func (o *moveOptions) noteNoMoves(moves *gatekeeperv1.MoveResponse) {
	if o.notAllMoved(moves) == nil {
		o.f.Logf("Nothing to move: every chosen semaphore that admits %s already admits %s.", o.from, o.to)
	}
}

// tasksText counts tasks and pools. A pool is not a task: it moves because the callers that share it leave the old
// group with their tasks, so it is counted separately.
func tasksText(moves []*gatekeeperv1.Moved) string {
	pools := 0
	for _, m := range moves {
		if m.GetPermits() > 1 {
			pools++
		}
	}
	var parts []string
	if tasks := len(moves) - pools; tasks > 0 {
		parts = append(parts, words.Plural(tasks, "task", "tasks"))
	}
	if pools > 0 {
		parts = append(parts, words.Plural(pools, "pool", "pools"))
	}
	return strings.Join(parts, " and ")
}

func (o *moveOptions) noteNotMoved(moves *gatekeeperv1.MoveResponse) {
	for _, text := range notMovedTexts(moves) {
		o.f.Logf("%s", text)
	}
}

func notMovedTexts(moves *gatekeeperv1.MoveResponse) []string {
	return words.Map(moves.GetNotMoved(), func(n *gatekeeperv1.NotMoved) string {
		return fmt.Sprintf("%s will not be moved: %s", n.GetSemaphore(), n.GetWhy())
	})
}

// warningsOf returns the warnings about the whole move and the reasons why it may be a mistake.
func warningsOf(moves *gatekeeperv1.MoveResponse) []string {
	return slices.Concat(moves.GetWarnings(), moves.GetDoubts())
}

// notAllMoved returns an error if tasks that should have been moved were not. Table output has already listed them.
func (o *moveOptions) notAllMoved(moves *gatekeeperv1.MoveResponse) error {
	var names []string
	for _, n := range moves.GetNotMoved() {
		if n.GetProblem() {
			names = append(names, n.GetSemaphore())
		}
	}
	if len(names) == 0 {
		return nil
	}
	err := fmt.Errorf("not moved: %s", words.SomeNames(names))
	if o.output.Is(ui.Table) {
		err = errors.New(words.Plural(len(names), "task cannot be moved and must be edited by hand", "tasks cannot be moved and must be edited by hand"))
	}
	return ui.WithHint(err, "`gkctl set NAME group_pattern=...` sets a pattern.")
}

// refusal returns an error if the servers require --force for a move.
func (o *moveOptions) refusal(moves *gatekeeperv1.MoveResponse) error {
	if o.force || len(moves.GetDoubts()) == 0 {
		return nil
	}
	hint := fmt.Sprintf("Is %q the right group? --force moves them anyway.", o.to)
	if !o.dryRun {
		hint += " --dry-run shows details."
	}
	return &ui.CodeError{
		Code: ui.ExitFailure,
		Err:  errors.New("nothing was moved: " + strings.Join(moves.GetDoubts(), "; ")),
		Hint: hint,
	}
}

// confirm shows the effects of the move and asks for confirmation.
func (o *moveOptions) confirm(ctx context.Context, moves *gatekeeperv1.MoveResponse) error {
	asked, err := change.Confirm(ctx, o.f.IO, &change.Proposal{
		What:     fmt.Sprintf("this moves %s from %s to %s", tasksText(moves.GetMoves()), o.from, o.to),
		Question: "Move them?", Declined: "nothing was moved", Always: true,
		Effects: moves.GetEffects(), Warnings: warningsOf(moves), Confirm: moves.GetConfirm(), Notes: notMovedTexts(moves),
	}, o.yes)
	if err == nil && !asked {
		for _, text := range change.EffectWarnings(moves.GetEffects(), warningsOf(moves), change.MaxShown) {
			o.f.Logf("warning: %s", words.Cell(text))
		}
	}
	return err
}

// makeMove makes the move and follows it.
func (o *moveOptions) makeMove(ctx context.Context, c *client.Client, moves *gatekeeperv1.MoveResponse, req *gatekeeperv1.MoveRequest) error {
	h := newHandovers(moves, o.from, o.drain.Drain)
	watchCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var events <-chan update
	if !o.noWait {
		// Start the watch at the plan's revision: callers granted permits between the plan and the edit are also old
		// holders.
		events = o.watch(watchCtx, c, h.names, moves.GetRevision()+1)
		defer func() {
			cancel()
			for range events { // the channel is closed when the watch has ended
			}
		}()
	}
	revision, err := o.sendMove(ctx, c, moves, req)
	if err != nil {
		return err
	}
	h.begin(revision, time.Now())
	if !o.noWait {
		err = o.follow(ctx, c, h, events)
	}
	report := newMoveReport(o.from, o.to, moves)
	report.Drain = protoDuration(req.GetDrain())
	report.add(h, !o.noWait)
	return errors.Join(o.printReport(report, h), err, o.notAllMoved(moves), h.heldError())
}

// sendMove makes exactly the move that was shown. If the outcome is unknown, the error explains how to check.
func (o *moveOptions) sendMove(ctx context.Context, c *client.Client, shown *gatekeeperv1.MoveResponse, req *gatekeeperv1.MoveRequest) (uint64, error) {
	req.DryRun, req.Expected, req.RequestId = false, shown.GetDigest(), client.NewRequestID()
	sendCtx, cancel := o.f.Bounded(ctx)
	defer cancel()
	r, err := c.Operator().Move(sendCtx, req)
	if errors.Is(err, client.ErrOutcomeUnknown) {
		return 0, &ui.CodeError{Code: ui.ExitUnreachable, Err: err, Hint: "Either the whole move was made or none of it. `gkctl history -n 1 " +
			words.ShellWord(shown.GetMoves()[0].GetSemaphore()) + "` shows which. Running the same move again moves anything that was not moved."}
	}
	if status.Code(err) == codes.Aborted {
		err = ui.WithHint(err, "To move them anyway, run the command again.")
	}
	return r.GetChange(), err
}
