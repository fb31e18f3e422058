package see

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const statePrefix = "DEFINITION_STATE_"

// statesFlag is --state: states of definitions, any of which is enough.
type statesFlag []gatekeeperv1.DefinitionState

func (f *statesFlag) register(cmd *cobra.Command) {
	cmd.Flags().Var(f, "state", "only those in one of these states: "+strings.Join(stateWords(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateWords(), cobra.ShellCompDirectiveNoFileComp)) // its only error: no such flag
}

// stateWords are the states by their numbers.
func stateWords() []string {
	var out []string
	for n := range gatekeeperv1.DefinitionState_name {
		if n > 0 {
			out = append(out, words.Word(gatekeeperv1.DefinitionState(n), statePrefix))
		}
	}
	slices.Sort(out)
	return out
}

// String, Set and Type make it a flag.
func (f *statesFlag) String() string {
	return strings.Join(words.Mapped(*f, func(s gatekeeperv1.DefinitionState) string { return words.Word(s, statePrefix) }), ",")
}

func (f *statesFlag) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(stateWords(), word) {
			return fmt.Errorf("must be one or several of %s", strings.Join(stateWords(), ", "))
		}
		*f = append(*f, gatekeeperv1.DefinitionState(gatekeeperv1.DefinitionState_value[statePrefix+strings.ToUpper(word)]))
	}
	return nil
}

// Type is what help calls the value.
func (f *statesFlag) Type() string { return "STATE,..." }
