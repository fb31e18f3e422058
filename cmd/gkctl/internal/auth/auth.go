package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Commands returns the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	cmd := &cobra.Command{
		GroupID: ui.GroupCluster,
		Use:     "auth",
		Short:   "Show and change access: bindings, roles and bearer tokens",
		Long: `Shows and changes access. A binding gives roles to the subjects of credentials, each role within a scope. Its name is the principal
for their calls: the principal owns their permits, and the journal records it as the author. A caller without a binding may do nothing.

  gkctl auth bind orders --subject cert:orders --role acquirer --semaphores 'orders-*'
  gkctl auth token create orders --out orders.token

Subjects are cert:NAME (a common name, DNS name or e-mail address in a client certificate), SPIFFE ids, and oidc:CLAIM=VALUE (a claim in a JWT, if
the servers run with --oidc-issuer). Callers without a certificate may use one of the binding's bearer tokens, if the servers run with
--bearer-tokens. All commands except whoami, can-i and roles require the admin role.`,
		Args: cobra.ArbitraryArgs,
		RunE: ui.GroupHelp,
	}
	token := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke bearer tokens",
		Args:  cobra.ArbitraryArgs,
		RunE:  ui.GroupHelp,
	}
	token.AddCommand(newTokenCreate(f, (*createOptions).run), newTokenList(f), newTokenRevoke(f))
	cmd.AddCommand(newWhoAmI(f), newCanI(f, (*canIOptions).run), newRoles(f), newList(f), newBind(f, (*bindOptions).run), newUnbind(f, (*unbindOptions).run), token)
	return []*cobra.Command{cmd}
}

// rolePermissions lists what each role may do.
var rolePermissions = []struct { //nolint:gochecknoglobals // a table, never changed
	role     gatekeeperv1.Role
	includes string
	may      string
}{
	{gatekeeperv1.Role_ROLE_VIEWER, "", "see definitions, permits, queues, history, jobs and status"},
	{gatekeeperv1.Role_ROLE_ACQUIRER, "viewer", "acquire, hold and release permits, take over, verify, submit jobs and work on them"},
	{gatekeeperv1.Role_ROLE_VERIFIER, "", "verify permits, for a guarded resource"},
	{gatekeeperv1.Role_ROLE_OPERATOR, "viewer", "pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo such changes"},
	{gatekeeperv1.Role_ROLE_EDITOR, "viewer", "create, replace and delete definitions; undo such changes"},
	{gatekeeperv1.Role_ROLE_ADMIN, "all", "everything, including members, settings, bindings and tokens; it cannot be scoped"},
}

func roleWord(r gatekeeperv1.Role) string { return words.Word(r, "ROLE_") }

// roleArg parses a role.
func roleArg(word string) (gatekeeperv1.Role, error) {
	if n, ok := gatekeeperv1.Role_value["ROLE_"+strings.ToUpper(word)]; ok && n != 0 {
		return gatekeeperv1.Role(n), nil
	}
	suggestion := "`gkctl auth roles` lists them"
	if near := nearest.Word(word, roleWords()); near != "" {
		suggestion = "did you mean " + near + "? " + suggestion
	}
	return 0, ui.Usagef("there is no role %q: %s", word, suggestion)
}

func roleWords() (all []string) {
	for _, d := range rolePermissions {
		all = append(all, roleWord(d.role))
	}
	return all
}

func completeRoles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return roleWords(), cobra.ShellCompDirectiveNoFileComp
}

func newRoles(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:     "roles",
		Short:   "Show what each role may do",
		Long:    `Shows what each role may do, without contacting a server. Undoing a change requires the same role as making it.`,
		Example: `  gkctl auth roles`,
		Args:    ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			type item struct {
				Role     string `json:"role"`
				Includes string `json:"includes,omitempty"`
				May      string `json:"may"`
			}
			l := ui.Listing{Headers: []string{"ROLE", "INCLUDES", "MAY"}}
			var items []item
			for _, d := range rolePermissions {
				name := roleWord(d.role)
				l.Rows = append(l.Rows, ui.Row{Name: name, Cells: []string{name, d.includes, d.may}})
				items = append(items, item{name, d.includes, d.may})
			}
			l.Object = ui.Items(items)
			return f.Print(output, l)
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func newWhoAmI(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show how the servers identify you and what you may do",
		Example: `  gkctl auth whoami
  gkctl auth whoami --bearer-token-file orders.token`,
		Args: ui.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				r, err := c.Auth().WhoAmI(ctx, new(gatekeeperv1.WhoAmIRequest))
				if err != nil {
					return err
				}
				return printWhoAmI(f, output, r)
			})
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func printWhoAmI(f *conn.Factory, output ui.Output, r *gatekeeperv1.WhoAmIResponse) error {
	if !output.Is(ui.Table) {
		return f.PrintObject(output, r)
	}
	if !r.GetAuthenticated() {
		_, err := fmt.Fprintln(f.Out, "the servers do not authenticate callers: any caller may do anything")
		return err
	}
	fmt.Fprintf(f.Out, "principal:   %s\ncredential:  %s\n", words.Cell(r.GetPrincipal()), words.Cell(r.GetCredential()))
	for _, s := range r.GetSubjects() {
		if s != r.GetCredential() {
			fmt.Fprintf(f.Out, "also proves: %s\n", words.Cell(s))
		}
	}
	if len(r.GetAcquirers()) > 0 {
		fmt.Fprintf(f.Out, "acquirer:    only %s\n", words.Cell(strings.Join(r.GetAcquirers(), " or ")))
	}
	if len(r.GetGrants()) == 0 {
		fmt.Fprintln(f.Out, "granted:     nothing")
	}
	for _, g := range r.GetGrants() {
		fmt.Fprintf(f.Out, "granted:     %s\n", words.Cell(words.GrantText(g)))
	}
	return nil
}

type canIOptions struct {
	f      *conn.Factory
	args   []string
	output ui.Output
	conn.IdentityFlags
}

func newCanI(f *conn.Factory, run func(*canIOptions, context.Context) error) *cobra.Command {
	o := &canIOptions{f: f}
	cmd := &cobra.Command{
		Use:   "can-i ROLE [SEMAPHORE] [--group GROUP] [--acquirer ACQUIRER]",
		Short: "Check whether you have a role, anywhere or on a semaphore",
		Long: `Checks whether the caller has a role: on a semaphore if one is named, otherwise anywhere. With --group or --acquirer it checks that identity.
Without them, for the role acquirer on a semaphore, it checks the identity that gkctl acquire would use. Exits with 1 if the caller lacks the
role.`,
		Example: `  gkctl auth can-i operator
  gkctl auth can-i acquirer orders-eu --group prod --acquirer host-1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return ui.Usagef("specify a role, and optionally a semaphore: `gkctl auth roles` lists the roles")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return completeRoles(cmd, args, toComplete)
			case 1:
				return f.CompleteNames(cmd, nil, toComplete)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return run(o, cmd.Context())
		},
	}
	o.RegisterCaller(cmd)
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *canIOptions) run(ctx context.Context) error {
	role, err := roleArg(o.args[0])
	if err != nil {
		return err
	}
	m := &gatekeeperv1.CanIRequest{Role: role, Group: o.Group, Acquirer: o.Acquirer}
	if len(o.args) > 1 {
		m.Semaphore = o.args[1]
	} else if o.Group != "" || o.Acquirer != "" {
		return ui.Usagef("--group and --acquirer require a semaphore")
	}
	if m.GetSemaphore() != "" && role == gatekeeperv1.Role_ROLE_ACQUIRER {
		id, err := o.Identity(&o.f.Global)
		if err != nil {
			return err
		}
		m.Group, m.Acquirer = id.GetGroup(), id.GetAcquirer()
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		r, err := c.Auth().CanI(ctx, m)
		if err != nil {
			return err
		}
		if !o.output.Is(ui.Table) {
			err = o.f.PrintObject(o.output, r)
		} else {
			_, err = fmt.Fprintln(o.f.Out, map[bool]string{true: "yes", false: "no"}[r.GetAllowed()])
		}
		if err != nil || r.GetAllowed() {
			return err
		}
		return &ui.CodeError{Code: ui.ExitFailure, Err: errors.New(words.Cell(r.GetReason()))}
	})
}
