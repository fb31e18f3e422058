package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type settingsOptions struct {
	f    *conn.Factory
	args []string
	change.YesFlag
	output ui.Output
	dryRun bool
}

func newClusterSettings(f *conn.Factory, run func(*settingsOptions, context.Context) error) *cobra.Command {
	o := &settingsOptions{f: f}
	cmd := &cobra.Command{
		Use:   "settings [NAME=VALUE...] [--dry-run] [--yes]",
		Short: "Show or change the settings that all members share",
		Long: `Shows the settings that all members share, or changes some of them in one step, which the journal records. Undo does not revert settings: set
the previous values again.

  max_duration            maximum duration that a definition may have
  journal_per_semaphore   edits kept in the journal for each semaphore, and the same number of ended permits
  journal_total           the same, for all semaphores combined
  journal_lifetime        how long the journal keeps an entry
  remembered_deletions    deleted definitions whose version is remembered
  request_lifetime        minimum time a request is remembered, if there is room
  requests_kept           requests per semaphore that are remembered for longer than that
  request_bytes           maximum memory for requests
  edit_bytes              maximum memory for edit requests
  max_task_bytes          maximum size of a task's payload, and of its result
  max_job_bytes           maximum total size of a job's payloads
  max_semaphore_work_bytes  maximum number of bytes stored and reserved by a semaphore's jobs
  max_work_bytes          the same, for all semaphores combined

Raising max_duration permanently lengthens the time during which a recovered cluster grants nothing. Lowering any other limit discards whatever exceeds
it. gkctl shows the change and asks for confirmation; in a script, pass --yes.`,
		Example: `  gkctl cluster settings
  gkctl cluster settings max_duration=6h --reason "nightly exports take a long time"
  gkctl cluster settings journal_lifetime=2160h --dry-run`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeSettings,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return run(o, cmd.Context())
		},
	}
	o.YesFlag.Register(cmd)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change without changing anything")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *settingsOptions) run(ctx context.Context) error {
	set, err := settingsArgs(o.args)
	if err != nil {
		return err
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		if len(o.args) == 0 {
			return o.show(ctx, c)
		}
		return o.set(ctx, c, set)
	})
}

func settingFields() protoreflect.FieldDescriptors {
	return new(gatekeeperv1.Settings).ProtoReflect().Descriptor().Fields()
}

func settingNames() []string {
	fields := settingFields()
	names := make([]string, fields.Len())
	for i := range names {
		names[i] = string(fields.Get(i).Name())
	}
	return names
}

func completeSettings(_ *cobra.Command, _ []string, toComplete string) (found []string, directive cobra.ShellCompDirective) {
	for _, name := range settingNames() {
		if strings.HasPrefix(name, toComplete) {
			found = append(found, name+"=")
		}
	}
	return found, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// settingsArgs parses arguments of the form NAME=VALUE.
func settingsArgs(args []string) (*gatekeeperv1.Settings, error) {
	out := new(gatekeeperv1.Settings)
	m := out.ProtoReflect()
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, ui.Usagef("%q is not NAME=VALUE: specify a setting and its value, as in max_duration=6h", arg)
		}
		f := settingFields().ByName(protoreflect.Name(name))
		if f == nil {
			text := fmt.Sprintf("there is no setting %q", name)
			if near := nearest.Word(name, settingNames()); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, ui.Usagef("%s", text)
		}
		if m.Has(f) {
			return nil, ui.Usagef("%s is given twice", name)
		}
		v, err := settingValue(f, value)
		if err != nil {
			return nil, ui.Usagef("%s %q: %v", name, value, err)
		}
		m.Set(f, v)
	}
	return out, nil
}

func settingValue(f protoreflect.FieldDescriptor, value string) (protoreflect.Value, error) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		d, err := time.ParseDuration(value)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("must be a duration, as in 6h or 90s")
		}
		return protoreflect.ValueOfMessage(durationpb.New(d).ProtoReflect()), nil
	case protoreflect.Uint32Kind:
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("must be a whole number less than 4294967296")
		}
		return protoreflect.ValueOfUint32(uint32(n)), nil
	default:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("must be a whole number")
		}
		return protoreflect.ValueOfUint64(n), nil
	}
}

// settingText formats a field exactly, in the form that settingValue parses.
func settingText(s *gatekeeperv1.Settings, f protoreflect.FieldDescriptor) string {
	if v := s.ProtoReflect().Get(f); f.Kind() != protoreflect.MessageKind {
		return v.String()
	} else if d, ok := v.Message().Interface().(*durationpb.Duration); ok {
		return deffile.FormatDuration(d.AsDuration())
	}
	return ""
}

func (o *settingsOptions) show(ctx context.Context, c *client.Client) error {
	r, err := c.Cluster().GetSettings(ctx, new(gatekeeperv1.GetSettingsRequest))
	if err != nil {
		return err
	}
	if !o.output.Is(ui.Table) {
		return o.f.PrintObject(o.output, r)
	}
	fields := settingFields()
	for i := range fields.Len() {
		fmt.Fprintf(o.f.Out, "%-24s  %s\n", fields.Get(i).Name(), settingText(r.GetSettings(), fields.Get(i)))
	}
	return nil
}

func (o *settingsOptions) set(ctx context.Context, c *client.Client, set *gatekeeperv1.Settings) error {
	m := &gatekeeperv1.SetSettingsRequest{Settings: set, Author: o.f.Global.ChangeAuthor(), Reason: o.f.Global.Reason, DryRun: true}
	r, err := c.Cluster().SetSettings(ctx, m)
	if err != nil {
		return err
	}
	if !o.dryRun {
		notes := append(settingChanges(r), r.GetWarnings()...)
		if _, err := change.Confirm(ctx, o.f.IO, &change.Proposal{
			What: "this changes the cluster's settings", Question: "Change them?", Declined: "no settings were changed",
			Confirm: r.GetConfirm(), Notes: notes,
		}, o.YesFlag); err != nil {
			return err
		}
		m.DryRun, m.Expected = false, r.GetBefore()
		if r, err = c.Cluster().SetSettings(ctx, m); err != nil {
			return err
		}
	}
	if !o.output.Is(ui.Table) {
		return o.f.PrintObject(o.output, r)
	}
	changes := settingChanges(r)
	for _, line := range changes {
		fmt.Fprintln(o.f.Out, line)
	}
	for _, w := range r.GetWarnings() {
		o.f.Logf("warning: %s", words.Cell(w))
	}
	switch {
	case len(changes) == 0:
		fmt.Fprintln(o.f.Out, "nothing to change")
	case o.dryRun:
		change.PrintNeedsYes(o.f.IO, nil, r.GetConfirm())
	default:
		fmt.Fprintf(o.f.Out, "change %d\n", r.GetRevision())
	}
	return nil
}

func settingChanges(r *gatekeeperv1.SetSettingsResponse) (lines []string) {
	fields := settingFields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if before, after := settingText(r.GetBefore(), f), settingText(r.GetAfter(), f); before != after {
			lines = append(lines, fmt.Sprintf("%s  %s -> %s", f.Name(), before, after))
		}
	}
	return lines
}
