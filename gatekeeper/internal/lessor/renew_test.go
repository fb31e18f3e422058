package lessor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A judgement is kept until something it depends on changes.
func TestRenew_RelevantChange_PermitIsJudgedAgain(t *testing.T) {
	for _, c := range []struct {
		name     string
		command  func(b *bench) fsm.Command
		rejudged bool
	}{
		{"another permit is granted", func(b *bench) fsm.Command {
			return fsm.Grant{Semaphore: "pool", Weight: 1, DefinitionVersion: b.State().Definition("pool").Version,
				Identity: semaphore.Identity{Group: "g", Acquirer: "other"}}
		}, false},
		{"another permit is released", func(*bench) fsm.Command { return fsm.Release{Token: 2} }, false},
		{"its definition is edited", func(b *bench) fsm.Command {
			return b.edit(func(def *semaphore.Definition) { def.GroupPattern = "h" })
		}, true},
		{"max_hold is added to its definition", func(b *bench) fsm.Command {
			return b.edit(func(def *semaphore.Definition) { def.MaxHold = time.Hour })
		}, true},
		{"its definition is edited with a drain", func(b *bench) fsm.Command {
			batch := b.edit(func(def *semaphore.Definition) { def.GroupPattern = "h" })
			batch.Drain = time.Minute
			return batch
		}, true},
		{"its definition is deleted", func(b *bench) fsm.Command {
			return fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Delete, Name: "pool", ExpectedVersion: b.State().Definition("pool").Version}}}
		}, true},
		{"its semaphore is paused", func(*bench) fsm.Command { return fsm.Pause{Names: []string{"pool"}, Stop: true} }, true},
		{"a cordon is set", func(*bench) fsm.Command { return fsm.SetCordon{ID: "c", GroupPattern: "g"} }, true},
		{"it is revoked", func(*bench) fsm.Command { return fsm.Revoke{Token: 1} }, true},
		{"its duration is extended", func(*bench) fsm.Command { return fsm.Extend{Token: 1, Duration: 2 * time.Minute} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.fill(2)
				b.promote(1)
				defer b.Close()
				var judged int
				admit := func(_ *fsm.State, p *semaphore.Permit, _ bool) semaphore.Decision {
					if judged++; p != b.State().Permit(1) {
						t.Error("a stale permit was judged")
					}
					return semaphore.Decision{Outcome: semaphore.Refreshed}
				}
				for range 2 {
					renewOne(b.Lessor, 1, 1, admit)
				}
				if judged != 1 {
					t.Fatalf("the permit was judged %d times before a change, want once", judged)
				}
				state := b.State()
				b.Do(c.command(b))
				if b.State().Revision() == state.Revision() {
					t.Fatal("the command changed nothing")
				}
				if renewOne(b.Lessor, 1, 1, admit); (judged == 2) != c.rejudged {
					t.Errorf("the permit was judged %d times in total, want another judgement after the change = %t", judged, c.rejudged)
				}
			})
		})
	}
}

// An objection to a permit can lapse without any change to the state, so only judgements without an objection are kept.
func TestRenew_RefusedOrStopping_IsJudgedEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(1)
		b.promote(1)
		defer b.Close()
		decision := semaphore.Decision{Outcome: semaphore.Refreshed, Stop: semaphore.StopRevoked}
		admit := func(*fsm.State, *semaphore.Permit, bool) semaphore.Decision { return decision }
		if v := renewOne(b.Lessor, 1, 1, admit); v.Decision != decision {
			t.Errorf("Renew() = %+v, want the decision that admit returned", v)
		}
		decision = semaphore.Decision{Outcome: semaphore.Denied}
		if v := renewOne(b.Lessor, 1, 1, admit); v.Status != Refused {
			t.Errorf("Renew() = %+v, want Refused", v)
		}
		decision = semaphore.Decision{Outcome: semaphore.Refreshed}
		if v := renewOne(b.Lessor, 1, 1, admit); v.Status != Renewed || v.Decision != decision {
			t.Errorf("Renew() = %+v, want Renewed", v)
		}
	})
}

func TestRenew_MaxHoldElapses_IsJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fill(1)
		b.Do(b.edit(func(def *semaphore.Definition) { def.MaxHold = 90 * time.Second }))
		b.promote(1)
		defer b.Close()
		admit := func(_ *fsm.State, _ *semaphore.Permit, overheld bool) semaphore.Decision {
			if overheld {
				return semaphore.Decision{Outcome: semaphore.Denied}
			}
			return semaphore.Decision{Outcome: semaphore.Refreshed}
		}
		for _, want := range []Status{Renewed, Renewed, Renewed, Refused} {
			if v := renewOne(b.Lessor, 1, 1, admit); v.Status != want {
				t.Fatalf("after %v: Renew() = %+v, want status %d", b.Held(b.State().Permit(1)), v, want)
			}
			time.Sleep(30 * time.Second)
		}
	})
}

// Unchanged lets a refresh skip the call to Check, so it must detect everything that could change the result.
func TestUnchanged_AfterEntryMarkOrEndOfEpoch_ReturnsFalse(t *testing.T) {
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
			t.Fatal("Unchanged() = false before any change")
		}
		b.Do(fsm.Release{Token: 2})
		if b.Unchanged(s) {
			t.Error("Unchanged() = true after an entry")
		}
		l := New(Config{
			State:    b.Machine.State,
			Propose:  func(fsm.Command, func(batcher.Outcome)) {}, // the outcome remains unknown
			Overheld: func(*semaphore.Permit) {},
		})
		defer l.Close()
		l.Promote(1, time.Now(), b.State())
		synctest.Wait()
		_, s = l.Renew(1, Frame{Received: time.Now()}, nil, admitAll, nil)
		l.Abandon(1, 1)
		if l.Unchanged(s) {
			t.Error("Unchanged() = true after a mark")
		}
		_, s = l.Renew(1, Frame{Received: time.Now()}, nil, admitAll, nil)
		l.Demote(1)
		if l.Unchanged(s) {
			t.Error("Unchanged() = true after the end of the epoch")
		}
		l.Promote(2, time.Now(), b.State())
		if l.Unchanged(s) {
			t.Error("Unchanged() = true in the next epoch")
		}
	})
}
