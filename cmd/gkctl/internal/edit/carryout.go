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

// editing holds the flags shared by all commands that edit definitions, and implements their common steps.
type editing struct {
	f      *conn.Factory
	output ui.Output
	drain  change.DrainFlag
	dryRun bool
	change.YesFlag
}

func (o *editing) register(cmd *cobra.Command) {
	o.drain.Register(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the changes and their effect without changing anything")
	o.YesFlag.Register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
}

// check rejects invalid flags before gkctl contacts the servers or asks for confirmation.
func (o *editing) check() error {
	_, err := o.drain.Read()
	return err
}

// carryOut previews a plan, asks for confirmation where needed, makes the change, and prints the result. A dry run
// stops after the preview. Each edit carries the version seen by the preview, so the servers refuse it after a
// concurrent change. staleHint is the hint for that error.
func (o *editing) carryOut(ctx context.Context, c *client.Client, plan []step, end change.Ending, staleHint string) error {
	drain, err := o.drain.Read()
	if err != nil {
		return err
	}
	b, err := newBatch(o.f, c, plan, drain, end, staleHint)
	if err != nil {
		return err
	}
	out := applied{Items: []appliedItem{}, DryRun: o.dryRun, end: end}
	previewCtx, cancel := o.f.Bounded(ctx)
	defer cancel()
	if out.preview, err = b.preview(previewCtx); err != nil {
		return err
	}
	if !o.dryRun {
		if out.asked, err = change.Confirm(ctx, o.f.IO, proposed(plan, out.preview), o.YesFlag); err != nil {
			return err
		}
		sendCtx, cancel := o.f.Bounded(ctx)
		defer cancel()
		if out.Revision, err = b.send(sendCtx); err != nil {
			return err
		}
	}
	return o.print(plan, &out)
}

// proposed converts a plan to the proposal shown when asking for confirmation.
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
		What: "this " + strings.Join(parts, " and "), Question: "Continue?", Declined: "nothing was changed",
		Effects: r.GetEffects(), Warnings: r.GetWarnings(), Confirm: r.GetConfirm(),
	}
}

const (
	// maxEdits is the maximum number of edits in one batch.
	maxEdits = 10_000
	// progressThreshold is the minimum number of edits for which progress is shown.
	progressThreshold = 100
)

// batch is a plan as an API request.
type batch struct {
	f         *conn.Factory
	c         *client.Client
	request   *gatekeeperv1.BatchEditRequest // nil if there is nothing to change
	edited    []*step                        // the step for each edit in the request
	staleHint string                         // the hint after a version conflict
}

func newBatch(f *conn.Factory, c *client.Client, plan []step, drain *durationpb.Duration, end change.Ending, staleHint string) (*batch, error) {
	b := &batch{f: f, c: c, staleHint: staleHint}
	var edits []*gatekeeperv1.Edit
	for i := range plan {
		if e := plan[i].edit(); e != nil {
			edits = append(edits, e)
			b.edited = append(b.edited, &plan[i])
		}
	}
	switch {
	case len(edits) == 0:
		return b, nil
	case len(edits) > maxEdits:
		return nil, ui.Usagef("cannot send %d changes in one batch, which can hold at most %d: split them", len(edits), maxEdits)
	}
	b.request = &gatekeeperv1.BatchEditRequest{
		Edits: edits, Author: f.Global.ChangeAuthor(), Reason: f.Global.Reason, RequestId: client.NewRequestID(), Drain: drain,
	}
	switch {
	case end.Duration != nil:
		b.request.End = &gatekeeperv1.BatchEditRequest_Duration{Duration: end.Duration}
	case end.Until != nil:
		b.request.End = &gatekeeperv1.BatchEditRequest_Until{Until: end.Until}
	}
	return b, nil
}

// preview queries the effects of the batch. It returns nil if there is nothing to change.
func (b *batch) preview(ctx context.Context) (*gatekeeperv1.PreviewResponse, error) {
	if b.request == nil {
		return nil, nil
	}
	r, err := b.c.Operator().Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Edits{Edits: b.request}})
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		inBatch := *e
		inBatch.Field = strings.TrimPrefix(e.Field, "edits.")
		err = &inBatch
	}
	return r, b.refusal(ctx, err)
}

// send makes the change, all or nothing. It returns the change's revision, or 0 if there was nothing to change.
func (b *batch) send(ctx context.Context) (uint64, error) {
	if b.request == nil {
		return 0, nil
	}
	done := func() {}
	if n := len(b.request.GetEdits()); n >= progressThreshold {
		done = b.f.Progress("sending %d changes in one batch ...", n)
	}
	r, err := b.c.Definitions().BatchEdit(ctx, b.request)
	done()
	for _, text := range r.GetWarnings() {
		b.f.Logf("warning: %s", words.Cell(text))
	}
	return r.GetRevision(), b.refusal(ctx, err)
}

// refusal rewords an error to say which edit the servers refused and why. It returns nil for a nil error.
func (b *batch) refusal(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		return invalidField(b.edited, e)
	}
	index := -1
	if e, ok := errors.AsType[*client.StaleVersionError](err); ok {
		index = e.Index
	} else if e, ok := errors.AsType[*client.AlreadyExistsError](err); ok {
		index = e.Index
	} else if e, ok := errors.AsType[*client.NoSuchDefinitionError](err); ok {
		index = e.Index
	}
	if index >= 0 && index < len(b.edited) {
		return stale(ctx, b.c, b.edited[index], err, b.staleHint)
	}
	if e, ok := errors.AsType[*client.StatusError](err); ok && e.Code == codes.ResourceExhausted && e.Reason == "TOO_LARGE" {
		return ui.WithHint(err, "Nothing was changed. Split the file: a batch must fit into one message.")
	}
	return err
}

// invalidField adds the location of an invalid field: the definition, and the line if it came from a file.
func invalidField(edited []*step, e *client.InvalidFieldError) error {
	// The path looks like edits[3].create.permits.
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

// applied is the result in JSON output.
type applied struct {
	Items    []appliedItem `json:"items"`
	Revision uint64        `json:"revision,string"`
	DryRun   bool          `json:"dry_run,omitempty"`
	// Effects and Confirm hold the values from the API's PreviewResponse. They are only set after a dry run.
	Effects []ui.Message `json:"effects,omitempty"`
	Confirm []ui.Message `json:"confirm,omitempty"`
	// Warnings holds the warnings from the API's PreviewResponse after a dry run, and the effects' warnings after a
	// change.
	Warnings []string `json:"warnings,omitempty"`

	end change.Ending
	// preview is the preview made just before the change. asked reports whether it was shown to the user.
	preview *gatekeeperv1.PreviewResponse
	asked   bool
}

type appliedItem struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	// LivePermits is the number of permits that still occupy slots of a deleted definition.
	LivePermits uint32 `json:"live_permits,omitempty"`
	// Stopped lists the holders that must stop because of the change, according to the preview made just before. It is
	// empty after a dry run.
	Stopped []stoppedHolder `json:"stopped,omitempty"`
}

// stoppedHolder is a holder that must stop.
type stoppedHolder struct {
	words.Holder
	// FreeWithin is the time within which the holder's slot becomes free.
	FreeWithin string `json:"free_within"`
}

// stoppedHolders returns the holders that must stop because of a change, keyed by semaphore.
func stoppedHolders(r *gatekeeperv1.PreviewResponse) map[string][]stoppedHolder {
	out := make(map[string][]stoppedHolder)
	for _, e := range r.GetEffects() {
		for _, s := range e.GetStopped() {
			out[e.GetSemaphore()] = append(out[e.GetSemaphore()],
				stoppedHolder{words.HolderOf(s.GetPermit()), words.ProtoSeconds(s.GetFreeWithin().AsDuration())})
		}
	}
	return out
}

// print prints the result of a plan, one line per definition. After a dry run it adds the effects.
func (o *editing) print(plan []step, out *applied) error {
	f := o.f
	count, stopped := make(map[string]int), stoppedHolders(out.preview)
	for i := range plan {
		item := appliedItem{Name: plan[i].name, Action: plan[i].action()}
		if item.Action == actionDeleted {
			item.LivePermits = plan[i].before.GetHolders()
		}
		if !out.DryRun {
			item.Stopped = stopped[item.Name]
		}
		count[item.Action]++
		out.Items = append(out.Items, item)
	}
	if !o.output.Is(ui.Table) {
		out.addPreview()
		return f.PrintAs(o.output, out, words.Map(out.Items, func(i appliedItem) string { return i.Name }))
	}
	dry := ""
	if out.DryRun {
		dry = " (dry run)"
	}
	for _, item := range out.Items {
		more := ""
		switch n := len(stopped[item.Name]); {
		case item.Action == actionReplaced:
			more = out.end.Text()
		case item.Action == actionDeleted && n > 0:
			more = ", " + words.Plural(n, "holder must stop", "holders must stop")
		}
		fmt.Fprintf(f.Out, "%s %s%s%s\n", item.Name, item.Action, more, dry)
	}
	if !out.DryRun {
		if err := change.PrintStopped(f.Out, out.preview.GetEffects(), change.MaxShown); err != nil {
			return err
		}
	}
	if len(out.Items) > 1 && f.ErrTTY {
		f.Logf("%d created, %d replaced, %d deleted, %d unchanged%s", count[actionCreated], count[actionReplaced], count[actionDeleted], count[actionUnchanged], dry)
	}
	change.PrintUndoCommand(f.IO, out.Revision)
	if out.DryRun {
		return change.PrintPreview(f.IO, out.preview)
	}
	if !out.asked {
		for _, text := range change.EffectWarnings(out.preview.GetEffects(), nil, change.MaxShown) {
			f.Logf("warning: %s", words.Cell(text))
		}
	}
	return nil
}

// addPreview fills in the fields that come from the preview.
func (out *applied) addPreview() {
	if !out.DryRun {
		out.Warnings = change.EffectWarnings(out.preview.GetEffects(), nil, change.AllLines)
		return
	}
	out.Effects, out.Confirm = ui.Messages(out.preview.GetEffects()), ui.Messages(out.preview.GetConfirm())
	out.Warnings = out.preview.GetWarnings()
}
