package timers

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/epoch"
)

func TestEnd_IsProposedOnceWhenDue(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.Sleep(time.Hour - time.Millisecond)
		w.WantProposed(0)
		if !b.active(w.State()) {
			t.Fatal("the change ended before it was due")
		}
		w.Sleep(2 * time.Millisecond)
		w.WantProposed(1)
		if b.active(w.State()) {
			t.Fatal("the change has not ended")
		}
		w.Sleep(24 * time.Hour)
		w.WantProposed(0)
		w.wantKnown(0)
	})
}

func TestEnd_DueWithoutLeader_IsProposedAtPromotion(t *testing.T) {
	runEach(t, changesWithEndTime(), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.Sleep(time.Minute)
		w.timers.Demote(1)
		w.Sleep(2 * time.Hour)
		w.WantProposed(0)
		w.lead(2)
		w.WantProposed(1)
		if b.active(w.State()) {
			t.Fatal("the change has not ended")
		}
	})
}

func TestEnd_Drain_RunsInFullFromPromotion(t *testing.T) {
	runEach(t, drainChanges(), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.Sleep(time.Hour - time.Second)
		w.timers.Demote(1)
		w.Sleep(2 * time.Hour)
		w.lead(2)
		w.Sleep(time.Hour - time.Millisecond)
		w.WantProposed(0)
		w.Sleep(2 * time.Millisecond)
		w.WantProposed(1)
	})
}

func TestEnd_ChangeReplaced_IsNotProposed(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		if b.manualEnd == nil || b.name == "revoke drain" {
			return // two revokes can be in effect at the same time
		}
		b.begin(w, time.Hour)
		w.Sleep(time.Minute)
		b.begin(w, 3*time.Hour)
		w.Sleep(2 * time.Hour)
		w.WantProposed(0)
		if !b.active(w.State()) {
			t.Fatal("the first change's timer ended the second change")
		}
		w.Sleep(2 * time.Hour)
		w.WantProposed(1)
	})
}

func TestEnd_ChangeEndedManually_IsNotProposed(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		if b.manualEnd == nil {
			return
		}
		b.begin(w, time.Hour)
		w.do(b.manualEnd)
		w.Sleep(2 * time.Hour)
		w.WantProposed(0)
		w.wantKnown(0)
	})
}

func TestEnd_NotAppended_IsRetriedUntilAppended(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.Fail(consensus.ErrNotAppended)
		w.Sleep(time.Hour + 10*epoch.RetryAfter + time.Millisecond)
		w.WantProposed(11)
		w.SetOutcome(nil)
		w.Sleep(epoch.RetryAfter)
		w.WantProposed(1)
		w.Sleep(time.Hour)
		w.WantProposed(0)
		w.wantKnown(0)
	})
}

func TestEnd_UnknownOutcome_EndsChangeOnce(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		var lost []fsm.Command
		w.SetOutcome(func(cmd fsm.Command) batcher.Outcome {
			lost = append(lost, cmd)
			return batcher.Outcome{Err: consensus.ErrUnknownOutcome}
		})
		w.Sleep(time.Hour)
		w.WantProposed(1)
		w.SetOutcome(nil)
		w.Sleep(retryUnknown)
		w.WantProposed(1) // proposed again, and applied
		if b.active(w.State()) {
			t.Fatal("the change has not ended")
		}
		before := w.State().Revision()
		if after := w.do(lost[0]); after != before {
			t.Fatal("the first command was applied late and still had an effect")
		}
	})
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.SetOutcome(func(cmd fsm.Command) batcher.Outcome {
			w.Do(cmd)
			return batcher.Outcome{Err: consensus.ErrUnknownOutcome}
		})
		w.Sleep(2 * time.Hour)
		w.WantProposed(1) // the command was applied despite the error, and is not proposed again
		w.wantKnown(0)
	})
}

func TestEnd_FromOlderTerm_DoesNothing(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.Fail(consensus.ErrUnknownOutcome)
		w.Sleep(time.Hour)
		old := w.WantProposed(1)[0]
		w.timers.Demote(1)
		w.Begin(2)
		w.do(old)
		if !b.active(w.State()) {
			t.Fatal("a command from another term ended the change")
		}
	})
}

func TestEnd_ManyNamesInOneChange_AreBatched(t *testing.T) {
	for count, want := range map[int]int{510: 1, maxNames + 1: 2} {
		var names []string
		for i := range count {
			names = append(names, fmt.Sprintf("job-%04d", i))
		}
		for kind, begin := range map[string]func(w *world){
			"pause": func(w *world) { w.do(fsm.Pause{Names: names, Until: time.Now().Add(time.Hour)}) },
			"edit":  func(w *world) { w.edit("dr", 0, time.Now().Add(time.Hour), names...) },
			"drain": func(w *world) {
				for _, name := range names {
					w.Grant(name, "a")
				}
				w.edit("dr", time.Hour, time.Time{}, names...)
			},
		} {
			t.Run(fmt.Sprintf("%s of %d", kind, count), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.create(names...)
					begin(w)
					w.Sleep(time.Hour)
					w.WantProposed(want)
					w.wantKnown(0)
					for _, name := range names {
						state := w.State()
						if sd := state.Definition(name); sd.Pause != nil || len(state.Ends(name))+len(state.Drains(name)) > 0 ||
							kind == "edit" && sd.Definition.GroupPattern != ".*" {
							t.Fatalf("the change to %s has not ended: %+v", name, sd)
						}
					}
				})
			})
		}
	}
}

func TestTimers_AfterDemotion_DropsTimers(t *testing.T) {
	runEach(t, append(changesWithEndTime(), drainChanges()...), func(w *world, b tempChange) {
		b.begin(w, time.Hour)
		w.timers.Demote(1)
		w.wantKnown(0)
		w.Sleep(2 * time.Hour)
		w.WantProposed(0)
		b.begin(w, time.Minute) // while another server is the leader
		w.wantKnown(0)
		w.Sleep(2 * time.Hour)
		w.WantProposed(0)
		if left := w.timers.SemaphoreDrain("job", 1, time.Hour); left != time.Hour {
			t.Errorf("SemaphoreDrain() of an unknown drain = %v, want 1h", left)
		}
	})
}

func TestTimers_ReplacedRepeatedly_DropsStaleEnds(t *testing.T) {
	runEach(t, changesWithEndTime(), func(w *world, b tempChange) {
		if b.manualEnd == nil {
			return // at most 16 temporary edits can be in effect at the same time
		}
		for range 3 * minSweep {
			b.begin(w, 1000*time.Hour)
		}
		w.timers.Lock()
		known := len(w.timers.known)
		w.timers.Unlock()
		if known > 2*minSweep {
			t.Fatalf("got %d timers for one change that was replaced repeatedly, want at most %d", known, 2*minSweep)
		}
		w.Sleep(1001 * time.Hour)
		w.WantProposed(1)
	})
}

func TestTimers_NothingDue_ProposesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("job")
		w.Grant("job", "a")
		w.edit("dr", 0, time.Time{}, "job")
		w.do(fsm.Pause{Names: []string{"job"}, Stop: true})
		w.do(fsm.SetCordon{ID: "c", GroupPattern: "prod"})
		w.Sleep(30 * 24 * time.Hour)
		w.WantProposed(0)
		w.wantKnown(0)
	})
}

func TestQuarantine_RunsInFullFromPromotion(t *testing.T) {
	inWorld(t, func(w *world) {
		recovered, err := w.State().Recovered(fsm.Recovery{ClusterID: "test.2", At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := recovered.Snapshot(&file); err != nil {
			t.Fatal(err)
		}
		w.timers.Demote(1)
		w.Machine = fsm.New("test.2")
		defer w.Machine.Subscribe(w.timers.Applied)()
		if err := w.Machine.Restore(&file); err != nil {
			t.Fatal(err)
		}
		full := w.State().Quarantine()
		w.lead(2)
		w.Sleep(full - time.Millisecond)
		w.WantProposed(0)
		w.timers.Demote(2)
		w.lead(3) // restarts the quarantine in full
		w.Sleep(full - time.Millisecond)
		w.WantProposed(0)
		w.Sleep(2 * time.Millisecond)
		w.WantProposed(1)
		if left := w.State().Quarantine(); left != 0 {
			t.Fatalf("Quarantine() = %v, want 0", left)
		}
	})
}

// An undo that restores a definition also restores the timers for its pause and its temporary edit, so both commands
// are proposed.
func TestEnd_ChangeRestoredByUndo_IsProposed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("s")
		ends := time.Now().Add(time.Hour)
		w.edit("dr", 0, ends, "s")
		w.do(fsm.Pause{Names: []string{"s"}, Until: ends})
		sd, editEnds := w.State().Definition("s"), w.State().Ends("s")
		deleted := w.do(fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Delete, Name: "s", ExpectedVersion: sd.Version}}})
		pause := *sd.Pause
		pause.Change = pause.Revision
		w.Sleep(time.Minute)
		w.do(fsm.Undo{Change: deleted, Edits: []fsm.UndoEdit{{
			Change: fsm.Change{Kind: fsm.Create, Name: "s", Definition: sd.Definition}, Pause: &pause, RestoredEnds: editEnds,
		}}})
		w.Sleep(time.Hour - time.Minute - time.Millisecond)
		w.WantProposed(0)
		w.Sleep(2 * time.Millisecond)
		w.WantProposed(2)
		if now := w.State().Definition("s"); now.Pause != nil || now.Definition.GroupPattern == "dr" {
			t.Errorf("the pause or the edit has not ended: %+v", now)
		}
	})
}

func TestEnd_DrainStartedByEditEnd_IsProposed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("s")
		w.edit("prod|dr", time.Hour, time.Now().Add(time.Minute), "s")
		w.Grant("s", "host")
		w.Sleep(time.Minute + time.Millisecond)
		w.WantProposed(1)
		if n := len(w.State().Drains("s")); n != 1 {
			t.Fatalf("got %d drains after the edit ended, want 1", n)
		}
		w.Sleep(time.Hour + time.Millisecond)
		w.WantProposed(1)
		if n := len(w.State().Drains("s")); n != 0 {
			t.Errorf("got %d drains after the drain ended, want 0", n)
		}
	})
}
