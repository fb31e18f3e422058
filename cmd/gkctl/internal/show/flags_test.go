package show

import (
	"context"
	"slices"
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestGet_RepeatedStateFlag_AddsStates(t *testing.T) {
	t.Parallel()
	var got *getOptions
	cmd := newGet(&conn.Factory{IO: &ui.IO{}}, func(o *getOptions, _ context.Context) error {
		got = o
		return nil
	})
	cmd.SetArgs([]string{"nightly-*", "--state", "missed, held", "--state=paused", "--group", "prod"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := statesFlag{
		gatekeeperv1.DefinitionState_DEFINITION_STATE_MISSED, gatekeeperv1.DefinitionState_DEFINITION_STATE_HELD,
		gatekeeperv1.DefinitionState_DEFINITION_STATE_PAUSED,
	}
	if !slices.Equal(got.states, want) || got.group != "prod" || !slices.Equal(got.globs, []string{"nightly-*"}) {
		t.Errorf("got states %v, group %q, names %q; want %v, \"prod\", [\"nightly-*\"]", got.states, got.group, got.globs, want)
	}
}

func TestGet_UnknownState_IsRejected(t *testing.T) {
	t.Parallel()
	cmd := newGet(&conn.Factory{IO: &ui.IO{}}, func(*getOptions, context.Context) error {
		t.Error("get ran with an unknown state")
		return nil
	})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--state", "running,asleep"})
	if err := cmd.ExecuteContext(t.Context()); err == nil {
		t.Error("get --state asleep: the unknown state was accepted")
	}
}
