package root

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
)

// flagError says what is wrong with a flag, in the words of an operator: pflag's own have those of Go's parsers in them.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return ui.Usagef("there is no flag %s", unknownFlag(cmd, e))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return ui.Usagef("--%s needs a value: %s", e.GetFlag().Name, e.GetFlag().Usage)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return ui.Usagef("--%s %q %s", e.GetFlag().Name, e.GetValue(), valueRule(e))
	}
	return ui.Usagef("%w", err)
}

// unknownFlag is the flag as it was written, and the one that was likely meant.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) string {
	if short := e.GetSpecifiedShortnames(); short != "" {
		text := "-" + e.GetSpecifiedName()[:1]
		if strings.Trim(short, "0123456789") == "" {
			text += ": a value below 0 is not taken here"
		}
		return text
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	text := "--" + e.GetSpecifiedName()
	if meant := nearest.Word(e.GetSpecifiedName(), known); meant != "" {
		text += "; did you mean --" + meant + "?"
	}
	return text
}

// valueRule is what a flag's value must be.
func valueRule(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "duration", "DURATION":
		return durationRule(e)
	case "int", "int32", "int64", "uint", "uint32", "uint64":
		switch {
		case errors.Is(e, strconv.ErrRange):
			return "is too large"
		case strings.HasPrefix(e.GetFlag().Value.Type(), "u"):
			return "must be a whole number, 0 or above"
		}
		return "must be a whole number"
	case "bool":
		return "must be true or false, or left out"
	case "stringToString":
		return "must be KEY=VALUE"
	}
	return e.Unwrap().Error()
}

// durationRule is what a duration must be.
func durationRule(e *pflag.InvalidValueError) string {
	s := e.GetValue()
	if _, err := time.ParseDuration(s); err == nil {
		return e.Unwrap().Error() // the flag's own rule
	}
	switch number := strings.Trim(s, "0123456789."); {
	case s != "" && number == "":
		return fmt.Sprintf("has no unit: write for example %ss or %sm", s, s)
	case slices.Contains([]string{"h", "m", "s", "ms"}, number) && !strings.HasPrefix(s, number):
		return "is too long"
	}
	return "is no duration: write for example 30s, 5m or 1h30m"
}
