package show

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type historyOptions struct {
	f             *conn.Factory
	globs         []string
	labels        string
	change        uint64
	since, before string
	permits       bool
	count         int
	output        ui.Output
}

func newHistory(f *conn.Factory, run func(*historyOptions, context.Context) error) *cobra.Command {
	o := &historyOptions{f: f}
	cmd := &cobra.Command{
		GroupID: ui.GroupInspect,
		Use:     "history [NAME|GLOB...] [-l SELECTOR] [--change N] [--since 1h] [--permits]",
		Short:   "Show who changed what, when and why, newest first",
		Long: `Shows the journal, newest first: edits with the fields that changed, pauses, cordons, revocations, forgotten firings, and with --permits
how each permit ended. A change is what ` + "`gkctl undo`" + ` undoes. A change to many semaphores is one line; with --change or -o wide it is one
line per semaphore. --author ann shows ann's changes from any host. -n counts changes. Times are from the leaders' clocks. The
journal has limited space, so old entries are dropped. For names or labels, it also shows callers that are currently denied for a reason that
waiting won't fix.`,
		Example: `  gkctl history nightly-export
  gkctl history --since 03:00 --before 04:00 --permits
  gkctl history --author ann --since 1h
  gkctl history --change 1234`,
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return run(o, cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&o.change, "change", 0, "only this change, with all its semaphores and how many of its entries the journal has dropped")
	flags.StringVar(&o.since, "since", "", "only entries since this time: 2026-01-31T02:00:00Z, 02:00 for the most recent 02:00 local time, or 1h for an hour ago")
	flags.StringVar(&o.before, "before", "", "only before this time; takes the same values as --since")
	flags.BoolVar(&o.permits, "permits", false, "also show how permits ended")
	flags.IntVarP(&o.count, "count", "n", 50, "number of changes to show; 0: all in the journal")
	ui.RegisterSelector(cmd, &o.labels, "only semaphores with these labels, now or when the entry was made")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *historyOptions) request(now time.Time) (*gatekeeperv1.ListHistoryRequest, error) {
	r := &gatekeeperv1.ListHistoryRequest{Names: o.globs, Labels: o.labels, Change: o.change, Permits: o.permits, PageSize: 1000}
	if o.count < 0 {
		return nil, ui.Usagef("-n must not be negative")
	}
	for _, at := range []struct {
		flag, text string
		into       **timestamppb.Timestamp
	}{{"--since", o.since, &r.Since}, {"--before", o.before, &r.Before}} {
		if at.text == "" {
			continue
		}
		t, err := ui.ParseTime(at.flag, at.text, now, ui.Past)
		if err != nil {
			return nil, err
		}
		*at.into = timestamppb.New(t)
	}
	if r.Since != nil && r.Before != nil && !r.Since.AsTime().Before(r.Before.AsTime()) {
		return nil, ui.Usagef("--since must be before --before")
	}
	return r, nil
}

func (o *historyOptions) run(ctx context.Context) error {
	req, err := o.request(time.Now())
	if err != nil {
		return err
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		entries, missing, err := o.read(ctx, c, req)
		if err != nil {
			return err
		}
		if err := lookup.CheckRecorded(ctx, c, o.globs, words.Map(entries, (*gatekeeperv1.HistoryEntry).GetSemaphore)); err != nil {
			return err
		}
		if o.change != 0 && len(entries) == 0 {
			return ui.WithHint(fmt.Errorf("the journal has no change %d", o.change), "`gkctl history` shows the changes that it contains.")
		}
		if missing != nil {
			o.f.Logf("%s", words.MissingText(missing))
		}
		if o.output.Is(ui.Name) {
			return o.f.PrintNames(changeNames(entries))
		}
		byChange := !o.output.Is(ui.Wide) && o.change == 0
		err = o.f.Print(o.output, ui.Listing{
			Headers: []string{"CHANGE", "AT", "BY", "WHAT", "SEMAPHORE", "CHANGES", "REASON"},
			More:    []string{"DRAIN", "UNTIL"},
			Rows:    historyRows(entries, byChange),
			Object:  ui.Items(ui.Messages(entries)),
			Empty:   "The journal has no matching entries.",
		})
		if err == nil && o.change == 0 && (o.output.Is(ui.Table) || o.output.Is(ui.Wide)) {
			printDenied(ctx, o.f, c, o.globs, o.labels)
		}
		return err
	})
}

// read returns the entries of the requested number of changes. missing describes the entries that the journal has
// dropped from the change given with --change.
func (o *historyOptions) read(ctx context.Context, c *client.Client, req *gatekeeperv1.ListHistoryRequest) (
	entries []*gatekeeperv1.HistoryEntry, missing *gatekeeperv1.MissingEntries, err error,
) {
	entries = []*gatekeeperv1.HistoryEntry{}
	changes, last := 0, uint64(0)
	for {
		r, err := c.Operator().ListHistory(ctx, req)
		if err != nil {
			return nil, nil, err
		}
		missing = r.GetMissing()
		for _, e := range r.GetEntries() {
			if !o.matchesAuthor(e.GetAuthor()) {
				continue
			}
			if e.GetRevision() != last {
				if changes++; o.count > 0 && changes > o.count {
					return entries, missing, nil
				}
				last = e.GetRevision()
			}
			entries = append(entries, e)
		}
		if req.PageToken = r.GetNextPageToken(); req.PageToken == "" {
			return entries, missing, nil
		}
	}
}

// matchesAuthor reports whether an author matches --author, which is an exact name, a name without its host, or a glob.
// All authors match if --author was not given.
func (o *historyOptions) matchesAuthor(author string) bool {
	if !o.f.Global.Changed("author") {
		return true
	}
	want := o.f.Global.Author
	name, _, _ := strings.Cut(author, "@")
	matches, err := path.Match(want, author)
	return author == want || name == want || err == nil && matches
}

// historyRows returns a row for each entry. If byChange is set, it merges the entries of a change that differ only in
// their semaphores.
func historyRows(entries []*gatekeeperv1.HistoryEntry, byChange bool) []ui.Row {
	var rows []ui.Row
	names := make(map[string][]string) // names, keyed by the row's other cells
	at := make(map[string]int)         // the row's index, by the same key
	for _, e := range entries {
		r := historyRow(e)
		key := strings.Join(slices.Concat(r.Cells[:semaphoreColumn], r.Cells[semaphoreColumn+1:]), "\x00")
		i, exists := at[key]
		if !byChange || !exists {
			at[key] = len(rows)
			names[key] = []string{e.GetSemaphore()}
			rows = append(rows, r)
			continue
		}
		names[key] = append(names[key], e.GetSemaphore())
		rows[i].Cells[semaphoreColumn] = words.SomeNames(slices.Sorted(slices.Values(names[key])))
	}
	return rows
}

// semaphoreColumn is the index of the SEMAPHORE column.
const semaphoreColumn = 4

// changeNames returns the entries' change numbers, without duplicates.
func changeNames(entries []*gatekeeperv1.HistoryEntry) []string {
	return slices.Compact(words.Map(entries, func(e *gatekeeperv1.HistoryEntry) string { return words.Number(e.GetRevision()) }))
}

func historyRow(e *gatekeeperv1.HistoryEntry) ui.Row {
	return ui.Row{
		Name: words.Number(e.GetRevision()),
		Cells: []string{
			words.Number(e.GetRevision()), words.When(e.GetAt()), e.GetAuthor(), words.Word(e.GetKind(), "EVENT_KIND_"), e.GetSemaphore(), historyText(e), e.GetReason(),
		},
		More: []string{words.Duration(e.GetDrain()), words.When(e.GetUntil())},
	}
}

// historyText describes what an entry changed.
func historyText(e *gatekeeperv1.HistoryEntry) string {
	var parts []string
	if e.GetBefore() != nil && e.GetAfter() != nil && !words.Equivalent(e.GetBefore(), e.GetAfter()) {
		parts = append(parts, words.FieldChanges(e.GetBefore(), e.GetAfter())...)
	}
	resumed := e.GetKind() == gatekeeperv1.EventKind_EVENT_KIND_RESUMED // the pause's end no longer applies
	if e.GetUntil() != nil && !resumed {
		parts = append(parts, "until "+words.When(e.GetUntil()))
	}
	if p := e.GetPause(); p != nil && !resumed {
		switch e.GetKind() {
		case gatekeeperv1.EventKind_EVENT_KIND_CREATED, gatekeeperv1.EventKind_EVENT_KIND_DELETED:
			parts = append(parts, "while paused")
		default:
		}
		if text := words.PauseText(p); text != "" {
			parts = append(parts, text)
		}
	}
	if p := e.GetPauseBefore(); p != nil {
		parts = append(parts, fmt.Sprintf("replaces the pause from change %d", p.GetChange()))
	}
	if c := e.GetCordon(); c != nil {
		parts = append(parts, words.CordonText(c))
	}
	if c := e.GetCordonBefore(); c != nil {
		parts = append(parts, fmt.Sprintf("replaces the cordon from change %d", c.GetChange()))
	}
	if f := e.GetFirings(); f != nil {
		verb := "forgotten"
		if e.GetKind() == gatekeeperv1.EventKind_EVENT_KIND_FIRINGS_REMEMBERED {
			verb = "remembered again"
		}
		parts = append(parts, words.ForgottenText(f, verb))
	}
	if before, after := e.GetBindingBefore(), e.GetBindingAfter(); before != nil || after != nil {
		parts = append(parts, words.BindingChange(before, after))
	}
	if e.GetUndoes() != 0 {
		parts = append(parts, "undoes "+words.ChangesText(append([]uint64{e.GetUndoes()}, e.GetAlsoUndoes()...)))
	}
	if change := e.GetUndoneBy(); change != 0 {
		parts = append(parts, "undone by "+words.ChangesText([]uint64{change}))
	}
	if p := e.GetPermit(); p != nil {
		parts = append(parts, words.PermitText(p))
	}
	if s := words.Word(e.GetMissed(), "MISSED_KIND_"); s != "" {
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}
