package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag with one of several words, the first by default.
type choice struct{ words []string }

func newChoice(words ...string) choice { return choice{words} }

func (c *choice) String() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0]
}

// Set puts the chosen word first.
func (c *choice) Set(s string) error {
	i := slices.Index(c.words, s)
	if i < 0 {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	c.words = slices.Concat([]string{s}, c.words[:i], c.words[i+1:])
	return nil
}

// Type is what help calls the value.
func (c *choice) Type() string { return strings.Join(c.words, "|") }

func (c *choice) is(word string) bool { return c.String() == word }

func (c *choice) complete(cmd *cobra.Command, flag string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(slices.Clone(c.words), cobra.ShellCompDirectiveNoFileComp)) // its only error: no such flag
}
