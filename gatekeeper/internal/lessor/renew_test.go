package lessor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A judgement is kept for as long as nothing that it depends on has changed, and no longer.
func TestRenew_WhatTheRuleDependsOnChanges_IsJudgedAnew(t *testing.T) {
	edit := func(b *bench, change func(*semaphore.Definition)) fsm.Command {
		sd := b.machine.State().Definition("pool")
		def := *sd.Definition
		change(&def)
		return fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Replace, Name: "pool", Definition: &def, ExpectedVersion: sd.Version}}}
	}
	for _, c := range []struct {
		name    string
		command func(b *bench) fsm.Command
		anew    bool
	}{
		{"another permit is granted", func(b *bench) fsm.Command {
			return fsm.Grant{Semaphore: "pool", Weight: 1, DefinitionVersion: b.machine.State().Definition("pool").Version,
				Identity: semaphore.Identity{Group: "g", Acquirer: "other"}}
		}, false},
		{"another permit is released", func(*bench) fsm.Command { return fsm.Release{Token: 2} }, false},
		{"its definition is edited", func(b *bench) fsm.Command {
			return edit(b, func(def *semaphore.Definition) { def.GroupPattern = "h" })
		}, true},
		{"its definition gets a max_hold", func(b *bench) fsm.Command {
			return edit(b, func(def *semaphore.Definition) { def.MaxHold = time.Hour })
		}, true},
		{"its definition is edited, and drains", func(b *bench) fsm.Command {
			batch := edit(b, func(def *semaphore.Definition) { def.GroupPattern = "h" }).(fsm.EditBatch)
			batch.Drain = time.Minute
			return batch
		}, true},
		{"its definition is deleted", func(b *bench) fsm.Command {
			return fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Delete, Name: "pool", ExpectedVersion: b.machine.State().Definition("pool").Version}}}
		}, true},
		{"it is paused", func(*bench) fsm.Command { return fsm.Pause{Names: []string{"pool"}, Stop: true} }, true},
		{"a cordon is set", func(*bench) fsm.Command { return fsm.SetCordon{ID: "c", GroupPattern: "g"} }, true},
		{"it is revoked", func(*bench) fsm.Command { return fsm.Revoke{Token: 1} }, true},
		{"its duration is extended", func(*bench) fsm.Command { return fsm.Extend{Token: 1, Duration: 2 * time.Minute} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fill(2)
				b.apply(fsm.RaiseFeatureLevel{Level: 2})
				b.promote(1)
				defer b.Close()
				var judged int
				admit := func(_ *fsm.State, p *semaphore.Permit, _ bool) semaphore.Decision {
					if judged++; p != b.machine.State().Permit(1) {
						t.Error("an old permit is judged")
					}
					return semaphore.Decision{Outcome: semaphore.Refreshed}
				}
				for range 2 {
					renewed(b.Lessor, 1, 1, admit)
				}
				if judged != 1 {
					t.Fatalf("it was judged %d times before anything changed, want once", judged)
				}
				state := b.machine.State()
				b.apply(c.command(b))
				if b.machine.State().Revision() == state.Revision() {
					t.Fatal("the command changed nothing")
				}
				if renewed(b.Lessor, 1, 1, admit); (judged == 2) != c.anew {
					t.Errorf("it was judged %d times", judged)
				}
			})
		})
	}
}

// What spoke against a permit may stop doing so by time alone, so only a judgement against which nothing spoke is kept.
func TestRenew_RefusedOrStopping_IsJudgedEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(1)
		b.promote(1)
		defer b.Close()
		decision := semaphore.Decision{Outcome: semaphore.Refreshed, Stop: semaphore.StopRevoked}
		admit := func(*fsm.State, *semaphore.Permit, bool) semaphore.Decision { return decision }
		if v := renewed(b.Lessor, 1, 1, admit); v.Decision != decision {
			t.Errorf("the verdict is %+v", v)
		}
		decision = semaphore.Decision{Outcome: semaphore.Denied}
		if v := renewed(b.Lessor, 1, 1, admit); v.Status != Refused {
			t.Errorf("the verdict is %+v", v)
		}
		decision = semaphore.Decision{Outcome: semaphore.Refreshed}
		if v := renewed(b.Lessor, 1, 1, admit); v.Status != Renewed || v.Decision != decision {
			t.Errorf("the verdict is %+v", v)
		}
	})
}

func TestRenew_MaxHoldRunsOut_IsJudgedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(1)
		sd := b.machine.State().Definition("pool")
		def := *sd.Definition
		def.MaxHold = 90 * time.Second
		b.apply(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Replace, Name: "pool", Definition: &def, ExpectedVersion: sd.Version}}})
		b.promote(1)
		defer b.Close()
		admit := func(_ *fsm.State, _ *semaphore.Permit, overheld bool) semaphore.Decision {
			if overheld {
				return semaphore.Decision{Outcome: semaphore.Denied}
			}
			return semaphore.Decision{Outcome: semaphore.Refreshed}
		}
		for _, want := range []Status{Renewed, Renewed, Renewed, Refused} {
			if v := renewed(b.Lessor, 1, 1, admit); v.Status != want {
				t.Fatalf("after %v the verdict is %+v", b.Held(b.machine.State().Permit(1)), v)
			}
			time.Sleep(30 * time.Second)
		}
	})
}

// Unchanged spares a refresh its second look: everything that could make that find something else must be seen.
func TestUnchanged_EntryMarkOrEpoch_IsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(2)
		b.promote(1)
		defer b.Close()
		seen := func() Seen {
			_, s := b.Renew(1, Frame{Received: time.Now()}, []Refresh{{Token: 1}}, admitAll, nil)
			return s
		}
		s := seen()
		if !b.Unchanged(s) {
			t.Fatal("nothing has happened")
		}
		b.apply(fsm.Release{Token: 2})
		if b.Unchanged(s) {
			t.Error("an entry was not seen")
		}
		l := New(Config{
			State:    b.machine.State,
			Propose:  func(fsm.Command, func(batcher.Outcome)) {}, // its outcome is not known
			Overheld: func(*semaphore.Permit) {},
		})
		defer l.Close()
		l.Promote(1, time.Now(), b.machine.State())
		synctest.Wait()
		_, s = l.Renew(1, Frame{Received: time.Now()}, nil, admitAll, nil)
		l.Abandon(1, 1)
		if l.Unchanged(s) {
			t.Error("a mark was not seen")
		}
		_, s = l.Renew(1, Frame{Received: time.Now()}, nil, admitAll, nil)
		l.Demote(1)
		if l.Unchanged(s) {
			t.Error("the end of the epoch was not seen")
		}
		l.Promote(2, time.Now(), b.machine.State())
		if l.Unchanged(s) {
			t.Error("the next epoch was not seen")
		}
	})
}
