package ui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
