package main

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

// completionPage is how many words the servers are asked for: more than a person looks through.
const completionPage = 1000

// complete completes a word by what list returns, where that has the same beginning. It asks the servers while a person waits: not for
// long, and a shell shows no errors.
func (a *app) complete(list func(ctx context.Context, c *client.Client, args []string, begun string) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (words []string, _ cobra.ShellCompDirective) {
		_ = a.connected(cmd.Context(), func(ctx context.Context, c *client.Client) (err error) {
			ctx, cancel := context.WithTimeout(ctx, min(a.global.timeout, client.DefaultAttemptTimeout))
			defer cancel()
			words, err = list(ctx, c, args, begun)
			return err
		})
		return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, begun) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNames completes the names of definitions.
func (a *app) completeNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return a.complete(func(ctx context.Context, c *client.Client, _ []string, begun string) ([]string, error) {
		return lookup.DefinitionNames(ctx, c, []string{begun + "*"})
	})(cmd, args, begun)
}

// completeGroups and completeAcquirers complete a flag by the callers that were seen asking.
func (a *app) completeGroups(cmd *cobra.Command, flag string) {
	a.completeCallers(cmd, flag, (*gatekeeperv1.Caller).GetGroup)
}

func (a *app) completeAcquirers(cmd *cobra.Command, flag string) {
	a.completeCallers(cmd, flag, (*gatekeeperv1.Caller).GetAcquirer)
}

func (a *app) completeCallers(cmd *cobra.Command, flag string, name func(*gatekeeperv1.Caller) string) {
	// Its only error is that there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, a.complete(func(ctx context.Context, c *client.Client, _ []string, _ string) ([]string, error) {
		r, err := c.Operator().ListKnown(ctx, &gatekeeperv1.ListKnownRequest{PageSize: completionPage})
		names := words.Mapped(r.GetCallers(), name)
		slices.Sort(names)
		return slices.Compact(names), err
	}))
}

// completeFlags completes the flags that mean the same in each command, as far as a command has not done so itself.
func (a *app) completeFlags(cmd *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{"selector": a.complete(labelPairs), "context": completeContexts} {
		if cmd.Flags().Lookup(flag) != nil || cmd.PersistentFlags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, complete) // its only error: there is one already
		}
	}
	for flag, complete := range map[string]func(*cobra.Command, string){"group": a.completeGroups, "acquirer": a.completeAcquirers} {
		if _, done := cmd.GetFlagCompletionFunc(flag); !done && cmd.Flags().Lookup(flag) != nil {
			complete(cmd, flag)
		}
	}
	for _, c := range cmd.Commands() {
		a.completeFlags(c)
	}
}

// labelPairs are the labels of definitions, each as KEY=VALUE after what was chosen already.
func labelPairs(ctx context.Context, c *client.Client, _ []string, begun string) ([]string, error) {
	chosen := begun[:strings.LastIndex(begun, ",")+1]
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
