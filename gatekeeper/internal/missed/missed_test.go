package missed

import (
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMissed_NoRequests_IsReportedOnceAfterExpectEvery(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Sleep(time.Hour - time.Second)
		w.want(fsm.NothingMissed)
		w.Sleep(3 * time.Second)
		if r := w.want(fsm.NoRequests); !strings.Contains(r.Text, "no caller has requested a permit since") || time.Since(r.Since) < time.Hour {
			t.Errorf("Of() = %+v, want no requests for at least an hour", r)
		}
		w.Sleep(100 * time.Hour)
		w.wantNotes(fsm.NoRequests)
		token := w.grant()
		w.Sleep(2 * time.Second)
		w.want(fsm.NothingMissed)
		w.Do(fsm.Release{Token: token})
		w.Sleep(30 * time.Minute)
		w.wantNotes(fsm.NoRequests, fsm.NothingMissed)
	})
}

func TestMissed_DeniedEachTime_ReportsReasonAndCaller(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 14 {
			w.Sleep(5 * time.Minute)
			w.deny(semaphore.GroupMismatch)
		}
		w.Sleep(2 * time.Second)
		r := w.want(fsm.AllDenied)
		if r.Reason != semaphore.GroupMismatch || !strings.Contains(r.Text, `"a" in group "prod" was last denied`) {
			t.Errorf("Of() = %+v, want GroupMismatch and the denied caller", r)
		}
		w.deny(semaphore.Paused)
		w.Sleep(2 * time.Second)
		if r := w.want(fsm.AllDenied); r.Reason != semaphore.Paused {
			t.Errorf("Of() = %+v, want the reason Paused", r)
		}
		w.wantNotes(fsm.AllDenied)
		w.Sleep(62 * time.Minute)
		w.want(fsm.NoRequests)
	})
}

func TestMissed_CallerWaits_IsReportedAsAskedButDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		w.waiting.Store(true)
		w.Sleep(2 * time.Hour)
		w.want(fsm.AllDenied)
	})
}

func TestMissed_HeldForLongerThanExpectEvery_IsReportedUntilRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Sleep(time.Minute)
		granted := time.Now()
		token := w.grant()
		w.Sleep(time.Hour + 2*time.Second)
		if r := w.want(fsm.HeldTooLong); !r.Since.Equal(granted) {
			t.Errorf("Of() = %+v, want Since = %v", r, granted)
		}
		w.Do(fsm.Release{Token: token})
		w.Sleep(2 * time.Second)
		w.want(fsm.NothingMissed)
		w.wantNotes(fsm.HeldTooLong, fsm.NothingMissed)
	})
}

func TestMissed_NoProgress_IsReportedOnlyForReportingJobs(t *testing.T) {
	inWorld(t, func(w *world) {
		token := w.grant()
		for range 3 {
			w.Sleep(10 * time.Minute)
			w.Progress("job", token, time.Now())
		}
		w.Sleep(50 * time.Minute)
		w.want(fsm.HeldTooLong) // the job makes progress, but has held its permit too long
		w.Sleep(11 * time.Minute)
		if r := w.want(fsm.NoProgress); !strings.Contains(r.Text, "last reported progress") {
			t.Errorf("Of() = %+v, want text that says when progress was last reported", r)
		}
		w.Progress("job", token, time.Now())
		w.Sleep(2 * time.Second)
		w.want(fsm.HeldTooLong)
	})
}

func TestMissed_AfterFailover_WaitsFullExpectEvery(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Sleep(50 * time.Minute)
		w.failOver()
		w.Sleep(59 * time.Minute)
		w.want(fsm.NothingMissed)
		w.Sleep(2 * time.Minute)
		w.want(fsm.NoRequests)
	})
}

func TestMissed_AfterFailover_ContinuesFromJournalWithoutNewNote(t *testing.T) {
	for name, x := range map[string]struct {
		kind  fsm.Missed
		begin func(w *world)
	}{
		"no requests": {fsm.NoRequests, func(w *world) { w.Sleep(2 * time.Hour) }},
		"denied": {fsm.AllDenied, func(w *world) {
			w.Sleep(59 * time.Minute)
			w.deny(semaphore.Paused)
			w.Sleep(2 * time.Minute)
		}},
		"held too long": {fsm.HeldTooLong, func(w *world) {
			w.grant()
			w.Sleep(2 * time.Hour)
		}},
		"no progress": {fsm.NoProgress, func(w *world) {
			w.Progress("job", w.grant(), time.Now())
			w.Sleep(2 * time.Hour)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				x.begin(w)
				before := w.want(x.kind)
				noted := len(w.notes())
				w.failOver()
				w.Sleep(50 * time.Minute)
				if r := w.want(x.kind); r.Text != before.Text {
					t.Errorf("Of() = %+v before the failover and %+v after it, want the same text", before, r)
				}
				if x.kind == fsm.NoRequests || x.kind == fsm.HeldTooLong {
					w.Sleep(time.Hour)
					w.want(x.kind) // now observed by the new leader itself
				}
				if n := len(w.notes()); n != noted {
					t.Fatalf("the journal has new notes after the failover: %v", w.notes())
				}
				if p := w.State().Permit(1); p != nil {
					w.Do(fsm.Release{Token: 1})
				} else {
					w.grant()
				}
				w.Sleep(2 * time.Second)
				w.want(fsm.NothingMissed)
			})
		})
	}
}

func TestMissed_WithoutExpectEvery_IsNotTracked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("other", 0)
		w.Sleep(2 * time.Hour)
		w.want(fsm.NoRequests)
		if _, isMissed := w.Of("other"); isMissed {
			t.Error("Of() reports missed work for a definition without expect_every")
		}
		w.define("job", 0)
		if got := w.Counts(); got != [Kinds]int{} {
			t.Errorf("Counts() without expect_every = %v, want all zero", got)
		}
		w.define("job", time.Hour) // expect_every is set again: work missed earlier does not count
		w.Sleep(59 * time.Minute)
		w.wantNotes(fsm.NoRequests)
		if _, isMissed := w.Of("job"); isMissed {
			t.Error("Of() reports missed work before expect_every has passed")
		}
		change := fsm.Change{Kind: fsm.Delete, Name: "job", ExpectedVersion: w.State().Definition("job").Version}
		w.Do(fsm.EditBatch{Changes: []fsm.Change{change}})
		w.Sleep(2 * time.Hour)
		if w.watched.Load() != 0 || len(w.list) != 0 {
			t.Error("a deleted definition is still tracked")
		}
	})
}

func TestMissed_ProposalFails_IsRetriedAndNotedOnce(t *testing.T) {
	for _, err := range []error{consensus.ErrNotAppended, consensus.ErrUnknownOutcome} {
		t.Run(err.Error(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.Fail(err)
				w.Sleep(61 * time.Minute)
				w.wantNotes()
				if r, _ := w.Of("job"); r.Kind != fsm.NoRequests {
					t.Fatalf("Of() = %+v, want NoRequests", r)
				}
				w.SetOutcome(nil)
				w.Sleep(10 * time.Second)
				w.wantNotes(fsm.NoRequests)
			})
		})
	}
}

func TestMissed_Demoted_HasNoRecords(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Sleep(2 * time.Hour)
		w.want(fsm.NoRequests)
		w.Demote(w.World.Term())
		if _, isMissed := w.Of("job"); isMissed || w.Counts() != [Kinds]int{} || w.watched.Load() != 0 {
			t.Error("the listener has records after Demote")
		}
		w.grant()
		w.Sleep(5 * time.Hour)
		w.wantNotes(fsm.NoRequests)
	})
}

func TestMissed_WithoutExpectEvery_CallsDoNotAllocate(t *testing.T) {
	l := New(Config{})
	call := func() {
		l.Asked("job")
		l.Denied("job", host, semaphore.Paused, "")
	}
	if n := testing.AllocsPerRun(100, call); n != 0 {
		t.Errorf("Asked() and Denied(): got %v allocations, want 0", n)
	}
}
