package show

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newGet(f, (*getOptions).run),
		newHolders(f, (*holdersOptions).run),
		newWaiters(f, (*waitersOptions).run),
		newExplain(f, (*explainOptions).run),
		newWatch(f, (*watchOptions).run),
		newHistory(f, (*historyOptions).run),
	}
}

// maxDeniedLines is the maximum number of denied callers that get and history list.
const maxDeniedLines = 10

// printDenied prints, below a listing, the callers that remain denied until an operator intervenes.
func printDenied(ctx context.Context, f *conn.Factory, c *client.Client, names []string, labels string) {
	if len(names) == 0 && labels == "" || len(names) > lookup.MaxNames {
		return // a listing of all semaphores could include many denied callers, because standbys are denied by design
	}
	r := lookup.Denials(ctx, c, &gatekeeperv1.ListDeniedRequest{Names: names, Labels: labels})
	lines := lookup.DeniedLines(r.GetCallers(), maxDeniedLines)
	for _, line := range append(lines, lookup.MisspelledLines(r)...) {
		f.Logf("%s", line)
	}
	if len(lines) > 0 {
		f.Logf("%s", "`gkctl explain "+words.ShellWord(r.GetCallers()[0].GetSemaphore())+"` shows how this was decided.")
	}
}

type getOptions struct {
	f      *conn.Factory
	output ui.Output
	globs  []string
	labels string
	group  string
	search string
	states statesFlag
}

func newGet(f *conn.Factory, run func(*getOptions, context.Context) error) *cobra.Command {
	o := &getOptions{f: f}
	cmd := &cobra.Command{
		GroupID:    ui.GroupInspect,
		Use:        "get [NAME|GLOB...] [-l SELECTOR] [--group GROUP] [--state STATE,...] [--search WORDS]",
		SuggestFor: []string{"list", "ls", "show", "describe"},
		Short:      "Show definitions and how many of their permits are taken",
		Long: `Shows definitions: all of them, or those selected by names, globs or labels.

STATE shows what prevents grants, other than a lack of free permits, and which fields will revert to their old values and when. For names, and with
-o wide, it also shows how long stopping holders may continue (--drain), and which slots are held for an operator (on_expiry: hold).
For names or labels, the listing also shows callers that are denied for a reason that waiting won't fix.

-o yaml writes the file that ` + "`gkctl apply`" + ` reads, with each definition's version: apply refuses the file if any of its definitions has been
changed since. -o json writes the API's records, with version and state.`,
		Example: `  gkctl get
  gkctl get 'nightly-*' -o wide
  gkctl get --state missed,denied
  gkctl get -l team=data,tier!=test -o yaml > data.yaml`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return run(o, cmd.Context())
		},
	}
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	ui.RegisterSelector(cmd, &o.labels, `labels, as in "team=data,tier!=test,zone in (a,b),critical,!legacy"`)
	cmd.Flags().StringVar(&o.group, "group", "", "only definitions that admit this group")
	cmd.Flags().StringVar(&o.search, "search", "", "only definitions with all of these words in the name, the description or a label")
	o.states.register(cmd)
	return cmd
}

func (o *getOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		records, err := o.read(ctx, c)
		if err != nil {
			return err
		}
		if o.output.Is(ui.YAML) {
			data, err := deffile.MarshalRecords(records)
			if err != nil {
				return err
			}
			_, err = o.f.Out.Write(data)
			return err
		}
		draining, err := o.draining(ctx, c, records)
		if err != nil {
			return err
		}
		err = o.f.Print(o.output, ui.Listing{
			Headers: []string{"NAME", "GROUP", "ACQUIRER", "USED", "PERMITS", "DURATION", "STATE"},
			More:    []string{"MAX HOLD", "MIN HOLD", "LOSS DELAY", "VERSION", "CHANGED", "BY", "REASON", "LABELS", "MISSED", "PAUSED BY", "WARNINGS"},
			Rows: words.Map(records, func(r *gatekeeperv1.DefinitionRecord) ui.Row {
				return definitionRow(r, draining[r.GetDefinition().GetName()])
			}),
			Object: ui.Items(ui.Messages(records)),
			Empty:  "No definitions match.",
		})
		if err == nil && (o.output.Is(ui.Table) || o.output.Is(ui.Wide)) {
			printDenied(ctx, o.f, c, o.globs, o.labels)
		}
		return err
	})
}

// read returns the requested definitions. Names that do not match the filters are omitted, but a name without a
// definition is an error.
func (o *getOptions) read(ctx context.Context, c *client.Client) ([]*gatekeeperv1.DefinitionRecord, error) {
	if o.group == "" && o.search == "" && len(o.states) == 0 {
		return lookup.Definitions(ctx, c, o.globs, o.labels)
	}
	records, err := lookup.List(ctx, c, &gatekeeperv1.ListDefinitionsRequest{Names: o.globs, Labels: o.labels, Group: o.group, States: o.states, Search: o.search})
	if err == nil {
		err = lookup.CheckDefined(ctx, c, o.globs, nil)
	}
	return records, err
}

// drains describes a semaphore's holders that must stop but may continue for a while, and its slots that are held for
// an operator.
type drains struct {
	holders int
	longest time.Duration
	held    []uint64 // the tokens of the permits held for an operator
}

func (d drains) heldText() string {
	if len(d.held) == 0 {
		return ""
	}
	return fmt.Sprintf("%s for an operator: gkctl clear %s", words.Plural(len(d.held), "slot is held", "slots are held"), strings.Join(words.Map(d.held, words.Number), " "))
}

func (d drains) text() string {
	if d.holders == 0 {
		return ""
	}
	return fmt.Sprintf("%s continue for %s", words.Plural(d.holders, "holder may", "holders may"), words.Brief(d.longest))
}

// draining reads the details of definitions in the stopping and held states: how long stopping holders may continue,
// and which slots are held for an operator. It reads them only if the user wants details: for a few names, or with
// -o wide.
func (o *getOptions) draining(ctx context.Context, c *client.Client, records []*gatekeeperv1.DefinitionRecord) (map[string]drains, error) {
	if !o.output.Is(ui.Wide) && (!o.output.Is(ui.Table) || len(o.globs) == 0 || len(o.globs) > lookup.MaxNames) {
		return nil, nil
	}
	var names []string
	for _, r := range records {
		if slices.ContainsFunc(r.GetStates(), func(s gatekeeperv1.DefinitionState) bool {
			return s == gatekeeperv1.DefinitionState_DEFINITION_STATE_STOPPING || s == gatekeeperv1.DefinitionState_DEFINITION_STATE_HELD
		}) {
			names = append(names, r.GetDefinition().GetName())
		}
	}
	out := make(map[string]drains)
	for some := range slices.Chunk(names, lookup.MaxNames) {
		for p, err := range c.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: some}) {
			if err != nil {
				return nil, err
			}
			d := out[p.GetSemaphore()]
			if left := p.GetDrainLeft(); left != nil {
				d.holders, d.longest = d.holders+1, max(d.longest, left.AsDuration())
			}
			if p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_HELD {
				d.held = append(d.held, p.GetToken())
			}
			out[p.GetSemaphore()] = d
		}
	}
	return out, nil
}

func definitionRow(r *gatekeeperv1.DefinitionRecord, draining drains) ui.Row {
	d := r.GetDefinition()
	return ui.Row{
		Name: d.GetName(),
		Cells: []string{
			d.GetName(), d.GetGroupPattern(), d.GetAcquirerPattern(), words.Number(r.GetUsed()), words.Number(d.GetPermits()),
			words.Duration(d.GetDuration()), definitionState(r, draining),
		},
		More: []string{
			words.Duration(d.GetMaxHold()), words.Duration(d.GetMinHold()), words.Duration(d.GetLossDelay()), words.Number(r.GetVersion()),
			words.Ago(r.GetUpdatedAt()), r.GetUpdatedBy(), r.GetReason(), words.Pairs(d.GetLabels()), missed(r.GetMissed()), r.GetPause().GetAuthor(),
			strings.Join(r.GetWarnings(), "; "),
		},
	}
}

// definitionState describes what, other than a lack of permits, prevents grants, and which values are temporary.
func definitionState(r *gatekeeperv1.DefinitionRecord, draining drains) string {
	var states []string
	if r.GetDisabled() != "" {
		states = append(states, "disabled: "+r.GetDisabled())
	}
	if slices.Contains(r.GetStates(), gatekeeperv1.DefinitionState_DEFINITION_STATE_CORDONED) {
		states = append(states, "cordoned")
	}
	if slices.Contains(r.GetStates(), gatekeeperv1.DefinitionState_DEFINITION_STATE_UNMATCHED) {
		states = append(states, "unmatched")
	}
	for _, text := range []string{draining.heldText(), draining.text()} {
		if text != "" {
			states = append(states, text)
		}
	}
	if p := r.GetPause(); p != nil {
		s := "paused"
		if p.GetStop() {
			s += ", holders stop"
		}
		if p.GetDrain() != nil {
			s += ", draining"
		}
		if p.GetReason() != "" {
			s += ": " + p.GetReason()
		}
		if p.GetUntil() != nil {
			s += " until " + words.When(p.GetUntil())
		}
		states = append(states, s)
	}
	for _, e := range r.GetEnds() {
		states = append(states, fmt.Sprintf("%s until %s", strings.Join(e.GetFields(), ", "), words.When(e.GetUntil())))
	}
	return strings.Join(states, "; ")
}

// missed returns the MISSED column, which describes expected work that did not happen.
func missed(s *gatekeeperv1.Missed) string {
	if s == nil {
		return ""
	}
	if s.GetText() != "" { // this text is complete
		return "for " + words.Ago(s.GetSince()) + ": " + s.GetText()
	}
	text := words.Word(s.GetKind(), "MISSED_KIND_") + " for " + words.Ago(s.GetSince())
	if why := words.Word(s.GetReason(), "REASON_"); why != "" {
		text += " (" + why + ")"
	}
	return text
}

const statePrefix = "DEFINITION_STATE_"

// statesFlag is the value of --state: a definition must have one of these states.
type statesFlag []gatekeeperv1.DefinitionState

func (f *statesFlag) register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "state", "only definitions in one of these states: "+strings.Join(stateNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp)) // fails only if there is no such flag
}

// stateNames returns the names of all states, sorted.
func stateNames() []string {
	var out []string
	for n := range gatekeeperv1.DefinitionState_name {
		if n > 0 {
			out = append(out, words.Word(gatekeeperv1.DefinitionState(n), statePrefix))
		}
	}
	slices.Sort(out)
	return out
}

// String implements pflag.Value.
func (f *statesFlag) String() string {
	return strings.Join(words.Map(*f, func(s gatekeeperv1.DefinitionState) string { return words.Word(s, statePrefix) }), ",")
}

func (f *statesFlag) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(stateNames(), word) {
			return fmt.Errorf("must be one or more of %s", strings.Join(stateNames(), ", "))
		}
		*f = append(*f, gatekeeperv1.DefinitionState(gatekeeperv1.DefinitionState_value[statePrefix+strings.ToUpper(word)]))
	}
	return nil
}

// Type returns the placeholder for the value in the help text.
func (f *statesFlag) Type() string { return "STATE,..." }
