package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("give %s", what)
		}
		return nil
	}
}

func atMost(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("give %s", what)
		}
		return nil
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("give %s", what)
		}
		return nil
	}
}

// tokens reads arguments that are tokens.
func tokens(args []string) ([]uint64, error) {
	out := make([]uint64, len(args))
	for i, arg := range args {
		n, err := strconv.ParseUint(arg, 10, 64)
		if err != nil || n == 0 {
			return nil, usagef("%q is no token: `gkctl holders` shows them", arg)
		}
		out[i] = n
	}
	return out, nil
}

// isGlob says whether an argument may stand for several names. Names contain none of these characters.
func isGlob(arg string) bool { return strings.ContainsAny(arg, "*?[]") }

// maxNames is the most names and globs of one call.
const maxNames = 100

// definitions reads the definitions that match names and labels. A name that is no glob and is not there is an error.
func definitions(ctx context.Context, c *client.Client, names []string, labels string) ([]*gatekeeperv1.DefinitionRecord, error) {
	var all []*gatekeeperv1.DefinitionRecord
	seen := make(map[string]bool)
	for first := true; first || len(names) > 0; first = false {
		some := names[:min(len(names), maxNames)]
		names = names[len(some):]
		for r, err := range c.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{Names: some, Labels: labels}) {
			if err != nil {
				return nil, err
			}
			if name := r.GetDefinition().GetName(); !seen[name] {
				seen[name] = true
				all = append(all, r)
			}
		}
		for _, name := range some {
			if labels == "" && !isGlob(name) && !seen[name] {
				return nil, &codeError{code: exitNoSuch, err: errors.New(noDefinition(ctx, c, name)), hint: "`gkctl get` lists the definitions."}
			}
		}
	}
	return all, nil
}

func mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}
