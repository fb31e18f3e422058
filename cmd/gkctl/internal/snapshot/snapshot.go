package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/backup"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "snapshot",
		Short:   "Save and inspect backups of the cluster",
		Args:    cobra.ArbitraryArgs,
		RunE:    ui.GroupHelp,
	}
	cmd.AddCommand(newSave(f, (*saveOptions).run), newInspect(f))
	return []*cobra.Command{cmd}
}

type saveOptions struct {
	f      *conn.Factory
	file   string
	force  bool
	output ui.Output
}

func newSave(f *conn.Factory, run func(*saveOptions, context.Context) error) *cobra.Command {
	o := &saveOptions{f: f}
	cmd := &cobra.Command{
		Use:   "save FILE [--force]",
		Short: "Save a backup of the cluster to a file",
		Long: `Saves a backup of the running cluster. It requires the admin role. The backup is consistent and includes every change confirmed before it
was taken: definitions, permits, pauses, cordons, the journal, settings, jobs with their payloads and results, bindings, and hashes of bearer tokens.
It does not contain waiters, because they retry. Keep it where only operators can read it.

Only its owner can read the file. The file gets its name only after it is complete, has been read back, and is on disk. If FILE is -, the
backup goes to standard output; check the resulting file with gkctl snapshot inspect. --timeout limits how long gkctl waits for each part.

gatekeeperd restore creates a cluster from it.`,
		Example: `  gkctl snapshot save gatekeeper.backup
  gkctl snapshot save /backup/gatekeeper-$(date +%F).backup
  gkctl snapshot save - | age -r age1... > gatekeeper.backup.age`,
		Args: ui.Exactly(1, "the file to write, or - for standard output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *saveOptions) run(ctx context.Context) error {
	if o.file == "-" {
		return o.fetch(ctx, o.f.Out)
	}
	if err := o.checkNotExists(); err != nil { // checked first, to save the cluster unnecessary work
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(o.file), ".backup-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		_ = temp.Close()           // already closed after success
		_ = os.Remove(temp.Name()) // already renamed after success
	}()
	if err := o.fetch(ctx, temp); err != nil {
		return err
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return err
	}
	saved, err := backup.Read(temp.Name())
	if err != nil {
		return withExitCode(err)
	}
	if err := o.moveIntoPlace(temp.Name()); err != nil {
		return err
	}
	return show(o.f, o.output, o.file, saved)
}

// fetch writes the backup to w. It gives up if a server sends nothing for longer than --timeout.
func (o *saveOptions) fetch(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idleTimer := time.AfterFunc(o.f.Global.Timeout, func() { cancel(context.DeadlineExceeded) })
	defer idleTimer.Stop()
	err := o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		return c.SaveSnapshot(ctx, writerFunc(func(p []byte) (int, error) {
			idleTimer.Stop() // the reader of standard output may be slow
			n, err := w.Write(p)
			idleTimer.Reset(o.f.Global.Timeout)
			return n, err
		}))
	})
	if err == nil || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return err
	}
	if e, ok := errors.AsType[*client.UnavailableError](err); ok {
		e.Ended = context.DeadlineExceeded
		return err
	}
	return context.DeadlineExceeded
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// checkNotExists returns an error if the file exists, unless --force was given.
func (o *saveOptions) checkNotExists() error {
	if o.force {
		return nil
	}
	switch _, err := os.Lstat(o.file); {
	case err == nil:
		return o.existsError()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func (o *saveOptions) existsError() error {
	return ui.WithHint(fmt.Errorf("%s already exists: no backup was saved", o.file), "--force replaces it.")
}

// moveIntoPlace moves the finished file to its destination and makes sure that it survives a machine crash.
func (o *saveOptions) moveIntoPlace(temp string) error {
	if o.force {
		if err := os.Rename(temp, o.file); err != nil {
			return err
		}
	} else if err := os.Link(temp, o.file); errors.Is(err, fs.ErrExist) {
		return o.existsError()
	} else if err != nil { // the file system has no hard links
		if err := o.checkNotExists(); err != nil {
			return err
		}
		if err := os.Rename(temp, o.file); err != nil {
			return err
		}
	}
	dir, err := os.Open(filepath.Dir(o.file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func newInspect(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Check a backup and show a summary",
		Long: `Checks that a backup is complete and that this version can restore it, and shows where it comes from and how much it contains. It does not
contact servers, and shows neither payloads nor token hashes.`,
		Example: `  gkctl snapshot inspect gatekeeper.backup
  gkctl snapshot inspect gatekeeper.backup -o json`,
		Args: ui.Exactly(1, "the backup file"),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := backup.Read(args[0])
			if err != nil {
				return withExitCode(err)
			}
			return show(f, output, args[0], b)
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

// withExitCode adds the exit code to an error from reading a backup.
func withExitCode(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return &ui.CodeError{Code: ui.ExitBadInput, Err: err}
}

// show prints a summary of a backup.
func show(f *conn.Factory, output ui.Output, file string, b *backup.Backup) error {
	s := b.Summary()
	if !output.Is(ui.Table) {
		return f.PrintObject(output, struct {
			File string `json:"file"`
			backup.Summary
			Quarantine string `json:"restored_grants_after"`
		}{file, s, words.ProtoSeconds(s.Quarantine)})
	}
	w := tabwriter.NewWriter(f.Out, 0, 8, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s:\t%s\n", name, words.Cell(fmt.Sprintf(format, args...)))
	}
	line("file", "%s, %d bytes", file, s.Bytes)
	line("sha256", "%s", s.Checksum)
	line("cluster", "%s, %s", s.ClusterName, s.ClusterID)
	line("taken", "%s by member %s of %s", s.TakenAt.Local().Format(time.DateTime), s.Member, words.Plural(len(s.Members), "member", "members"))
	line("revision", "%d, feature level %d", s.Revision, s.FeatureLevel)
	line("definitions", "%d", s.Definitions)
	line("permits", "%d live, %d cooling, %d held for an operator", s.Permits, s.Cooling, s.Held)
	line("firings", "%d", s.Claims)
	line("cordons", "%d", s.Cordons)
	line("jobs", "%d with %s", s.Jobs, words.Plural(s.Tasks, "task", "tasks"))
	line("bindings", "%d with %s", s.Bindings, words.Plural(s.Tokens, "token", "tokens"))
	line("journal", "%s", words.Plural(s.Entries, "entry", "entries"))
	line("restored", "will not grant permits for %s", s.Quarantine)
	return w.Flush()
}
