package conn

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// CompletionPage is the maximum number of completions requested from the servers.
const CompletionPage = 1000

// Complete returns a completion function that calls list and offers the results that start with the typed word. The
// function contacts the servers while a user waits, so it has a time limit and ignores errors.
func (f *Factory) Complete(list func(ctx context.Context, c *client.Client, args []string, toComplete string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) (words []string, _ cobra.ShellCompDirective) {
		_ = f.Connect(cmd.Context(), func(ctx context.Context, c *client.Client) (err error) {
			ctx, cancel := context.WithTimeout(ctx, min(f.Global.Timeout, client.DefaultAttemptTimeout))
			defer cancel()
			words, err = list(ctx, c, args, toComplete)
			return err
		})
		return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, toComplete) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteNames completes the names of definitions.
func (f *Factory) CompleteNames(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return f.Complete(func(ctx context.Context, c *client.Client, _ []string, toComplete string) ([]string, error) {
		return lookup.DefinitionNames(ctx, c, []string{toComplete + "*"})
	})(cmd, args, toComplete)
}

// CompleteGroups completes a flag with the groups of known callers.
func (f *Factory) CompleteGroups(cmd *cobra.Command, flag string) {
	f.completeCallers(cmd, flag, (*gatekeeperv1.Caller).GetGroup)
}

// CompleteAcquirers completes a flag with the acquirers of known callers.
func (f *Factory) CompleteAcquirers(cmd *cobra.Command, flag string) {
	f.completeCallers(cmd, flag, (*gatekeeperv1.Caller).GetAcquirer)
}

func (f *Factory) completeCallers(cmd *cobra.Command, flag string, name func(*gatekeeperv1.Caller) string) {
	// This fails only if there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, f.Complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Operator().ListKnown(ctx, &gatekeeperv1.ListKnownRequest{PageSize: CompletionPage})
		names := words.Map(r.GetCallers(), name)
		slices.Sort(names)
		return slices.Compact(names), err
	}))
}

// CompleteFlags adds completion for the flags that have the same meaning in every command, unless a command has already
// added its own.
func (f *Factory) CompleteFlags(cmd *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{"selector": f.Complete(labelPairs), "context": CompleteContexts} {
		if cmd.Flags().Lookup(flag) != nil || cmd.PersistentFlags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, complete) // fails only if the flag already has a completion
		}
	}
	for flag, complete := range map[string]func(*cobra.Command, string){"group": f.CompleteGroups, "acquirer": f.CompleteAcquirers} {
		if _, done := cmd.GetFlagCompletionFunc(flag); !done && cmd.Flags().Lookup(flag) != nil {
			complete(cmd, flag)
		}
	}
	for _, c := range cmd.Commands() {
		f.CompleteFlags(c)
	}
}

// labelPairs returns the labels of all definitions as KEY=VALUE, each appended to the pairs already typed.
func labelPairs(ctx context.Context, c *client.Client, _ []string, toComplete string) ([]string, error) {
	chosen := toComplete[:strings.LastIndex(toComplete, ",")+1]
	all, err := lookup.Definitions(ctx, c, nil, "")
	var found []string
	for _, r := range all {
		for key, value := range r.GetDefinition().GetLabels() {
			found = append(found, chosen+key+"="+ui.SelectorValue(value))
		}
	}
	slices.Sort(found)
	return slices.Compact(found), err
}
