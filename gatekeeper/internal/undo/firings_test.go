package undo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// firingAt returns a firing of "job" that is due the given number of seconds after the start of the test.
func firingAt(seconds int) semaphore.Firing {
	return semaphore.Firing{Name: "f", Due: time.Unix(1_800_000_000, 0).UTC().Add(time.Duration(seconds) * time.Second)}
}

// run claims a firing of "job" and completes it.
func (c *cluster) run(f semaphore.Firing) {
	c.T.Helper()
	r, _ := c.Apply(fsm.Grant{
		Semaphore: "job", Identity: semaphore.Identity{Group: "prod", Acquirer: "a"}, Weight: 1, Firing: &f,
		DefinitionVersion: c.State().Definition("job").Version, CordonRevision: c.State().CordonRevision(),
	}).(fsm.GrantResult)
	if r.Permit == nil {
		c.T.Fatalf("the firing was not granted: %+v", r)
	}
	c.Do(fsm.Release{Token: r.Permit.Token})
}

// claimFutureFirings claims firings as a host with a fast clock would, and moves the low-water mark into the future. It
// returns the revision at which the mark moved.
func claimFutureFirings(c *cluster) uint64 {
	c.Define("job", func(d *semaphore.Definition) { d.FiringMaxAhead = semaphore.FiringUnbounded })
	for _, s := range []int{8000, 9000, 9100} {
		c.run(firingAt(s))
	}
	return c.Do(fsm.Forget{Semaphore: "job", Term: 1, UpTo: firingAt(8000).Due})
}

func (c *cluster) forget(lowerTo time.Time, firings ...semaphore.Firing) uint64 {
	cmd := fsm.ForgetFirings{Semaphore: "job", LowerTo: lowerTo, Author: "ann"}
	for _, f := range firings {
		cmd.Firings = append(cmd.Firings, fsm.ExpectedClaim{Firing: f, Token: c.State().Claim("job", f).Token})
	}
	return c.Do(cmd)
}

func TestUndo_ForgottenFiringReclaimed_IsConflict(t *testing.T) {
	c := newCluster(t)
	claimFutureFirings(c)
	change := c.forget(time.Time{}, firingAt(9000), firingAt(9100))
	c.run(firingAt(9100))
	u := c.undo(change)
	if len(u.Conflicts) != 1 || !strings.Contains(u.Conflicts[0], "firing f@2027-01-15T10:31:40Z has since been claimed again by a in prod (token 4)") || u.Command != nil {
		t.Errorf("NewPlan() = %+v, want a conflict", u)
	}
}

// Undoing the undo lets firings run again, so it needs a confirmation, just as forgetting them does.
func TestConfirm_UndoForgetsFiringsAgain_RequiresConfirmation(t *testing.T) {
	c := newCluster(t)
	claimFutureFirings(c)
	change := c.forget(firingAt(60).Due, firingAt(9000), firingAt(9100))
	restore := c.undo(change)
	confirm := func(u *fsm.Undo) []preview.Confirmation {
		change := preview.Change{Undo: u}
		effects, _ := preview.Effects(c.State(), statetest.Patterns{}, change)
		return preview.Confirm(c.State(), statetest.Patterns{}, change, effects)
	}
	if got := confirm(restore.Command); len(got) != 0 {
		t.Errorf("Confirm() of an undo that restores firings = %v, want none", got)
	}
	got := confirm(c.undo(c.Do(*restore.Command)).Command)
	if len(got) != 2 || got[0].Kind != preview.ForgetsFirings || got[0].Text != "job: 2 firings will be forgotten and can then be claimed again" {
		t.Errorf("Confirm() of an undo that forgets firings again = %v, want two confirmations", got)
	}
}

// The mark rises every minute. This must not prevent an undo, and the undo must not lower the mark.
func TestUndo_ForgottenFirings_KeepsHigherMark(t *testing.T) {
	for _, x := range []struct {
		upTo, want int
	}{{10, 8000}, {8500, 8500}} {
		c := newCluster(t)
		claimFutureFirings(c)
		change := c.forget(c.Now, firingAt(9000))
		c.Do(fsm.Forget{Semaphore: "job", Term: 1, UpTo: firingAt(x.upTo).Due})
		c.carryOut(c.undo(change))
		if got := c.State().LowWater("job"); !got.Equal(firingAt(x.want).Due) || c.State().Claim("job", firingAt(9000)) == nil {
			t.Errorf("LowWater() after Forget up to %d = %v, want %v and the claim restored", x.upTo, got, firingAt(x.want).Due)
		}
	}
}

// Several ForgetFirings commands for the same semaphore are undone in one step, newest first.
func TestUndo_SeveralForgetCommands_IsOneStep(t *testing.T) {
	c := newCluster(t)
	claimFutureFirings(c)
	before := rules(c.State())
	first := c.forget(firingAt(5000).Due, firingAt(9100))
	second := c.forget(c.Now, firingAt(9000))
	u := c.plan(Request{Changes: []uint64{first, second}})
	c.carryOut(u)
	if after := rules(c.State()); !slices.Equal(after, before) {
		t.Errorf("after the undo: got\n%q, want\n%q", after, before)
	}
	if len(u.Command.Firings) != 1 || len(u.Command.Firings[0].Restore) != 2 {
		t.Errorf("Firings = %+v, want one element with two claims", u.Command.Firings)
	}
}
