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

// The groups of commands in help.
const (
	GroupSee     = "see"
	GroupChange  = "change"
	GroupPermits = "permits"
	GroupWork    = "work"
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

// direction is where a time of day lies.
type direction int

const (
	Ahead direction = iota
	Back
)

// ParseTime reads an instant: RFC 3339; a local date and time; a local time of day, the next one or the last one; and, looking
// back, a duration: so long ago.
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
		// Days are counted by the calendar: some have 23 hours, some 25.
		on := func(day int) time.Time {
			return time.Date(now.Year(), now.Month(), day, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		}
		today := on(now.Day())
		switch {
		case to == Ahead && !today.After(now):
			return on(now.Day() + 1), nil
		case to == Back && today.After(now):
			return on(now.Day() - 1), nil
		}
		return today, nil
	}
	if d, err := time.ParseDuration(s); err == nil && to == Back {
		if d < 0 {
			return time.Time{}, Usagef("%s %s must not be below 0: it is how long ago", flag, s)
		}
		return now.Add(-d), nil
	}
	if to == Back {
		return time.Time{}, Usagef("%s %q is no time: give 2026-01-31T02:00:00Z, 02:00 for the last such time here, or 10m for so long ago", flag, s)
	}
	return time.Time{}, Usagef("%s %q is no time: give 2026-01-31T02:00:00Z, or 02:00 for the next such time here", flag, s)
}

// RegisterSelector registers -l, which joins what it is given into labels.
func RegisterSelector(cmd *cobra.Command, labels *string, usage string) {
	cmd.Flags().VarP(selectorFlag{labels}, "selector", "l", usage+"; repeat it to narrow the choice")
}

// String, Set and Type make it a flag.
func (f selectorFlag) String() string {
	if f.labels == nil {
		return ""
	}
	return *f.labels
}

// Set adds a selector. An empty one would choose everything, and is what a script passes when its variable is not set.
func (f selectorFlag) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("must not be empty: leave it out, or give labels, as in team=data")
	}
	if *f.labels != "" {
		if open := unclosed(*f.labels); open != "" {
			return fmt.Errorf("follows -l %q, which has a %s that is not closed", *f.labels, open)
		}
		s = *f.labels + "," + s
	}
	*f.labels = s
	return nil
}

// Type is what help calls the value.
func (f selectorFlag) Type() string { return "LABELS" }

// SelectorValue is a label's value as a selector takes it: between quotation marks if it contains characters of the selector's language.
func SelectorValue(value string) string {
	if !strings.ContainsAny(value, `=,!()"`) && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// unclosed names what a selector leaves open. Joined with the next one, such a selector could mean something else than both do.
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

// selectorFlag is -l. A repeated -l narrows the choice: all of its selectors must hold.
type selectorFlag struct{ labels *string }
