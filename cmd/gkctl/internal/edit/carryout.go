package edit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// batchFlags are those of every command that edits definitions.
type batchFlags struct {
	drain  change.DrainFlag
	dryRun bool
	change.YesFlag
}

func (f *batchFlags) register(cmd *cobra.Command) {
	f.drain.Register(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and what that would do; do nothing")
	f.YesFlag.Register(cmd)
}

// check refuses flags that contradict each other before gkctl asks the servers, or a person.
func (f *batchFlags) check() error {
	_, err := f.drain.Read()
	return err
}

// carryOut previews a plan, asks where that is needed, makes the change, and prints what was done. A dry run stops after the preview.
// Each edit carries the version that the preview saw, so the servers refuse the change if somebody edits a definition meanwhile.
func carryOut(
	ctx context.Context, f *conn.Factory, c *client.Client, plan []step, flags batchFlags, end change.Ending, output ui.Output, again string,
) error {
	drain, err := flags.drain.Read()
	if err != nil {
		return err
	}
	out := applied{Items: []appliedItem{}, DryRun: flags.dryRun, end: end}
	looking, cancel := f.Bounded(ctx)
	defer cancel()
	if out.preview, err = preview(looking, f, c, plan, drain, end, again); err != nil {
		return err
	}
	if !flags.dryRun {
		if out.asked, err = change.Agree(ctx, f.IO, proposed(plan, out.preview), flags.YesFlag); err != nil {
			return err
		}
		sending, cancel := f.Bounded(ctx)
		defer cancel()
		if out.Revision, err = send(sending, f, c, plan, drain, end, again); err != nil {
			return err
		}
	}
	return printApplied(f, output, plan, &out)
}

// proposed is a plan as a person is asked about it.
func proposed(plan []step, r *gatekeeperv1.PreviewResponse) *change.Proposal {
	names := make(map[string][]string)
	for i := range plan {
		names[plan[i].action()] = append(names[plan[i].action()], plan[i].name)
	}
	var parts []string
	for _, x := range []struct{ action, does string }{
		{actionCreated, "creates"}, {actionReplaced, "replaces"}, {actionDeleted, "deletes"},
	} {
		if some := names[x.action]; len(some) > 0 {
			parts = append(parts, x.does+" "+words.SomeNames(some))
		}
	}
	return &change.Proposal{
		What: "this " + strings.Join(parts, " and "), Question: "Go on?", Declined: "nothing was changed",
		Effects: r.GetEffects(), Warnings: r.GetWarnings(), Confirm: r.GetConfirm(),
	}
}

// preview asks the servers what a plan would do. It is nil when there is nothing to do.
func preview(
	ctx context.Context, f *conn.Factory, c *client.Client, plan []step, drain *durationpb.Duration, end change.Ending, again string,
) (*gatekeeperv1.PreviewResponse, error) {
	batch, edited, err := batch(f, plan, drain, end)
	if err != nil || batch == nil {
		return nil, err
	}
	r, err := c.Operator().Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Edits{Edits: batch}})
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		inBatch := *e
		inBatch.Field = strings.TrimPrefix(e.Field, "edits.")
		err = &inBatch
	}
	if err != nil {
		return nil, editRefusal(ctx, f, c, edited, err, again)
	}
	return r, nil
}

const (
	// maxEdits is the most edits of one batch.
	maxEdits = 10_000
	// many is how many edits are worth a line of progress.
	many = 100
)

// batch is a plan as the API takes it, and the changes that its edits are of; nil when there is nothing to do.
func batch(f *conn.Factory, plan []step, drain *durationpb.Duration, end change.Ending) (*gatekeeperv1.BatchEditRequest, []*step, error) {
	var edits []*gatekeeperv1.Edit
	var edited []*step
	for i := range plan {
		if e := plan[i].edit(); e != nil {
			edits = append(edits, e)
			edited = append(edited, &plan[i])
		}
	}
	switch {
	case len(edits) == 0:
		return nil, nil, nil
	case len(edits) > maxEdits:
		return nil, nil, ui.Usagef("%d changes are more than one batch holds, which is %d: split them", len(edits), maxEdits)
	}
	r := &gatekeeperv1.BatchEditRequest{
		Edits: edits, Author: f.Global.Who(), Reason: f.Global.Reason, RequestId: client.NewRequestID(), Drain: drain,
	}
	switch {
	case end.Lasts != nil:
		r.End = &gatekeeperv1.BatchEditRequest_Lasts{Lasts: end.Lasts}
	case end.Until != nil:
		r.End = &gatekeeperv1.BatchEditRequest_Until{Until: end.Until}
	}
	return r, edited, nil
}

// send applies a plan as one batch: all of it, or nothing. It returns the batch's revision, 0 when there was nothing to do.
func send(ctx context.Context, f *conn.Factory, c *client.Client, plan []step, drain *durationpb.Duration, end change.Ending, again string) (uint64, error) {
	batch, edited, err := batch(f, plan, drain, end)
	if err != nil || batch == nil {
		return 0, err
	}
	done := func() {}
	if len(batch.GetEdits()) >= many {
		done = f.Progress("sending %d changes in one batch ...", len(batch.GetEdits()))
	}
	r, err := c.Definitions().BatchEdit(ctx, batch)
	if done(); err == nil {
		for _, text := range r.GetWarnings() {
			f.Say("warning: %s", words.Cell(text))
		}
		return r.GetRevision(), nil
	}
	return 0, editRefusal(ctx, f, c, edited, err, again)
}

// editRefusal says which change was at fault, and what about it.
func editRefusal(ctx context.Context, f *conn.Factory, c *client.Client, edited []*step, err error, again string) error {
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		return invalidField(edited, e)
	}
	index := -1
	if e, ok := errors.AsType[*client.StaleVersionError](err); ok {
		index = e.Index
	} else if e, ok := errors.AsType[*client.AlreadyExistsError](err); ok {
		index = e.Index
	} else if e, ok := errors.AsType[*client.NoSuchDefinitionError](err); ok {
		index = e.Index
	}
	if index >= 0 && index < len(edited) {
		return stale(ctx, c, edited[index], err, again)
	}
	if e, ok := errors.AsType[*client.StatusError](err); ok && e.Code == codes.ResourceExhausted && e.Reason == "TOO_LARGE" {
		return ui.WithHint(err, "Nothing was changed. Split the file: one batch is one message.")
	}
	return err
}

// invalidField says where a bad field was written: at its line of the file, if it was in one.
func invalidField(edited []*step, e *client.InvalidFieldError) error {
	// The path is as in edits[3].create.permits.
	rest, ok := strings.CutPrefix(e.Field, "edits[")
	number, rest, ok2 := strings.Cut(rest, "]")
	index, err := strconv.Atoi(number)
	if !ok || !ok2 || err != nil || index >= len(edited) {
		return e
	}
	ch := edited[index]
	_, field, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".")
	key, _, _ := strings.Cut(field, ".")
	key, _, _ = strings.Cut(key, "[")
	value := ""
	if e.Value != "" && field != "name" {
		value = strconv.Quote(e.Value) + " "
	}
	text := fmt.Sprintf("%q: %s %s%s", ch.name, field, value, e.Rule)
	if ch.file == nil {
		return &ui.CodeError{Code: ui.ExitBadInput, Err: errors.New(text), Hint: "Nothing was changed."}
	}
	return &ui.CodeError{Code: ui.ExitBadInput, Err: ch.file.Errorf(ch.entry, key, "%s", text), Hint: "Nothing was changed."}
}
