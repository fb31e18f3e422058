package ui

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Command groups in the help text.
const (
	GroupInspect = "inspect"
	GroupChange  = "change"
	GroupPermits = "permits"
	GroupWork    = "work"
	GroupCluster = "cluster"
)

// NoArgs is a cobra.PositionalArgs that rejects all arguments.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// Exactly returns a cobra.PositionalArgs that requires n arguments. what describes them in the error.
func Exactly(n int, what string) cobra.PositionalArgs { return between(n, n, what) }

// AtMost returns a cobra.PositionalArgs that accepts up to n arguments. what describes them in the error.
func AtMost(n int, what string) cobra.PositionalArgs { return between(0, n, what) }

// AtLeastOne returns a cobra.PositionalArgs that requires one or more arguments. what describes them in the error.
func AtLeastOne(what string) cobra.PositionalArgs { return between(1, math.MaxInt, what) }

func between(minArgs, maxArgs int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < minArgs || len(args) > maxArgs {
			return Usagef("specify %s", what)
		}
		return nil
	}
}

// Tokens parses arguments as tokens.
func Tokens(args []string) ([]uint64, error) {
	out := make([]uint64, len(args))
	for i, arg := range args {
		n, err := strconv.ParseUint(arg, 10, 64)
		if err != nil || n == 0 {
			return nil, Usagef("%q is not a token: `gkctl holders` shows the tokens", arg)
		}
		out[i] = n
	}
	return out, nil
}

// FiringArg parses an argument as a firing.
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

// ParseFiring parses NAME[@TIME].
func ParseFiring(s string) (name string, due time.Time, err error) {
	name = s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name = s[:i]
		if due, err = time.Parse(time.RFC3339, s[i+1:]); err != nil {
			return "", due, Usagef("firing %q: the time after @ must look like 2026-01-31T02:00:00Z", s)
		}
	}
	if name == "" {
		return "", due, Usagef("firing %q has no name", s)
	}
	return name, due.UTC(), nil
}

// GroupHelp is the RunE of a command that only has subcommands.
func GroupHelp(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("unknown command %q%s", args[0], Suggestion(cmd, args[0]))
	}
	return cmd.Help()
}

// Suggestion returns text that suggests the subcommands most similar to a word, or an empty string if none is similar.
func Suggestion(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(word); len(s) > 0 {
		return ": did you mean " + strings.Join(s, " or ") + "?"
	}
	return ""
}

// direction determines whether a time of day means its next or its most recent occurrence.
type direction int

const (
	Future direction = iota
	Past
)

// ParseTime parses a point in time: RFC 3339, a local date with an optional time, or a local time of day, which means
// its next or most recent occurrence, depending on the direction. With Past it also parses a duration, which is
// subtracted from now.
func ParseTime(flag, s string, now time.Time, to direction) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		// Add days by the calendar, because some days have 23 or 25 hours.
		on := func(day int) time.Time {
			return time.Date(now.Year(), now.Month(), day, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		}
		today := on(now.Day())
		switch {
		case to == Future && !today.After(now):
			return on(now.Day() + 1), nil
		case to == Past && today.After(now):
			return on(now.Day() - 1), nil
		}
		return today, nil
	}
	if d, err := time.ParseDuration(s); err == nil && to == Past {
		if d < 0 {
			return time.Time{}, Usagef("%s %s must not be negative: it specifies how long ago", flag, s)
		}
		return now.Add(-d), nil
	}
	if to == Past {
		return time.Time{}, Usagef("%s %q is not a time: use 2026-01-31T02:00:00Z, 02:00 for the most recent 02:00 local time, or 10m for 10 minutes ago", flag, s)
	}
	return time.Time{}, Usagef("%s %q is not a time: use 2026-01-31T02:00:00Z, or 02:00 for the next 02:00 local time", flag, s)
}

// RegisterSelector adds -l and stores its value in labels. If -l is repeated, the selectors are joined with commas.
func RegisterSelector(cmd *cobra.Command, labels *string, usage string) {
	cmd.Flags().VarP(selectorFlag{labels}, "selector", "l", usage+"; repeat it to narrow the selection")
}

// String implements pflag.Value.
func (f selectorFlag) String() string {
	if f.labels == nil {
		return ""
	}
	return *f.labels
}

// Set adds a selector. It rejects an empty selector, which would select everything, because a script with an unset
// variable may pass one by mistake.
func (f selectorFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("must not be empty: omit it, or specify labels such as team=data")
	}
	if *f.labels != "" {
		if open := unclosed(*f.labels); open != "" {
			return fmt.Errorf("follows -l %q, which has an unclosed %s", *f.labels, open)
		}
		s = *f.labels + "," + s
	}
	*f.labels = s
	return nil
}

// Type returns the placeholder for the value in the help text.
func (f selectorFlag) Type() string { return "LABELS" }

// SelectorValue returns a label's value in selector syntax. It quotes the value if necessary.
func SelectorValue(value string) string {
	if !strings.ContainsAny(value, `=,!()"`) && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// unclosed returns the quotation mark or parenthesis that a selector leaves open, or an empty string. Joining an
// unclosed selector with the next one could change its meaning.
func unclosed(s string) string {
	quoted, depth := false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && c == '(':
			depth++
		case !quoted && c == ')':
			depth--
		}
	}
	switch {
	case quoted:
		return "quotation mark"
	case depth > 0:
		return "("
	}
	return ""
}

// selectorFlag is the value of -l. If -l is repeated, all selectors must match.
type selectorFlag struct{ labels *string }
