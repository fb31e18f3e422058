package firings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{newFirings(f)}
}

func newFirings(f *conn.Factory) *cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupChange,
		Use:     "firings",
		Short:   "Show and repair the firings remembered by a semaphore",
		Args:    cobra.ArbitraryArgs,
		RunE:    ui.GroupHelp,
	}
	cmd.AddCommand(newFiringsList(f, (*firingsListOptions).run), newFiringsShow(f, (*firingsShowOptions).run), newFiringsForget(f, (*firingsForgetOptions).run))
	return cmd
}

type firingsListOptions struct {
	f                      *conn.Factory
	semaphore, name, after string
	output                 ui.Output
}

func newFiringsList(f *conn.Factory, run func(*firingsListOptions, context.Context) error) *cobra.Command {
	o := &firingsListOptions{f: f}
	cmd := &cobra.Command{
		Use:   "list NAME [--name FIRING-NAME] [--after TIME]",
		Short: "Show which firings a semaphore remembers",
		Long: `Shows the firings that a semaphore remembers, who claimed them, and how they ended: first those without a due time, then the rest by due time.
It also shows the number of remembered firings, the limit, and the due time up to which firings are forgotten. A firing that was due before that
time and is not listed is denied as FIRING_FORGOTTEN.`,
		Example: `  gkctl firings list nightly-export
  gkctl firings list nightly-export --after 2026-06-01T00:00:00Z
  gkctl firings list nightly-export -o name`,
		Args:              ui.Exactly(1, "the name of a semaphore"),
		ValidArgsFunction: limitArgs(1, f.CompleteNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.semaphore = args[0]
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.name, "name", "", "only firings with this name")
	cmd.Flags().StringVar(&o.after, "after", "", "only firings that are due after this time: 2026-01-31T02:00:00Z, or 02:00 for the next 02:00 local time")
	o.output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func (o *firingsListOptions) run(ctx context.Context) error {
	req := &gatekeeperv1.ListFiringsRequest{Semaphore: o.semaphore, Name: o.name}
	if o.after != "" {
		after, err := ui.ParseTime("--after", o.after, time.Now(), ui.Future)
		if err != nil {
			return err
		}
		req.DueAfter = timestamppb.New(after)
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		firings, last, err := readFirings(ctx, c, req)
		if err != nil {
			return err
		}
		if !o.output.Is(ui.Name) {
			o.f.Logf("%s", summaryText(o.semaphore, last))
		}
		return o.f.Print(o.output, ui.Listing{
			Headers: []string{"FIRING", "STATE", "ATTEMPTS", "GROUP", "ACQUIRER", "TOKEN", "CLAIMED AT"},
			More:    []string{"HOLDER", "FAILURE"},
			Rows:    words.Map(firings, firingRow),
			Object:  newFiringsJSON(firings, last),
		})
	})
}

// firingsJSON is the JSON output: the firings, and the values that apply to all firings of the semaphore.
type firingsJSON struct {
	Items         []ui.Message `json:"items"`
	ForgottenUpTo string       `json:"forgotten_up_to,omitempty"`
	Count         uint32       `json:"count"`
	Limit         uint32       `json:"limit"`
}

func newFiringsJSON(firings []*gatekeeperv1.FiringClaim, last *gatekeeperv1.ListFiringsResponse) firingsJSON {
	f := firingsJSON{Items: ui.Messages(firings), Count: last.GetCount(), Limit: last.GetLimit()}
	if mark := last.GetForgottenUpTo(); mark != nil {
		f.ForgottenUpTo = mark.AsTime().Format(time.RFC3339Nano)
	}
	return f
}

// readFirings reads all pages. last is the last page, which contains the values that apply to all firings.
func readFirings(ctx context.Context, c *client.Client, req *gatekeeperv1.ListFiringsRequest) (
	firings []*gatekeeperv1.FiringClaim, last *gatekeeperv1.ListFiringsResponse, err error,
) {
	req.PageSize = 1000
	for {
		r, err := c.Operator().ListFirings(ctx, req)
		if err != nil {
			return nil, nil, err
		}
		firings = append(firings, r.GetFirings()...)
		if req.PageToken = r.GetNextPageToken(); req.PageToken == "" {
			return firings, r, nil
		}
	}
}

// summaryText describes the values that apply to all firings of a semaphore.
func summaryText(name string, r *gatekeeperv1.ListFiringsResponse) string {
	text := fmt.Sprintf("%s remembers %s (at most %d)", name, words.Plural(int(r.GetCount()), "firing", "firings"), r.GetLimit())
	if r.GetForgottenUpTo() != nil {
		text += "; those due up to " + words.DueText(r.GetForgottenUpTo()) + " may have been forgotten"
	}
	return text
}

func firingRow(f *gatekeeperv1.FiringClaim) ui.Row {
	id := f.GetWinner()
	return ui.Row{
		Name: words.Firing(f.GetFiring()),
		Cells: []string{
			words.Firing(f.GetFiring()), stateText(f), attemptsText(f), id.GetGroup(), id.GetAcquirer(), words.Number(f.GetToken()), words.When(f.GetClaimedAt()),
		},
		More: []string{id.GetHolderId(), f.GetFailure()},
	}
}

// stateText returns the state of a firing as text, for example "cut short".
func stateText(f *gatekeeperv1.FiringClaim) string {
	return strings.ReplaceAll(words.Word(f.GetState(), "FIRING_STATE_"), "_", " ")
}

// attemptsText returns the number of attempts, or an empty string for a firing that was claimed before attempts were
// counted.
func attemptsText(f *gatekeeperv1.FiringClaim) string {
	if f.GetAttempts() == 0 {
		return ""
	}
	return strconv.Itoa(int(f.GetAttempts()))
}

type firingsShowOptions struct {
	f                 *conn.Factory
	semaphore, firing string
	output            ui.Output
}

func newFiringsShow(f *conn.Factory, run func(*firingsShowOptions, context.Context) error) *cobra.Command {
	o := &firingsShowOptions{f: f}
	cmd := &cobra.Command{
		Use:   "show NAME FIRING",
		Short: "Show the state of one firing",
		Long: `Shows who claimed a firing, when, and how it ended. A firing that is not remembered is free, or forgotten if it was due
before the firings that the semaphore still remembers.`,
		Example:           "  gkctl firings show nightly-export nightly@2026-06-01T02:00:00Z",
		Args:              ui.Exactly(2, "the name of a semaphore and a firing, as in nightly@2026-06-01T02:00:00Z"),
		ValidArgsFunction: limitArgs(2, completeFirings(f)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.semaphore, o.firing = args[0], args[1]
			return run(o, cmd.Context())
		},
	}
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *firingsShowOptions) run(ctx context.Context) error {
	want, err := ui.FiringArg(o.firing)
	if err != nil {
		return err
	}
	req := &gatekeeperv1.ListFiringsRequest{Semaphore: o.semaphore, Name: want.GetName()}
	if want.GetDue() != nil {
		req.DueAfter = timestamppb.New(want.GetDue().AsTime().Add(-1))
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		firings, last, err := readFirings(ctx, c, req)
		if err != nil {
			return err
		}
		found := &gatekeeperv1.FiringClaim{Firing: want}
		i := slices.IndexFunc(firings, func(f *gatekeeperv1.FiringClaim) bool { return words.Firing(f.GetFiring()) == words.Firing(want) })
		mark := last.GetForgottenUpTo()
		switch {
		case i >= 0:
			found = firings[i]
		case want.GetDue() != nil && mark != nil && !want.GetDue().AsTime().After(mark.AsTime()):
			found.State = gatekeeperv1.FiringState_FIRING_STATE_FORGOTTEN
		case want.GetDue() == nil && len(firings) > 0:
			o.f.Logf("gkctl: %s remembers firings with that name and a due time: `gkctl firings list %s --name %s` lists them", o.semaphore, words.ShellWord(o.semaphore), words.ShellWord(want.GetName()))
		}
		if !o.output.Is(ui.Table) {
			return o.f.PrintObject(o.output, found)
		}
		fmt.Fprintln(o.f.Out, words.Cell(firingText(found, mark)))
		return nil
	})
}

// firingText describes the state of a firing.
func firingText(f *gatekeeperv1.FiringClaim, mark *timestamppb.Timestamp) string {
	text := words.Firing(f.GetFiring())
	switch f.GetState() {
	case gatekeeperv1.FiringState_FIRING_STATE_UNSPECIFIED:
		return text + ": free; no claim is remembered"
	case gatekeeperv1.FiringState_FIRING_STATE_FORGOTTEN:
		return text + ": forgotten, like all firings due up to " + words.DueText(mark) + ", so it is unknown whether it ran"
	}
	id := f.GetWinner()
	claimed := "claimed"
	if f.GetState() == gatekeeperv1.FiringState_FIRING_STATE_OPEN {
		claimed = "last claimed"
	}
	text += fmt.Sprintf(": %s, %s by %s in %s (token %d)", stateText(f), claimed, id.GetAcquirer(), id.GetGroup(), f.GetToken())
	if f.GetClaimedAt() != nil {
		text += " at " + words.When(f.GetClaimedAt())
	}
	if f.GetAttempts() > 1 {
		text += fmt.Sprintf(", on attempt %d", f.GetAttempts())
	}
	if f.GetFailure() != "" {
		text += ": " + f.GetFailure()
	}
	return text
}

// completeFirings completes the name of a semaphore, and then its recorded firings.
func completeFirings(f *conn.Factory) cobra.CompletionFunc {
	firings := f.Complete(func(ctx context.Context, c *client.Client, args []string, _ string) ([]string, error) {
		r, err := c.Operator().ListFirings(ctx, &gatekeeperv1.ListFiringsRequest{Semaphore: args[0], PageSize: conn.CompletionPage})
		names := words.Map(r.GetFirings(), func(f *gatekeeperv1.FiringClaim) string { return words.Firing(f.GetFiring()) })
		return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(args[1:], n) }), err
	})
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return f.CompleteNames(cmd, args, toComplete)
		}
		return firings(cmd, args, toComplete)
	}
}

// limitArgs limits a completion to the first n arguments.
func limitArgs(n int, complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, toComplete)
	}
}

// noSuchFiring adds a hint to the error for an unknown firing: the command that lists the recorded ones.
func noSuchFiring(err error, name string) error {
	if e, ok := errors.AsType[*client.StatusError](err); ok && e.Reason == "NO_SUCH_FIRING" {
		return &ui.CodeError{Code: ui.ExitNoSuch, Err: err, Hint: fmt.Sprintf("`gkctl firings list %s` lists the remembered firings.", words.ShellWord(name))}
	}
	return err
}
