package ui

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The groups of commands in help.
const (
	GroupSee     = "see"
	GroupChange  = "change"
	GroupPermits = "permits"
	GroupCluster = "cluster"
)

// NoArgs refuses every argument.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// Exactly wants n arguments. what says what to give instead.
func Exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

// AtMost wants n arguments or fewer. what says what to give instead.
func AtMost(n int, what string) cobra.PositionalArgs { return between(0, n, what) }

// AtLeastOne wants one argument or more. what says what to give instead.
func AtLeastOne(what string) cobra.PositionalArgs { return between(1, math.MaxInt, what) }

func between(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Usagef("give %s", what)
		}
		return nil
	}
}

// Tokens reads arguments that are tokens.
func Tokens(args []string) ([]uint64, error) {
	out := make([]uint64, len(args))
	for i, arg := range args {
		n, err := strconv.ParseUint(arg, 10, 64)
		if err != nil || n == 0 {
			return nil, Usagef("%q is no token: `gkctl holders` shows them", arg)
		}
		out[i] = n
	}
	return out, nil
}

// FiringArg reads an argument that is a firing.
func FiringArg(arg string) (*gatekeeperv1.Firing, error) {
	name, due, err := ParseFiring(arg)
	if err != nil {
		return nil, err
	}
	f := &gatekeeperv1.Firing{Name: name}
	if !due.IsZero() {
		f.Due = timestamppb.New(due)
	}
	return f, nil
}

// ParseFiring reads NAME[@TIME].
func ParseFiring(s string) (name string, due time.Time, err error) {
	name = s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name = s[:i]
		if due, err = time.Parse(time.RFC3339, s[i+1:]); err != nil {
			return "", due, Usagef("firing %q: the time after @ must be as in 2026-01-31T02:00:00Z", s)
		}
	}
	if name == "" {
		return "", due, Usagef("firing %q has no name", s)
	}
	return name, due.UTC(), nil
}

// HelpOfGroup runs a command that only has others below it.
func HelpOfGroup(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("unknown command %q%s", args[0], Suggestion(cmd, args[0]))
	}
	return cmd.Help()
}

// Suggestion says which command was likely meant by a word; empty when none is near.
func Suggestion(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(word); len(s) > 0 {
		return ": did you mean " + strings.Join(s, " or ") + "?"
	}
	return ""
}
