package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

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

// firingArg reads an argument that is a firing.
func firingArg(arg string) (*gatekeeperv1.Firing, error) {
	name, due, err := parseFiring(arg)
	if err != nil {
		return nil, err
	}
	f := &gatekeeperv1.Firing{Name: name}
	if !due.IsZero() {
		f.Due = timestamppb.New(due)
	}
	return f, nil
}

// parseFiring reads NAME[@TIME].
func parseFiring(s string) (name string, due time.Time, err error) {
	name = s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name = s[:i]
		if due, err = time.Parse(time.RFC3339, s[i+1:]); err != nil {
			return "", due, usagef("firing %q: the time after @ must be as in 2026-01-31T02:00:00Z", s)
		}
	}
	if name == "" {
		return "", due, usagef("firing %q has no name", s)
	}
	return name, due.UTC(), nil
}
