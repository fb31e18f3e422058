package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type explainOptions struct {
	f *conn.Factory
	conn.IdentityFlags
	output ui.Output
	names  []string
	labels string
	weight uint32
	firing string
	// weightSet reports whether --weight was given.
	weightSet bool
}

func newExplain(f *conn.Factory, run func(*explainOptions, context.Context) error) *cobra.Command {
	o := &explainOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "explain NAME|GLOB...|-l SELECTOR [--group GROUP] [--acquirer ACQUIRER]",
		Short:   "Show step by step how a request would be decided, and why; changes nothing",
		Long: `Shows step by step how the servers would answer a request for a permit, and why. With a glob, labels or several names it explains each
semaphore in turn.

Without --group, --acquirer and --holder-id it explains the request of each caller that was denied in the last 7 days for a reason that waiting won't
fix, so you need not know where the job runs. For a single name it also shows the last holder. If no caller was denied, it
explains a request from the last holder, or from this host if there was none. The leader keeps denials in memory: a new leader has
only the denials recorded since it became the leader.

Below the explanation it lists the waiters in the queue, the jobs with tasks waiting for a worker, and why they are waiting. With -o json, one name
with a caller prints one object; everything else prints {"items": [...]}.`,
		Example: `  gkctl explain nightly-export
  gkctl explain nightly-export --group prod --acquirer app2
  gkctl explain -l team=data --group prod --acquirer app2
  gkctl explain builds --weight 4 --firing nightly@2026-01-31T02:00:00Z`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && o.labels == "" {
				return ui.Usagef("specify names, globs or -l")
			}
			o.names, o.weightSet = args, cmd.Flags().Changed("weight")
			return run(o, cmd.Context())
		},
	}
	o.IdentityFlags.Register(cmd)
	ui.RegisterSelector(cmd, &o.labels, "only definitions with these labels")
	cmd.Flags().Uint32Var(&o.weight, "weight", 1, "requested weight")
	cmd.Flags().StringVar(&o.firing, "firing", "", "requested firing, as NAME or NAME@TIME")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *explainOptions) run(ctx context.Context) error {
	req := &gatekeeperv1.ExplainRequest{Weight: o.weight}
	var err error
	if o.firing != "" {
		if req.Firing, err = ui.FiringArg(o.firing); err != nil {
			return err
		}
	}
	if req.Identity, err = o.Identity(&o.f.Global); err != nil {
		return err
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		names, err := o.chosen(ctx, c)
		if err != nil {
			return err
		}
		questions, err := o.questions(ctx, c, names, req)
		if err != nil {
			return err
		}
		return o.answer(ctx, c, questions)
	})
}

// singleName reports whether the arguments are a single name and not a glob.
func (o *explainOptions) singleName() bool {
	return len(o.names) == 1 && !lookup.IsGlob(o.names[0]) && o.labels == ""
}

// hasCaller reports whether --group, --acquirer or --holder-id was given.
func (o *explainOptions) hasCaller() bool {
	return o.Group != "" || o.Acquirer != "" || o.HolderID != ""
}

// chosen returns the names of the semaphores to explain.
func (o *explainOptions) chosen(ctx context.Context, c *client.Client) ([]string, error) {
	if o.singleName() {
		return o.names, nil // explain returns the error for a missing definition
	}
	records, err := lookup.Chosen(ctx, c, o.names, o.labels)
	if err != nil {
		return nil, err
	}
	return words.Map(records, func(r *gatekeeperv1.DefinitionRecord) string { return r.GetDefinition().GetName() }), nil
}

// answer sends each question to the servers and prints the responses.
func (o *explainOptions) answer(ctx context.Context, c *client.Client, questions []question) error {
	var items []json.RawMessage
	for i, q := range questions {
		r, err := explain(ctx, c, q.req)
		if err != nil {
			if o.output.Is(ui.Table) {
				o.printQueue(r) // tasks may be waiting without a definition
			}
			return err
		}
		switch {
		case o.output.Is(ui.Table):
			if i > 0 {
				fmt.Fprintln(o.f.Out)
			}
			for _, line := range q.before {
				fmt.Fprintln(o.f.Out, line)
			}
			o.print(q.req, r)
			if i+1 == len(questions) || questions[i+1].req.GetSemaphore() != q.req.GetSemaphore() {
				o.printQueue(r)
			}
			continue
		case o.singleName() && o.hasCaller():
			return o.f.PrintObject(o.output, r)
		}
		item, err := q.item(r)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if o.output.Is(ui.Table) {
		return nil
	}
	return o.f.PrintObject(o.output, ui.Items(items))
}

// explain asks the servers to explain a request. It returns an error if there is no definition.
func explain(ctx context.Context, c *client.Client, req *gatekeeperv1.ExplainRequest) (*gatekeeperv1.ExplainResponse, error) {
	r, err := c.Definitions().Explain(ctx, req)
	if err == nil && r.GetReason() == gatekeeperv1.Reason_REASON_NO_SUCH_SEMAPHORE {
		err = lookup.CheckDefined(ctx, c, []string{req.GetSemaphore()}, nil)
		if e, ok := errors.AsType[*ui.CodeError](err); ok && r.GetTaskCount() > 0 {
			name := words.ShellWord(req.GetSemaphore())
			e.Hint = fmt.Sprintf("`gkctl history %s` shows who deleted it. `gkctl undo` or `gkctl apply` restores it; `gkctl job cancel --semaphore %s` cancels its jobs.", name, name)
		}
	}
	return r, err
}

// print prints the steps of the decision, the holders that occupy the slots, and other obstacles.
func (o *explainOptions) print(req *gatekeeperv1.ExplainRequest, r *gatekeeperv1.ExplainResponse) {
	fmt.Fprintf(o.f.Out, "%s, requested by acquirer %q in group %q:\n", req.GetSemaphore(), req.GetIdentity().GetAcquirer(), req.GetIdentity().GetGroup())
	width := 0
	for _, s := range r.GetSteps() {
		width = max(width, len(s.GetName()))
	}
	for _, s := range r.GetSteps() {
		tick := "✗"
		if s.GetPassed() {
			tick = "✓"
		}
		fmt.Fprintf(o.f.Out, "  %s %d %-*s  %s\n", tick, s.GetNumber(), width, s.GetName(), words.Cell(s.GetText()))
	}
	if steps := r.GetSteps(); len(steps) == 0 || steps[len(steps)-1].GetText() != r.GetSummary() { // the last step may already be the summary
		fmt.Fprintln(o.f.Out, r.GetSummary())
	}
	for _, p := range r.GetHolders() {
		fmt.Fprintln(o.f.Out, words.Cell(takenText(p)))
	}
	if more := int(r.GetHolderCount()) - len(r.GetHolders()); more > 0 {
		fmt.Fprintf(o.f.Out, "... and %d more\n", more)
	}
	if left := r.GetRecovering(); left != nil && r.GetReason() != gatekeeperv1.Reason_REASON_UNSPECIFIED { // otherwise the summary says so
		fmt.Fprintf(o.f.Out, "No permits are granted until %s: the cluster was recovered, and earlier holders may still rely on their permits.\n",
			time.Now().Add(left.AsDuration()).Format("2006-01-02 15:04:05"))
	}
}

// printQueue prints the semaphore's waiters, the tasks waiting for a worker, and why they are waiting.
func (o *explainOptions) printQueue(r *gatekeeperv1.ExplainResponse) {
	line := func(what string, texts []string, more int) {
		if more > 0 {
			texts = append(texts, fmt.Sprintf("and %d more", more))
		}
		if len(texts) > 0 {
			fmt.Fprintln(o.f.Out, words.Cell(what+": "+strings.Join(texts, ", ")))
		}
	}
	line("In the queue", words.Map(mergeSlots(r.GetWaiters()), func(w *waiting) string {
		text := w.who() + " in " + w.GetIdentity().GetGroup()
		if w.GetWeight() != 1 {
			text += " with weight " + words.Number(w.GetWeight())
		}
		if w.GetPlace() == 0 {
			return text + ", idle"
		}
		return text
	}), int(r.GetWaiterCount())-len(r.GetWaiters()))
	var tasks []string
	unnamed := int(r.GetTaskCount())
	for _, t := range r.GetTasks() {
		tasks = append(tasks, fmt.Sprintf("%d (job %s)", t.GetTasks(), t.GetJob()))
		unnamed -= int(t.GetTasks())
	}
	line("Tasks waiting for a worker", tasks, unnamed)
	if r.GetWhyTasksWait() != "" {
		fmt.Fprintln(o.f.Out, words.Cell("Reason: "+r.GetWhyTasksWait()))
	}
}

// takenText describes which holder occupies a slot, and when the slot may become free.
func takenText(p *gatekeeperv1.Permit) string {
	if p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_HELD {
		return words.HeldText(p)
	}
	text := fmt.Sprintf("Taken by %s for %s, %s", words.HolderText(p), words.Ago(p.GetGrantedAt()), words.PermitState(p))
	left := words.Brief(p.GetExpiresIn().AsDuration())
	switch {
	case p.GetExpiresIn() == nil:
		return text + "."
	case p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_COOLING:
		return text + ": it will end in " + left + "."
	case p.GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_UNSPECIFIED && p.GetDrainLeft() == nil:
		return text + ": it will end when it is released, or in " + left + "."
	}
	return text + ": it will end when it is released, or in " + left + " unless it is refreshed."
}

// question is a request to explain.
type question struct {
	req *gatekeeperv1.ExplainRequest
	// denied is the servers' record of the caller's denials. It is nil if there is none or if flags identify the
	// caller.
	denied *gatekeeperv1.DeniedCaller
	// before holds the lines to print before the explanation.
	before []string
}

// questions returns a question for every caller that was denied. For a semaphore without denied callers it returns a
// question for the most likely caller: the caller that the flags identify, the last holder, or this host.
func (o *explainOptions) questions(ctx context.Context, c *client.Client, names []string, req *gatekeeperv1.ExplainRequest) ([]question, error) {
	var r *gatekeeperv1.ListDeniedResponse
	if !o.hasCaller() {
		list := &gatekeeperv1.ListDeniedRequest{Labels: o.labels, Resolved: true}
		if len(o.names) <= lookup.MaxNames {
			list.Names = o.names
		}
		r = lookup.Denials(ctx, c, list)
	}
	denied := make(map[string][]*gatekeeperv1.DeniedCaller)
	for _, d := range r.GetCallers() {
		denied[d.GetSemaphore()] = append(denied[d.GetSemaphore()], d)
	}
	var out []question
	for _, name := range names {
		for _, d := range denied[name] {
			out = append(out, o.deniedQuestion(d, req))
		}
		if len(denied[name]) == 0 {
			own := proto.CloneOf(req)
			own.Semaphore = name
			out = append(out, question{req: own})
		}
	}
	if !o.hasCaller() && o.singleName() {
		first := &out[0]
		text, last, err := lastHolder(ctx, c, names[0])
		if errors.Is(err, client.ErrUnavailable) {
			return nil, err // there is no leader, and the next call would only time out
		}
		before := lookup.MisspelledLines(r)
		if text != "" {
			before = append([]string{text}, before...)
		}
		first.before = append(before, first.before...)
		if first.denied == nil {
			if r.GetSince() != nil {
				first.before = append(first.before, fmt.Sprintf("Since %s, when this leader started recording, no caller has been denied for a reason that waiting won't fix.", words.When(r.GetSince())))
			}
			if last != nil {
				first.req.Identity = last
			}
		}
	}
	return out, nil
}

// deniedQuestion returns a question that repeats a denied caller's request. --weight and --firing take precedence.
func (o *explainOptions) deniedQuestion(d *gatekeeperv1.DeniedCaller, given *gatekeeperv1.ExplainRequest) question {
	req := &gatekeeperv1.ExplainRequest{
		Semaphore: d.GetSemaphore(), Identity: d.GetIdentity(), Weight: d.GetWeight(), Firing: d.GetFiring(), Worker: d.GetWorker(),
	}
	if o.weightSet {
		req.Weight = o.weight
	}
	if o.firing != "" {
		req.Firing = given.GetFiring()
	}
	return question{req: req, denied: d, before: []string{words.Cell(d.GetText())}}
}

// lastHolder describes the current holder, or the last one in the journal. caller is nil if there is neither.
func lastHolder(ctx context.Context, c *client.Client, name string) (text string, caller *gatekeeperv1.Identity, err error) {
	identity := func(p *gatekeeperv1.Permit) *gatekeeperv1.Identity {
		id := p.GetIdentity()
		return &gatekeeperv1.Identity{Group: id.GetGroup(), Acquirer: id.GetAcquirer()} // no holder id: a new acquisition
	}
	names := []string{name}
	held, err := c.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: names, PageSize: 1})
	if err != nil {
		return "", nil, err
	}
	if len(held.GetPermits()) > 0 {
		p := held.GetPermits()[0]
		return words.Cell(takenText(p)), identity(p), nil
	}
	// One page is large enough for all entries that the journal keeps for a semaphore. Many edits may have been made
	// since its last permit ended.
	journal, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: names, Permits: true, PageSize: 1000})
	if err != nil {
		return "", nil, err
	}
	for _, e := range journal.GetEntries() {
		if e.GetPermit() != nil {
			text = fmt.Sprintf("No permits are held. The last one was held by %s, and %s at %s.", words.HolderText(e.GetPermit()), words.Word(e.GetKind(), "EVENT_KIND_"), words.When(e.GetAt()))
			return words.Cell(text), identity(e.GetPermit()), nil
		}
	}
	return "No permits are held, and the journal has no record of any.", nil, nil
}

// item returns a response as a list item.
func (q *question) item(r *gatekeeperv1.ExplainResponse) (json.RawMessage, error) {
	more := struct {
		Semaphore string     `json:"semaphore"`
		Group     string     `json:"group"`
		Acquirer  string     `json:"acquirer"`
		Denied    ui.Message `json:"denied,omitzero"`
	}{Semaphore: q.req.GetSemaphore(), Group: q.req.GetIdentity().GetGroup(), Acquirer: q.req.GetIdentity().GetAcquirer()}
	if q.denied != nil {
		more.Denied.Message = q.denied
	}
	return ui.Joined(r, more)
}
