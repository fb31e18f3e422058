package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// completeGroups and completeAcquirers complete a flag by who was seen asking.
func (a *app) completeGroups(cmd *cobra.Command, flag string) {
	a.completeKnown(cmd, flag, (*gatekeeperv1.Caller).GetGroup)
}

func (a *app) completeAcquirers(cmd *cobra.Command, flag string) {
	a.completeKnown(cmd, flag, (*gatekeeperv1.Caller).GetAcquirer)
}

// completeFlags completes the flags that mean the same in each command, as far as a command has not done so itself.
func (a *app) completeFlags(cmd *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{"selector": a.completeLabels, "context": completeContexts} {
		if cmd.Flags().Lookup(flag) != nil || cmd.PersistentFlags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, complete) // its only error: there is one already
		}
	}
	for _, flag := range []string{"group", "acquirer"} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		if _, done := cmd.GetFlagCompletionFunc(flag); !done {
			a.completeKnown(cmd, flag, map[string]func(*gatekeeperv1.Caller) string{
				"group": (*gatekeeperv1.Caller).GetGroup, "acquirer": (*gatekeeperv1.Caller).GetAcquirer,
			}[flag])
		}
	}
	for _, c := range cmd.Commands() {
		a.completeFlags(c)
	}
}

// completeLabels completes a label, as KEY=VALUE, after what was chosen already.
func (a *app) completeLabels(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	chosen, label := "", begun
	if i := strings.LastIndex(begun, ","); i >= 0 {
		chosen, label = begun[:i+1], begun[i+1:]
	}
	var found []string
	a.completing(cmd, func(ctx context.Context, c *client.Client) error {
		all, err := definitions(ctx, c, nil, "")
		for _, r := range all {
			for key, value := range r.GetDefinition().GetLabels() {
				if pair := key + "=" + selectorValue(value); strings.HasPrefix(pair, label) {
					found = append(found, chosen+pair)
				}
			}
		}
		return err
	})
	slices.Sort(found)
	return slices.Compact(found), cobra.ShellCompDirectiveNoFileComp
}

// completeMembers completes the ids of servers.
func (a *app) completeMembers(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	a.completing(cmd, func(ctx context.Context, c *client.Client) error {
		r, err := c.Cluster().GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
		for _, m := range r.GetMembers() {
			if strings.HasPrefix(m.GetId(), begun) {
				ids = append(ids, m.GetId())
			}
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completing asks the servers while a person waits for a word to be completed: not for long, and a shell shows no errors.
func (a *app) completing(cmd *cobra.Command, ask func(context.Context, *client.Client) error) {
	_ = a.connected(cmd.Context(), func(ctx context.Context, c *client.Client) error {
		ctx, cancel := context.WithTimeout(ctx, min(a.global.timeout, client.DefaultAttemptTimeout))
		defer cancel()
		return ask(ctx, c)
	})
}

func (a *app) completeKnown(cmd *cobra.Command, flag string, name func(*gatekeeperv1.Caller) string) {
	complete := func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var names []string
		a.completing(cmd, func(ctx context.Context, c *client.Client) error {
			// One page is more than a person looks through.
			r, err := c.Operator().ListKnown(ctx, &gatekeeperv1.ListKnownRequest{PageSize: 1000})
			for _, caller := range r.GetCallers() {
				if n := name(caller); strings.HasPrefix(n, begun) {
					names = append(names, n)
				}
			}
			return err
		})
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // its only error: no such flag
}
