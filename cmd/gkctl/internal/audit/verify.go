package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "audit",
		Short:   "Check a server's audit log",
		Args:    cobra.ArbitraryArgs,
		RunE:    ui.GroupHelp,
	}
	cmd.AddCommand(newVerify(f, (*verifyOptions).run))
	return []*cobra.Command{cmd}
}

type verifyOptions struct {
	f       *conn.Factory
	path    string
	anchors []string
	output  ui.Output
}

func newVerify(f *conn.Factory, run func(*verifyOptions, context.Context) error) *cobra.Command {
	o := &verifyOptions{f: f}
	cmd := &cobra.Command{
		Use:   "verify PATH [--anchor LINE:HASH]...",
		Short: "Check that no line in an audit log has been changed, removed or moved",
		Long: `Checks an audit log's hash chain. PATH is the log's newest file, or a directory that contains audit.log. Rotated files next to it are
checked too. gkctl does not contact the server, which may be running.

The chain reveals changes within the log. But anyone who can write to its files can also compute a new chain or truncate the log. --anchor
detects that too. An anchor is the number and hash of a line. Servers write anchors to their regular log as "audit log anchor", and this
command prints one.`,
		Example: `  gkctl audit verify /var/log/gatekeeper/audit.log
  gkctl audit verify /var/log/gatekeeper/audit.log --anchor 1042:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: ui.Exactly(1, "the path to the newest audit log file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = args[0]
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().StringArrayVar(&o.anchors, "anchor", nil, "require the log to contain this line, `LINE:HASH`; may be repeated")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *verifyOptions) run(ctx context.Context) error {
	anchors := make([]audit.Anchor, len(o.anchors))
	for i, text := range o.anchors {
		var err error
		if anchors[i], err = audit.ParseAnchor(text); err != nil {
			return ui.Usagef("--anchor %w", err)
		}
	}
	if info, err := os.Stat(o.path); err == nil && info.IsDir() {
		o.path = filepath.Join(o.path, "audit.log") // its default name in the data directory
	}
	report, err := audit.Verify(ctx, o.path, anchors...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &ui.CodeError{Code: ui.ExitBadInput, Err: err, Hint: "PATH must be the newest file of a server's audit log. Only the server's user can read it."}
	}
	if o.output.Is(ui.Table) {
		o.print(report)
	} else if err := o.f.PrintObject(o.output, report); err != nil {
		return err
	}
	if report.Intact() {
		return nil
	}
	return &ui.CodeError{
		Code: ui.ExitFailure, Err: fmt.Errorf("the chain of %s is broken: %s", o.path, words.Plural(len(report.Breaks), "finding", "findings")),
		Hint: "Keep the files unchanged, and compare them with an earlier copy.",
	}
}

// print prints a report as text. Some of the text comes from the files, so it may contain control characters.
func (o *verifyOptions) print(r *audit.Report) {
	for _, f := range r.Breaks {
		fmt.Fprintln(o.f.Out, words.Cell("broken: "+f.String()))
	}
	for _, f := range r.Notes {
		fmt.Fprintln(o.f.Out, words.Cell("note: "+f.String()))
	}
	if r.More > 0 {
		fmt.Fprintf(o.f.Out, "... and %d more\n", r.More)
	}
	files := words.Plural(len(r.Files), "file", "files")
	if r.Lines == 0 {
		fmt.Fprintf(o.f.Out, "%s, no lines\n", files)
		return
	}
	fmt.Fprintln(o.f.Out, words.Cell(fmt.Sprintf("lines %d to %d in %s, from %s to %s", r.First, r.Last, files, r.From, r.To)))
	fmt.Fprintf(o.f.Out, "anchor: %s\n", r.Anchor)
}
