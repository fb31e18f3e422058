package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// tokenDone is what a command did to one permit, as -o json has it.
type tokenDone struct {
	Token uint64 `json:"token,string"`
	// Semaphore is empty when the servers do not say.
	Semaphore string `json:"semaphore,omitempty"`
	// Action is revoked, cleared or released; empty when it was refused, and then Error says why.
	Action   string `json:"action,omitempty"`
	Revision uint64 `json:"revision,string,omitempty"`
	Error    string `json:"error,omitempty"`

	// text is the line for a person.
	text string
}

// tokenCommand completes a command that does something to each token, and goes on after one that fails. first, unless it is nil, may
// refuse before anything is done.
func tokenCommand(
	f *conn.Factory, cmd *cobra.Command, first func(context.Context) error, each func(context.Context, *client.Client, uint64) (tokenDone, error),
) *cobra.Command {
	var output ui.Output
	output.Register(cmd, ui.Table, ui.JSON, ui.YAML, ui.Name)
	cmd.Args = ui.AtLeastOne("the tokens of permits: `gkctl holders` shows them")
	cmd.ValidArgsFunction = completeTokens(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := ui.Tokens(args)
		if err != nil {
			return err
		}
		if first != nil {
			if err := first(cmd.Context()); err != nil {
				return err
			}
		}
		return f.Ask(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			var failed []error
			done := []tokenDone{}
			for _, t := range all {
				d, err := each(ctx, c, t)
				if d.Token = t; err != nil {
					failed = append(failed, err)
					d.Error = ui.Sentence(err)
				}
				done = append(done, d)
				printToken(f, output, &d)
			}
			if output.Is(ui.JSON) || output.Is(ui.YAML) {
				failed = append(failed, f.PrintObject(output, ui.Items(done)))
			}
			if len(failed) == 1 {
				return failed[0]
			}
			return errors.Join(failed...)
		})
	}
	return cmd
}

// actionIf is the action when there is no error.
func actionIf(err error, action string) string {
	if err != nil {
		return ""
	}
	return action
}

// printToken prints what was done to one token as soon as it is done: a later one may take long.
func printToken(f *conn.Factory, o ui.Output, d *tokenDone) {
	switch {
	case d.Error != "":
	case o.Is(ui.Table):
		fmt.Fprintln(f.Out, d.text)
	case o.Is(ui.Name):
		fmt.Fprintln(f.Out, d.Token)
	}
}

// completeTokens completes the tokens of permits, and shows who holds them.
func completeTokens(f *conn.Factory) cobra.CompletionFunc {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{PageSize: conn.CompletionPage})
		return words.Mapped(r.GetPermits(), func(p *gatekeeperv1.Permit) string {
			return fmt.Sprintf("%d\t%s of %s in %s", p.GetToken(), p.GetSemaphore(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup())
		}), err
	})
}
