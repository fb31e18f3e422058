package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// bindings returns all bindings.
func bindings(ctx context.Context, c *client.Client) ([]*gatekeeperv1.Binding, error) {
	r, err := c.Auth().ListBindings(ctx, new(gatekeeperv1.ListBindingsRequest))
	return r.GetBindings(), err
}

// find returns the binding with the given name, or nil if there is none.
func find(all []*gatekeeperv1.Binding, name string) *gatekeeperv1.Binding {
	if i := slices.IndexFunc(all, func(b *gatekeeperv1.Binding) bool { return b.GetName() == name }); i >= 0 {
		return all[i]
	}
	return nil
}

func completeBindings(f *conn.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
			all, err := bindings(ctx, c)
			return words.Map(all, (*gatekeeperv1.Binding).GetName), err
		})(cmd, args, toComplete)
	}
}

// withHint adds a hint to the error from a change. show is the command that lists the bindings or tokens.
func withHint(err error, show string) error {
	if errors.Is(err, client.ErrOutcomeUnknown) {
		return &ui.CodeError{Code: ui.ExitUnreachable, Err: err, Hint: "The change may or may not have been made: `" + show + "` shows the current state."}
	}
	if e, ok := errors.AsType[*client.StatusError](err); ok {
		switch e.Reason {
		case "NO_SUCH_BINDING":
			return &ui.CodeError{Code: ui.ExitNoSuch, Err: err, Hint: "`" + show + "` lists them."}
		case "STALE_VERSION":
			return ui.WithHint(err, "Nothing was changed. Run the command again: it starts from the current state.")
		}
	}
	return err
}

func newList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the bindings",
		Example: `  gkctl auth list -o wide`,
		Args:    ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				all, err := bindings(ctx, c)
				if err != nil {
					return err
				}
				return f.Print(output, ui.Listing{
					Headers: []string{"NAME", "SUBJECTS", "GRANTS", "TOKENS"},
					More:    []string{"REVISION", "UPDATED", "BY", "REASON"},
					Rows:    words.Map(all, bindingRow),
					Object:  ui.Items(ui.Messages(all)),
					Empty:   "There are no bindings.",
				})
			})
		},
	}
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func bindingRow(b *gatekeeperv1.Binding) ui.Row {
	return ui.Row{
		Name: b.GetName(),
		Cells: []string{
			b.GetName(), strings.Join(b.GetSubjects(), ", "), strings.Join(words.Map(b.GetGrants(), words.GrantText), "; "), strconv.Itoa(len(b.GetTokens())),
		},
		More: []string{words.Number(b.GetRevision()), words.When(b.GetUpdatedAt()), b.GetUpdatedBy(), b.GetReason()},
	}
}

type bindOptions struct {
	f    *conn.Factory
	name string
	change.YesFlag
	output          ui.Output
	dryRun, replace bool

	subjects   []string
	roles      []string
	semaphores []string
	grant      gatekeeperv1.AccessGrant
}

func newBind(f *conn.Factory, run func(*bindOptions, context.Context) error) *cobra.Command {
	o := &bindOptions{f: f}
	cmd := &cobra.Command{
		Use:   "bind NAME [--subject SUBJECT]... [--role ROLE... [--semaphores GLOB]... [-l LABELS] [--group PATTERN] [--acquirer PATTERN]]",
		Short: "Give callers a role: create a binding, or add subjects or grants to one",
		Long: `Adds subjects and a grant to a binding, and creates the binding if it does not exist. The grant is a role within a scope: a call
must match all of the given flags. Each role becomes a separate grant with the same scope. --group and --acquirer are RE2 patterns that match
whole names, as in definitions: callers may only use groups and acquirers that match. The admin role has no scope.

With --replace, --subject replaces the subjects and --role replaces all grants, instead of adding to them. Tokens are kept. Callers may lose access,
so gkctl shows the change and asks for confirmation; in a script, pass --yes.`,
		Example: `  gkctl auth bind orders --subject cert:orders --role acquirer --semaphores 'orders-*' --group prod
  gkctl auth bind oncall --subject cert:alice --subject cert:bob --role operator --reason "new rota"
  gkctl auth bind dashboard --role viewer
  gkctl auth bind oncall --subject cert:carol --replace --dry-run`,
		Args:              ui.Exactly(1, "the name of a binding, which is the principal"),
		ValidArgsFunction: completeBindings(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return run(o, cmd.Context())
		},
	}
	cmd.Flags().StringArrayVar(&o.subjects, "subject", nil, "`SUBJECT` of a credential: cert:NAME, spiffe://DOMAIN/PATH, or oidc:CLAIM=VALUE; may be repeated")
	cmd.Flags().StringSliceVar(&o.roles, "role", nil, "`ROLE` to grant: "+strings.Join(roleWords(), ", ")+"; may be repeated")
	cmd.Flags().StringSliceVar(&o.semaphores, "semaphores", nil, "only on semaphores with these names or `GLOBS`")
	ui.RegisterSelector(cmd, &o.grant.Labels, "only on semaphores whose definitions have these labels")
	cmd.Flags().StringVar(&o.grant.Group, "group", "", "only as a group that matches this `PATTERN`")
	cmd.Flags().StringVar(&o.grant.Acquirer, "acquirer", "", "only as an acquirer that matches this `PATTERN`")
	cmd.Flags().BoolVar(&o.replace, "replace", false, "replace subjects or grants instead of adding to them")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would change without changing anything")
	o.YesFlag.Register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	_ = cmd.RegisterFlagCompletionFunc("role", completeRoles) // fails only if there is no such flag
	_ = cmd.RegisterFlagCompletionFunc("subject", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("semaphores", f.CompleteNames)
	return cmd
}

// wanted returns the binding that the change would produce.
func (o *bindOptions) wanted(old *gatekeeperv1.Binding) (*gatekeeperv1.Binding, error) {
	b := &gatekeeperv1.Binding{Name: o.name, Subjects: slices.Clone(old.GetSubjects()), Grants: slices.Clone(old.GetGrants())}
	if o.replace && len(o.subjects) > 0 {
		b.Subjects = nil
	}
	for _, s := range o.subjects {
		if !strings.Contains(s, ":") {
			return nil, ui.Usagef("--subject %s must be cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE: "+
				"did you mean cert:%s?", s, s)
		}
		if !slices.Contains(b.Subjects, s) {
			b.Subjects = append(b.Subjects, s)
		}
	}
	o.grant.Semaphores = o.semaphores
	scoped := len(o.semaphores) > 0 || o.grant.GetLabels() != "" || o.grant.GetGroup() != "" || o.grant.GetAcquirer() != ""
	switch {
	case len(o.roles) == 0 && scoped:
		return nil, ui.Usagef("--semaphores, -l, --group and --acquirer limit a role: specify --role")
	case len(o.roles) == 0 && len(o.subjects) == 0:
		return nil, ui.Usagef("specify --subject, --role, or both")
	case len(o.roles) == 0 && old == nil:
		return nil, ui.Usagef("there is no binding %q yet, and a new one requires --role", o.name)
	case len(o.roles) == 0:
		return b, nil
	}
	if o.replace {
		b.Grants = nil
	}
	for _, word := range o.roles {
		role, err := roleArg(word)
		if err != nil {
			return nil, err
		}
		grant := proto.CloneOf(&o.grant)
		grant.Role = role
		if !slices.ContainsFunc(b.Grants, func(g *gatekeeperv1.AccessGrant) bool { return proto.Equal(g, grant) }) {
			b.Grants = append(b.Grants, grant)
		}
	}
	return b, nil
}

func (o *bindOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		all, err := bindings(ctx, c)
		if err != nil {
			return err
		}
		old := find(all, o.name)
		b, err := o.wanted(old)
		if err != nil {
			return err
		}
		added, removed := differences(old, b)
		lines := append(added, removed...)
		if !o.dryRun && len(removed) > 0 {
			if _, err := change.Confirm(ctx, o.f.IO, &change.Proposal{
				What: "this changes binding " + o.name, Question: "Change it?", Declined: "nothing was changed",
				Loss: "callers lose this access immediately", Notes: lines,
			}, o.YesFlag); err != nil {
				return err
			}
		}
		if !o.dryRun && len(lines) > 0 {
			r, err := c.Auth().SetBinding(ctx, &gatekeeperv1.SetBindingRequest{Binding: b, ExpectedRevision: old.GetRevision(), Reason: o.f.Global.Reason})
			if err != nil {
				return withHint(err, "gkctl auth list")
			}
			b = r.GetBinding()
		} else if len(lines) == 0 {
			b = old
		}
		if !o.output.Is(ui.Table) {
			return o.f.PrintObject(o.output, b)
		}
		return o.print(old, b, lines)
	})
}

func (o *bindOptions) print(old, b *gatekeeperv1.Binding, lines []string) error {
	for _, line := range lines {
		fmt.Fprintln(o.f.Out, words.Cell(line))
	}
	done := map[bool]string{true: "created", false: "changed"}[old == nil]
	switch {
	case len(lines) == 0:
		done = "is already up to date"
	case o.dryRun:
		done = "would be " + done
	}
	_, err := fmt.Fprintf(o.f.Out, "binding %s %s\n", words.Cell(o.name), done)
	if err == nil && !o.dryRun && len(b.GetSubjects()) == 0 && len(b.GetTokens()) == 0 {
		o.f.Logf("%s has no credentials yet: `gkctl auth token create %s` creates a bearer token, and --subject adds a certificate.", words.Cell(o.name), words.ShellWord(o.name))
	}
	return err
}

// differences lists what a binding gains and loses, one line each.
func differences(old, updated *gatekeeperv1.Binding) (added, removed []string) {
	texts := func(b *gatekeeperv1.Binding) []string {
		return append(words.Map(b.GetSubjects(), func(s string) string { return "subject " + s }),
			words.Map(b.GetGrants(), func(g *gatekeeperv1.AccessGrant) string { return "grant " + words.GrantText(g) })...)
	}
	before, after := texts(old), texts(updated)
	for _, t := range after {
		if !slices.Contains(before, t) {
			added = append(added, "+ "+t)
		}
	}
	for _, t := range before {
		if !slices.Contains(after, t) {
			removed = append(removed, "- "+t)
		}
	}
	return added, removed
}

type unbindOptions struct {
	f    *conn.Factory
	name string
	change.YesFlag
	output ui.Output
}

func newUnbind(f *conn.Factory, run func(*unbindOptions, context.Context) error) *cobra.Command {
	o := &unbindOptions{f: f}
	cmd := &cobra.Command{
		Use:   "unbind NAME [--yes]",
		Short: "Remove a binding and its tokens: its callers lose all access",
		Long: `Removes a binding and its tokens. Calls with its credentials are then refused, and open streams end within a second. Existing permits remain
until they expire. gkctl shows the binding and asks for confirmation; in a script, pass --yes. The last administrator cannot be removed.`,
		Example: `  gkctl auth unbind orders --reason "the application was retired"
  gkctl auth unbind orders --yes`,
		Args:              ui.Exactly(1, "the name of a binding"),
		ValidArgsFunction: completeBindings(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return run(o, cmd.Context())
		},
	}
	o.YesFlag.Register(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *unbindOptions) run(ctx context.Context) error {
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		all, err := bindings(ctx, c)
		if err != nil {
			return err
		}
		b := find(all, o.name)
		if b == nil {
			text := fmt.Sprintf("there is no binding %q", o.name)
			if near := nearest.Word(o.name, words.Map(all, (*gatekeeperv1.Binding).GetName)); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			return &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(text), Hint: "`gkctl auth list` lists the bindings."}
		}
		_, removed := differences(b, nil)
		if _, err := change.Confirm(ctx, o.f.IO, &change.Proposal{
			What: "this removes binding " + o.name, Question: "Remove it?", Declined: "nothing was removed",
			Loss: fmt.Sprintf("callers with its %s or %s will be refused",
				words.Plural(len(b.GetSubjects()), "subject", "subjects"), words.Plural(len(b.GetTokens()), "token", "tokens")),
			Notes: removed,
		}, o.YesFlag); err != nil {
			return err
		}
		r, err := c.Auth().RemoveBinding(ctx, &gatekeeperv1.RemoveBindingRequest{Name: o.name, ExpectedRevision: b.GetRevision(), Reason: o.f.Global.Reason})
		if err != nil {
			return withHint(err, "gkctl auth list")
		}
		if !o.output.Is(ui.Table) {
			return o.f.PrintObject(o.output, r)
		}
		_, err = fmt.Fprintf(o.f.Out, "binding %s removed\n", words.Cell(o.name))
		return err
	})
}
