package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/change"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type createOptions struct {
	f       *conn.Factory
	binding string
	ending  change.EndingFlags
	file    string
	force   bool
	output  ui.Output
}

func newTokenCreate(f *conn.Factory, run func(*createOptions, context.Context) error) *cobra.Command {
	o := &createOptions{f: f}
	cmd := &cobra.Command{
		Use:   "create BINDING [--for DURATION | --until TIME] [--out FILE [--force]]",
		Short: "Create a bearer token for a binding",
		Long: `Creates a bearer token and prints it, or writes it to a file that only its owner can read. It is shown only once, because the servers store
only its hash. A caller with the token acts as the binding. A binding may have several tokens, so that you can replace one before revoking it:

  gkctl auth token create orders --out orders.token --force
  gkctl auth token revoke ID

Clients read the token from the file named by GK_BEARER_TOKEN_FILE, and reread it when it changes.`,
		Example: `  gkctl auth token create orders --for 720h --out orders.token
  gkctl auth token create dashboard > dashboard.token`,
		Args:              ui.Exactly(1, "the name of a binding (`gkctl auth list` lists them)"),
		ValidArgsFunction: completeBindings(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.binding = args[0]
			return run(o, cmd.Context())
		},
	}
	o.ending.Register(cmd, "how long it is valid (default: until it is revoked)")
	cmd.Flags().StringVar(&o.file, "out", "", "write the token to this `FILE` instead of printing it")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the file")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

func (o *createOptions) run(ctx context.Context) error {
	now := time.Now()
	end, err := o.ending.Read(now)
	if err != nil {
		return err
	}
	m := &gatekeeperv1.CreateTokenRequest{Binding: o.binding, ExpiresAt: end.Until, Reason: o.f.Global.Reason}
	if end.Duration != nil {
		m.ExpiresAt = timestamppb.New(now.Add(end.Duration.AsDuration()))
	}
	keep := func(string) error { return nil }
	if o.file != "" { // prepared first, because a token that cannot be saved would be lost
		save, discard, err := o.secretFile()
		if err != nil {
			return err
		}
		defer discard()
		keep = save
	}
	return o.f.Call(ctx, func(ctx context.Context, c *client.Client) error {
		r, err := c.Auth().CreateToken(ctx, m)
		if err != nil {
			return withHint(err, "gkctl auth list -o wide")
		}
		if err := keep(r.GetSecret()); err != nil {
			return ui.WithHint(err, "The token was created, but could not be saved. Revoke it with `gkctl auth token revoke %s`.", r.GetToken().GetId())
		}
		return o.print(r)
	})
}

// secretFile creates a temporary file that only its owner can read. save writes the secret and renames the file to its
// final name, so that no reader sees a partial file. discard removes the file if it was not saved.
func (o *createOptions) secretFile() (save func(secret string) error, discard func(), err error) {
	if !o.force {
		if _, err := os.Lstat(o.file); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = ui.WithHint(fmt.Errorf("%s already exists: no token was created", o.file), "--force replaces it.")
			}
			return nil, nil, err
		}
	}
	temp, err := os.CreateTemp(filepath.Dir(o.file), ".token-*") // with mode 0600
	if err != nil {
		return nil, nil, err
	}
	save = func(secret string) error {
		_, err := temp.WriteString(secret + "\n")
		if err = errors.Join(err, temp.Close()); err != nil {
			return err
		}
		return os.Rename(temp.Name(), o.file)
	}
	return save, func() {
		_ = temp.Close()           // already closed if it was saved
		_ = os.Remove(temp.Name()) // already renamed if it was saved
	}, nil
}

func (o *createOptions) print(r *gatekeeperv1.CreateTokenResponse) error {
	if !o.output.Is(ui.Table) {
		if o.file != "" {
			r.Secret = ""
		}
		return o.f.PrintObject(o.output, r)
	}
	valid := "until it is revoked"
	if r.GetToken().GetExpiresAt() != nil {
		valid = "until " + words.When(r.GetToken().GetExpiresAt())
	}
	text := fmt.Sprintf("token %s for binding %s, valid %s", r.GetToken().GetId(), words.Cell(o.binding), valid)
	if o.file != "" {
		_, err := fmt.Fprintf(o.f.Out, "%s: %s\n", text, o.file)
		return err
	}
	o.f.Logf("%s. It will not be shown again.", text)
	_, err := fmt.Fprintln(o.f.Out, r.GetSecret())
	return err
}

func newTokenList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:     "list [BINDING]",
		Short:   "List the bearer tokens, without their secrets",
		Example: "  gkctl auth token list\n  gkctl auth token list orders",
		Args:    ui.AtMost(1, "at most one binding"),

		ValidArgsFunction: completeBindings(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				all, err := bindings(ctx, c)
				if err != nil {
					return err
				}
				l, err := tokenListing(all, args)
				if err != nil {
					return err
				}
				return f.Print(output, l)
			})
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	return cmd
}

func tokenListing(all []*gatekeeperv1.Binding, args []string) (ui.Listing, error) {
	l := ui.Listing{Headers: []string{"ID", "BINDING", "VALID UNTIL", "CREATED", "BY"}, Empty: "There are no tokens."}
	items := []json.RawMessage{}
	for _, b := range all {
		if len(args) > 0 && b.GetName() != args[0] {
			continue
		}
		for _, t := range b.GetTokens() {
			until := words.When(t.GetExpiresAt())
			if t.GetExpiresAt() != nil && !time.Now().Before(t.GetExpiresAt().AsTime()) {
				until += " (expired)"
			}
			l.Rows = append(l.Rows, ui.Row{Name: t.GetId(), Cells: []string{t.GetId(), b.GetName(), until, words.When(t.GetCreatedAt()), t.GetCreatedBy()}})
			item, err := ui.Joined(t, struct {
				Binding string `json:"binding"`
			}{b.GetName()})
			if err != nil {
				return l, err
			}
			items = append(items, item)
		}
	}
	l.Object = ui.Items(items)
	return l, nil
}

func newTokenRevoke(f *conn.Factory) *cobra.Command {
	var output ui.Output
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a bearer token: calls with it are refused, and its streams end",
		Example: `  gkctl auth token revoke 3kq7h2m4xw5d --reason "it was in a log"`,
		Args:    ui.Exactly(1, "the id of a token (`gkctl auth token list` lists them)"),
		ValidArgsFunction: f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) (ids []string, err error) {
			all, err := bindings(ctx, c)
			for _, b := range all {
				ids = append(ids, words.Map(b.GetTokens(), (*gatekeeperv1.AccessToken).GetId)...)
			}
			return ids, err
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				r, err := c.Auth().RevokeToken(ctx, &gatekeeperv1.RevokeTokenRequest{Id: args[0], Reason: f.Global.Reason})
				if err != nil {
					return withHint(err, "gkctl auth token list")
				}
				if !output.Is(ui.Table) {
					return f.PrintObject(output, r)
				}
				_, err = fmt.Fprintf(f.Out, "token %s revoked\n", words.Cell(args[0]))
				return err
			})
		},
	}
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}
