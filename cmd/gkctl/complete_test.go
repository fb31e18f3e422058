package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// gkctl decides by itself whether a file says the same as what is stored, so its defaults must be the servers'.
func TestComplete_Defaults_AreTheServers(t *testing.T) {
	t.Parallel()
	d := complete(&gatekeeperv1.Definition{Name: "x", MaxHold: durationpb.New(0)})
	for field, same := range map[string]bool{
		"group_pattern":    d.GetGroupPattern() == semaphore.DefaultPattern,
		"acquirer_pattern": d.GetAcquirerPattern() == semaphore.DefaultPattern,
		"permits":          d.GetPermits() == semaphore.DefaultPermits,
		"duration":         d.GetDuration().AsDuration() == semaphore.DefaultDuration,
		"firing_retention": d.GetFiringRetention().AsDuration() == semaphore.DefaultFiringRetention,
		"firing_limit":     d.GetFiringLimit() == semaphore.DefaultFiringLimit,
		"on_expiry":        d.GetOnExpiry() == gatekeeperv1.OnExpiry(semaphore.OnExpiryFree),
		"firing_on_loss":   d.GetFiringOnLoss() == gatekeeperv1.FiringOnLoss(semaphore.FiringSpent),
		"max_hold":         d.MaxHold == nil,
	} {
		if !same {
			t.Errorf("%s: %v", field, d)
		}
	}
	if !sameRule(d, &gatekeeperv1.Definition{Name: "x"}) || sameRule(d, &gatekeeperv1.Definition{Name: "y"}) {
		t.Error("the same rule is told from itself")
	}
}

func TestYAML_OfJSON_QuotesOnlyWhatNeedsIt(t *testing.T) {
	t.Parallel()
	out, err := toYAML([]byte(`{"items":[{"token":"12","name":"a b","on":true,"n":3,"none":[]}]}`))
	const want = "items:\n  - token: \"12\"\n    name: a b\n    on: true\n    n: 3\n    none: []\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestFiring_ReadsNameAndTime(t *testing.T) {
	t.Parallel()
	name, due, err := parseFiring("mail@home@2026-01-31T03:00:00+01:00")
	if err != nil || name != "mail@home" || !due.Equal(time.Date(2026, 1, 31, 2, 0, 0, 0, time.UTC)) {
		t.Errorf("%q %s %v", name, due, err)
	}
	for _, bad := range []string{"", "@2026-01-31T02:00:00Z", "x@soon"} {
		if _, _, err := parseFiring(bad); !is[*usageError](err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestProgress_IsForTerminals(t *testing.T) {
	t.Parallel()
	for _, tty := range []bool{true, false} {
		var b bytes.Buffer
		a := &streams{err: &b, errTTY: tty}
		a.progress("sending %d changes", 1000)()
		if (b.Len() > 0) != tty {
			t.Errorf("terminal %v: %q", tty, &b)
		}
	}
}

func TestCommands_EachSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden { // gkctl calls it, nobody else
			return
		}
		if c.Short == "" || c.HasParent() && !c.Parent().HasParent() && c.GroupID == "" && c.Name() != "help" {
			t.Errorf("%q has no short help, or no group", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&app{streams: &streams{}}))
}
