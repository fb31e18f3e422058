package tasks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/tasks"
)

func TestNewManager_InvalidOption_ReturnsError(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	c := dialTCP(t, srv, "app1")
	for what, o := range map[string]tasks.Option{
		"no host": tasks.WithProbeURL("/tasks"), "not HTTP": tasks.WithProbeURL("ftp://app1/tasks"), "not a URL": tasks.WithProbeURL("http://%zz"),
		"zero timeout": tasks.WithProbeTimeout(0), "negative retries": tasks.WithRetries(-1, 0), "negative delay": tasks.WithRetries(1, -1),
		"no logger": tasks.WithLogger(nil), "invalid gocron option": tasks.WithScheduler(gocron.WithClock(nil)),
	} {
		if _, err := tasks.NewManager(c, o); err == nil {
			t.Errorf("%s: NewManager accepted the option", what)
		}
	}
}

func TestManager_Options_SetSemaphoreAndMetadata(t *testing.T) {
	t.Parallel()
	srv := start(t, time.Minute)
	h := newHost(t, srv, dialTCP(t, srv, "app1"),
		tasks.WithSemaphore(func(task string) string { return name }),
		tasks.WithAcquireOptions(client.WithMetadata(map[string]string{"version": "3"})),
		tasks.WithProbeURL("http://app1:8080/tasks"),
		tasks.WithJobOptions(client.WithFiringName("shared")),
	)
	seen := make(chan map[string]string, 1)
	h.register(tasks.Func("other", everyMinute(), func(context.Context) error {
		seen <- srv.Holders(t, name)[0].GetMetadata()
		return nil
	}))
	h.advanceToDue()
	if got := receive(t, seen, "the run"); got["version"] != "3" || got["tasks.probe-url"] != "http://app1:8080/tasks" || got["tasks.instance"] == "" {
		t.Errorf("permit metadata = %v, want the version, the probe URL and an instance", got)
	}
}

func TestString_VerdictsAndStates_HaveNames(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]fmt.Stringer{
		"alive": tasks.Alive, "dead": tasks.Dead, "retry": tasks.Retry, "Verdict(9)": tasks.Verdict(9),
		"idle": tasks.Idle, "initializing": tasks.Initializing, "acquiring": tasks.Acquiring, "taking over": tasks.TakingOver,
		"running": tasks.Running, "removing": tasks.Removing, "State(9)": tasks.State(9),
	} {
		if got.String() != want {
			t.Errorf("String() = %s, want %s", got, want)
		}
	}
}
