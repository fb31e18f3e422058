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

// exitText is an exit code with its line in the help text.
type exitText struct {
	code int
	text string
}

// generalExits returns the exit codes that any command may use.
func generalExits() []exitText {
	return []exitText{
		{ui.ExitOK, "done"},
		{ui.ExitFailure, "differences were found (diff), or the servers refused the request"},
		{ui.ExitUsage, "bad flag, argument or context"},
		{ui.ExitBadInput, "an invalid definition (from a file or the arguments to set), name or pattern"},
		{ui.ExitUnreachable, "no server responded"},
		{ui.ExitLost, "a permit was lost while it was held, or the comparison failed (diff)"},
		{ui.ExitNotAcquired, "not acquired, refreshed or valid"},
		{ui.ExitNotAllowed, "unauthenticated, or forbidden: ask an administrator for the missing role"},
		{ui.ExitNoSuch, "no such definition, or nothing matches the selection"},
		{ui.ExitInterrupted, "interrupted"},
	}
}

// ownExits returns a command's specific exit codes and texts. exitsOf adds 0, 64, 69, 77 and 130 where they apply. An
// empty text stands for the one in generalExits.
func ownExits(command string) []exitText {
	refused := exitText{ui.ExitFailure, "the servers refused the request, for example because of a concurrent change; nothing was changed"}
	bad, noSuch := exitText{ui.ExitBadInput, ""}, exitText{ui.ExitNoSuch, ""}
	switch command {
	case "get", "holders", "waiters", "explain":
		return []exitText{bad, {ui.ExitNoSuch, "a name (not a glob) has no definition"}}
	case "watch":
		return []exitText{bad}
	case "history":
		return []exitText{{ui.ExitFailure, "the journal has no change with that number"}, bad, {ui.ExitNoSuch, "one of the names has neither a definition nor a journal entry"}}
	case "preview", "apply", "set", "edit", "delete", "pause", "resume":
		return []exitText{refused, bad, noSuch}
	case "uncordon":
		return []exitText{refused, bad, {ui.ExitNoSuch, "a cordon does not exist; the others were removed"}}
	case "firings list", "firings show":
		return []exitText{bad, noSuch}
	case "firings forget":
		return []exitText{refused, bad, {ui.ExitNoSuch, "there is no such definition or firing; nothing was forgotten"}}
	case "cert init", "cert server", "cert peer", "cert client", "cert show":
		return []exitText{{ui.ExitFailure, "a file already exists, is missing, or cannot be used"}}
	case "snapshot save":
		return []exitText{{ui.ExitFailure, "the servers refused the call, or the file cannot be written; nothing was saved"}, {ui.ExitBadInput, "the server sent an incomplete backup; nothing was saved"}}
	case "snapshot inspect":
		return []exitText{{ui.ExitFailure, "the file cannot be read"}, {ui.ExitBadInput, "the file is not a backup, is damaged, or was written by a newer version"}}
	case "auth can-i":
		return []exitText{{ui.ExitOK, "allowed"}, {ui.ExitFailure, "not allowed"}, bad}
	case "auth bind", "auth unbind", "auth token create", "auth token revoke":
		return []exitText{refused, bad, {ui.ExitNoSuch, "there is no such binding or token"}}
	case "cordon", "undo", "cluster add", "cluster remove", "cluster transfer":
		return []exitText{refused, bad}
	case "move":
		return []exitText{
			{ui.ExitOK, "all definitions were moved and their old holders have stopped, or there was nothing to move"},
			{ui.ExitFailure, "the move was refused, or some definitions were not moved: see docs/gkctl-reference.md"},
			bad, {ui.ExitNoSuch, "no such group, definition or label; nothing was moved"},
		}
	case "job list", "work list":
		return []exitText{bad, {ui.ExitNoSuch, "no such definition"}}
	case "job submit":
		return []exitText{{ui.ExitFailure, "the servers refused the job; or, with --wait, a task failed, was cancelled or was dropped"}, bad, noSuch}
	case "job follow", "job results":
		return []exitText{{ui.ExitFailure, "a task failed, was cancelled or was dropped, or has no result"}, bad, {ui.ExitNoSuch, "no such job"}}
	case "job cancel", "job retry", "job delete":
		return []exitText{{ui.ExitFailure, "the change was refused for at least one job; the others were changed"}, bad, {ui.ExitNoSuch, "no such job, or no jobs match; nothing was changed"}}
	case "job show", "task list", "task show", "task retry", "task drop":
		return []exitText{{ui.ExitFailure, "the servers refused the call"}, bad, {ui.ExitNoSuch, "no such job or task"}}
	case "diff":
		return []exitText{{ui.ExitOK, "no differences"}, {ui.ExitFailure, "differences were found"},
			{ui.ExitBadInput, "invalid definitions in a file, or an outdated version"}, {ui.ExitLost, "the comparison failed"}}
	case "bench":
		return []exitText{
			{ui.ExitFailure, "a call failed, a permit was not returned, --rate was not reached, or the prefix is already in use"},
			bad,
		}
	case "audit verify":
		return []exitText{{ui.ExitOK, "the chain is intact"}, {ui.ExitFailure, "the chain is broken, or an anchor does not match"}, {ui.ExitBadInput, "the log cannot be read"}, {ui.ExitInterrupted, ""}}
	case "status":
		return []exitText{{ui.ExitUnreachable, "no server responded, or there is no leader"}}
	case "cluster status":
		return []exitText{{ui.ExitUnreachable, "a member did not answer"}}
	case "acquire":
		return []exitText{bad, {ui.ExitLost, "the permit was lost while --hold was holding it"}, {ui.ExitNotAcquired, "not acquired"}, noSuch}
	case "refresh":
		return []exitText{{ui.ExitNotAcquired, "a permit has ended or could not be refreshed: stop the work that it protects"}}
	case "verify":
		return []exitText{bad, {ui.ExitNotAcquired, "not valid"}}
	case "release", "revoke", "clear":
		return []exitText{{ui.ExitFailure, "at least one permit had already ended or could not be changed; the others were changed"}}
	}
	return nil
}

// exitHelp returns the exit codes for a command's help text. It returns an empty string for a command with subcommands
// and for run, because the help text for run and work already lists their exit codes.
func exitHelp(cmd *cobra.Command) string {
	name := strings.TrimPrefix(cmd.CommandPath(), "gkctl ")
	exits := generalExits()
	switch {
	case cmd.HasParent() && (cmd.HasSubCommands() || name == "run"):
		return ""
	case cmd.HasParent():
		exits = exitsOf(name)
	}
	var b strings.Builder
	b.WriteString("\nExit codes:\n")
	for _, e := range exits {
		if e.code == ui.ExitUsage && cmd.Flags().Lookup("yes") != nil {
			e.text += "; or the change needs --yes"
		}
		fmt.Fprintf(&b, "  %-3d  %s\n", e.code, e.text)
	}
	return b.String()
}

func exitsOf(command string) []exitText {
	own := make(map[int]string)
	for _, e := range ownExits(command) {
		own[e.code] = e.text
	}
	local := command == "version" || command == "help" || command == "completion" || strings.HasPrefix(command, "context") || strings.HasPrefix(command, "cert ") ||
		command == "auth roles" || command == "audit verify" || command == "snapshot inspect"
	var out []exitText
	for _, e := range generalExits() {
		text, has := own[e.code]
		switch e.code {
		case ui.ExitOK, ui.ExitUsage:
			has = true
		case ui.ExitUnreachable, ui.ExitNotAllowed, ui.ExitInterrupted:
			has = has || !local
		}
		if text == "" {
			text = e.text
		}
		if has {
			out = append(out, exitText{e.code, text})
		}
	}
	return out
}

// newHelp replaces cobra's help command, which exits with 0 for a mistyped command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  gkctl help move\n  gkctl help cluster transfer",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			target, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range target.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), toComplete) {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 && target.HasSubCommands() {
				return ui.Usagef("unknown command %q%s", strings.Join(args, " "), ui.Suggestion(target, rest[0]))
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// flagError rewords a flag error for operators, because pflag's messages include errors from Go's parsers.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return ui.Usagef("unknown flag %s", unknownFlag(cmd, e))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return ui.Usagef("--%s needs a value: %s", e.GetFlag().Name, e.GetFlag().Usage)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return ui.Usagef("--%s %q %s", e.GetFlag().Name, e.GetValue(), valueRule(e))
	}
	return ui.Usagef("%w", err)
}

// unknownFlag returns the flag as the user wrote it and suggests the most similar one.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) string {
	if short := e.GetSpecifiedShortnames(); short != "" {
		text := "-" + e.GetSpecifiedName()[:1]
		if strings.Trim(short, "0123456789") == "" {
			text += ": negative values are not allowed here"
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
	if suggestion := nearest.Word(e.GetSpecifiedName(), known); suggestion != "" {
		text += "; did you mean --" + suggestion + "?"
	}
	return text
}

// valueRule explains why a flag's value is invalid, or what it must be.
func valueRule(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "duration", "DURATION":
		return durationRule(e)
	case "int", "int32", "int64", "uint", "uint32", "uint64":
		switch {
		case errors.Is(e, strconv.ErrRange):
			return "is too large"
		case strings.HasPrefix(e.GetFlag().Value.Type(), "u"):
			return "must be a whole number, 0 or greater"
		}
		return "must be a whole number"
	case "bool":
		return "must be true or false, or omitted"
	case "stringToString":
		return "must be KEY=VALUE"
	}
	return e.Unwrap().Error()
}

// durationRule is valueRule for durations.
func durationRule(e *pflag.InvalidValueError) string {
	s := e.GetValue()
	if _, err := time.ParseDuration(s); err == nil {
		return e.Unwrap().Error() // the flag's own error
	}
	switch number := strings.Trim(s, "0123456789."); {
	case s != "" && number == "":
		return fmt.Sprintf("has no unit: write %ss or %sm, for example", s, s)
	case slices.Contains([]string{"h", "m", "s", "ms"}, number) && !strings.HasPrefix(s, number):
		return "is too long"
	}
	return "is not a duration: write 30s, 5m or 1h30m, for example"
}
