package keeper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// shutOut is a change that shuts out the holder of "job", host "a" in group "prod".
type shutOut struct {
	name   string
	cause  semaphore.StopCause
	denial semaphore.Reason // reason for denying the holder's next acquire
	do     func(w *world, token uint64, drain time.Duration) error
	// next is a caller that may acquire the slot once it is free, or the zero Identity if no caller may.
	next semaphore.Identity
}

const drainReason = "the site is going dark"

var (
	otherGroup = semaphore.Identity{Group: "dr", Acquirer: "a"}
	otherHost  = semaphore.Identity{Group: "prod", Acquirer: "b"}
)

func shutOuts() []shutOut {
	edit := func(w *world, drain time.Duration, set func(*semaphore.Definition)) error {
		sd := w.machine.State().Definition("job")
		d := sd.Definition.Clone()
		set(d)
		_, err := w.Edit(context.Background(), fsm.EditBatch{
			Changes: []fsm.Change{{Kind: fsm.Replace, Name: "job", Definition: d, ExpectedVersion: sd.Version}}, Drain: drain, Reason: drainReason,
		}, Ending{})
		return err
	}
	return []shutOut{
		{"group pattern", semaphore.StopNoLongerAdmitted, semaphore.GroupMismatch, func(w *world, _ uint64, drain time.Duration) error {
			return edit(w, drain, func(d *semaphore.Definition) { d.GroupPattern = "dr" })
		}, otherGroup},
		{"acquirer pattern", semaphore.StopNoLongerAdmitted, semaphore.AcquirerMismatch, func(w *world, _ uint64, drain time.Duration) error {
			return edit(w, drain, func(d *semaphore.Definition) { d.AcquirerPattern = "b" })
		}, otherHost},
		{"delete", semaphore.StopNoLongerAdmitted, semaphore.NoSuchSemaphore, func(w *world, _ uint64, drain time.Duration) error {
			sd := w.machine.State().Definition("job")
			_, err := w.Edit(context.Background(), fsm.EditBatch{
				Changes: []fsm.Change{{Kind: fsm.Delete, Name: "job", ExpectedVersion: sd.Version}}, Drain: drain, Reason: drainReason,
			}, Ending{})
			return err
		}, semaphore.Identity{}},
		{"pause", semaphore.StopPaused, semaphore.Paused, func(w *world, _ uint64, drain time.Duration) error {
			_, err := w.Pause(context.Background(), fsm.Pause{Names: []string{"job"}, Stop: true, Drain: drain, Reason: drainReason}, Ending{})
			return err
		}, semaphore.Identity{}},
		{"cordoned group", semaphore.StopCordoned, semaphore.Cordoned, func(w *world, _ uint64, drain time.Duration) error {
			_, err := w.Cordon(context.Background(), fsm.SetCordon{ID: "c", GroupPattern: "prod", Drain: drain, Reason: drainReason}, Ending{})
			return err
		}, otherGroup},
		{"cordoned host", semaphore.StopCordoned, semaphore.Cordoned, func(w *world, _ uint64, drain time.Duration) error {
			_, err := w.Cordon(context.Background(), fsm.SetCordon{ID: "c", AcquirerPattern: "a", Drain: drain, Reason: drainReason}, Ending{})
			return err
		}, otherHost},
		{"revoke", semaphore.StopRevoked, semaphore.Stopping, func(w *world, token uint64, drain time.Duration) error {
			_, err := w.Revoke(context.Background(), fsm.Revoke{Token: token, Drain: drain, Reason: drainReason})
			return err
		}, otherHost},
	}
}

// forEachShutOut runs a test for each way of shutting out a holder.
func forEachShutOut(t *testing.T, test func(w *world, way shutOut)) {
	t.Helper()
	for _, way := range shutOuts() {
		t.Run(way.name, func(t *testing.T) {
			inUpgradedWorld(t, func(w *world) {
				w.define("job", nil)
				test(w, way)
			})
		})
	}
}

func (w *world) applyShutOut(way *shutOut, token uint64, drain time.Duration) {
	w.t.Helper()
	if err := way.do(w, token, drain); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// follow refreshes a permit on a new stream, which then receives its notices.
func (w *world) follow(token uint64) *Listener {
	w.t.Helper()
	l := w.Listen()
	r, err := refreshOn(l.Receive(), []TokenRefresh{{Token: token}})
	if err != nil || r[0].Status != StatusRefreshed {
		w.t.Fatal(r, err)
	}
	return l
}

// notice returns a stream's only pending notice.
func (w *world) notice(l *Listener) TokenResult {
	w.t.Helper()
	select {
	case n := <-l.Notices():
		if len(n) != 1 {
			w.t.Fatalf("got notices %+v, want one", n)
		}
		return n[0]
	default:
		w.t.Fatal("the holder was not notified")
		return TokenResult{}
	}
}

// callAs returns a call for "job" by the given identity.
func callAs(id semaphore.Identity, requestID string) *AcquireCall {
	call := newCall(id.Acquirer, requestID)
	call.Identity = id
	return call
}

// wantTaken checks that the slot is taken, and that other callers are denied.
func (w *world) wantTaken() {
	w.t.Helper()
	if used := w.machine.State().Used("job"); used != 1 {
		w.t.Fatalf("Used() = %d, want 1", used)
	}
	for _, id := range []semaphore.Identity{otherGroup, otherHost} {
		if a := w.tryAcquire(callAs(id, "")); a.Outcome != semaphore.Denied {
			w.t.Fatalf("%v was granted a permit that the holder may still rely on", id)
		}
	}
}

// wantFree checks that the slot is free, and that the next caller is granted it.
func (w *world) wantFree(way *shutOut) {
	w.t.Helper()
	if used := w.machine.State().Used("job"); used != 0 {
		w.t.Fatalf("Used() = %d, want 0", used)
	}
	if way.next.Acquirer != "" {
		w.mustAcquire(callAs(way.next, ""))
	}
}

func TestDrain_Zero_HolderKeepsSlotUntilDeadline(t *testing.T) {
	forEachShutOut(t, func(w *world, way shutOut) {
		p := w.mustAcquire(newCall("a", "1"))
		l := w.follow(p.Token)
		defer l.Close()
		w.sleep(30 * time.Second)
		w.applyShutOut(&way, p.Token, 0)
		if n := w.notice(l); n.Status != StatusStopping || n.Stop != way.cause || n.DrainLeft != 0 || n.Message != drainReason && way.name != "delete" {
			t.Fatalf("notice = %+v, want stopping without a drain", n)
		}
		if r := w.wantStatus(p.Token, StatusStopping); r.Stop != way.cause || r.Message != drainReason && way.name != "delete" {
			t.Fatalf("refresh = %+v, want the cause and the reason", r)
		}
		w.sleep(30*time.Second + semaphore.Grace(time.Minute) - time.Millisecond)
		w.wantTaken()
		w.sleep(2 * time.Millisecond)
		w.wantFree(&way)
	})
}

func TestDrain_Positive_RefreshesSucceedUntilDrainEnds(t *testing.T) {
	forEachShutOut(t, func(w *world, way shutOut) {
		const drain = 3 * time.Minute // three times the permit's duration
		p := w.mustAcquire(newCall("a", "1"))
		l := w.follow(p.Token)
		defer l.Close()
		w.sleep(30 * time.Second)
		w.applyShutOut(&way, p.Token, drain)
		if n := w.notice(l); n.Status != StatusStopping || n.Stop != way.cause || n.DrainLeft != drain {
			t.Fatalf("notice = %+v, want stopping with the full drain", n)
		}
		if left, draining := w.DrainLeft(w.machine.State(), w.machine.State().Permit(p.Token)); !draining || left != drain {
			t.Fatalf("DrainLeft() = %v, %v, want the full drain", left, draining)
		}
		for passed := 20 * time.Second; passed < drain; passed += 20 * time.Second {
			w.sleep(20 * time.Second)
			if r := w.wantStatus(p.Token, StatusRefreshed); r.Stop != way.cause || r.DrainLeft != drain-passed || r.Duration != time.Minute {
				t.Fatalf("%v after the change: refresh = %+v, want the cause and the remaining drain", passed, r)
			}
			w.wantTaken()
			if d := w.wantDenied(newCall("a", "again"), way.denial); d.Decision.Stop != way.cause {
				t.Fatalf("denial for a draining holder that acquires again = %+v, want the stop cause", d.Decision)
			}
		}
		w.sleep(20 * time.Second)
		if n := w.notice(l); n.Status != StatusStopping || n.Stop != way.cause || n.DrainLeft != 0 {
			t.Fatalf("after the drain: notice = %+v, want stopping", n)
		}
		w.wantStatus(p.Token, StatusStopping)
		if _, draining := w.DrainLeft(w.machine.State(), w.machine.State().Permit(p.Token)); draining {
			t.Fatal("DrainLeft() still reports a drain")
		}
		// The last refresh was 20 s before the end of the drain.
		w.sleep(40*time.Second + semaphore.Grace(time.Minute) - time.Millisecond)
		w.wantTaken()
		w.sleep(2 * time.Millisecond)
		w.wantFree(&way)
	})
}

func TestDrain_HolderReleases_NextIsGrantedImmediately(t *testing.T) {
	forEachShutOut(t, func(w *world, way shutOut) {
		p := w.mustAcquire(newCall("a", "1"))
		w.applyShutOut(&way, p.Token, time.Hour)
		w.sleep(time.Second)
		w.wantTaken()
		w.release(p.Token)
		w.wantFree(&way)
	})
}

func TestDrain_AfterFailover_RestartsInFull(t *testing.T) {
	forEachShutOut(t, func(w *world, way shutOut) {
		const drain = 3 * time.Minute
		p := w.mustAcquire(newCall("a", "1"))
		w.applyShutOut(&way, p.Token, drain)
		for range 2 { // two failovers, each shortly before the drain ends
			for range 8 {
				w.sleep(20 * time.Second)
				w.wantStatus(p.Token, StatusRefreshed)
			}
			w.demote()
			w.sleep(15 * time.Second)
			w.promote(w.term + 1)
			if r := w.wantStatus(p.Token, StatusRefreshed); r.Stop != way.cause || r.DrainLeft < drain-time.Second {
				t.Fatalf("after the failover: refresh = %+v, want the full drain", r)
			}
			w.wantTaken()
		}
		for range 8 {
			w.sleep(20 * time.Second)
			w.wantStatus(p.Token, StatusRefreshed)
		}
		w.sleep(20 * time.Second)
		w.wantStatus(p.Token, StatusStopping)
	})
}

func TestDrain_EndProposedInEarlierTerm_IsIgnored(t *testing.T) {
	forEachShutOut(t, func(w *world, way shutOut) {
		p := w.mustAcquire(newCall("a", "1"))
		w.applyShutOut(&way, p.Token, 30*time.Second)
		w.sleep(2 * time.Second) // until the sighting is recorded
		w.tape.hold()
		w.sleep(29 * time.Second)
		ends := w.tape.failHeld()
		if len(ends) == 0 {
			t.Fatal("the end of the drain was not proposed")
		}
		w.demote()
		w.promote(w.term + 1)
		w.tape.applyHeld(ends) // appended by the next leader
		if r := w.wantStatus(p.Token, StatusRefreshed); r.DrainLeft < 29*time.Second {
			t.Fatalf("refresh = %+v, want the full drain", r)
		}
		w.sleep(31 * time.Second)
		w.wantStatus(p.Token, StatusStopping)
	})
}

func TestDrain_GrantedAfterChange_HasNoDrain(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		old := w.mustAcquire(newCall("a", "1"))
		drain := shutOuts()[0]
		w.applyShutOut(&drain, old.Token, time.Hour)
		w.mustAcquire(callAs(otherGroup, ""))
		// "prod" is admitted again. Its new permit did not exist when the drain began.
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern, d.Permits = ".*", 3 })
		late := w.mustAcquire(newCall("b", "2"))
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
		w.wantStatus(old.Token, StatusRefreshed)
		w.wantStatus(late.Token, StatusStopping)
	})
}

func TestDrain_TwoChanges_LongerDrainApplies(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		group, acquirer := shutOuts()[0], shutOuts()[1]
		w.applyShutOut(&group, p.Token, time.Minute)
		w.sleep(10 * time.Second)
		w.applyShutOut(&acquirer, p.Token, 2*time.Minute)
		if r := w.wantStatus(p.Token, StatusRefreshed); r.DrainLeft != 2*time.Minute {
			t.Fatalf("refresh = %+v, want DrainLeft 2m", r)
		}
		w.sleep(55 * time.Second) // the first drain has ended
		if r := w.wantStatus(p.Token, StatusRefreshed); r.DrainLeft != 65*time.Second {
			t.Fatalf("refresh = %+v, want DrainLeft 65s", r)
		}
		w.sleep(55 * time.Second)
		w.wantStatus(p.Token, StatusRefreshed)
		w.sleep(11 * time.Second)
		w.wantStatus(p.Token, StatusStopping)
	})
}

func TestDrain_SecondCauseHasNoDrain_HolderStopsImmediately(t *testing.T) {
	ways := shutOuts()
	for _, other := range ways {
		if other.name == "delete" || other.cause == semaphore.StopNoLongerAdmitted {
			continue // a second edit does not change the first edit's drain
		}
		for _, first := range ways {
			if first.name == other.name || first.cause == other.cause || first.name == "delete" && other.name == "pause" {
				continue
			}
			t.Run(first.name+", then "+other.name, func(t *testing.T) {
				inUpgradedWorld(t, func(w *world) {
					w.define("job", nil)
					p := w.mustAcquire(newCall("a", "1"))
					l := w.follow(p.Token)
					defer l.Close()
					w.applyShutOut(&first, p.Token, time.Hour)
					if n := w.notice(l); n.DrainLeft != time.Hour {
						t.Fatalf("notice = %+v, want DrainLeft 1h", n)
					}
					w.applyShutOut(&other, p.Token, 0)
					if n := w.notice(l); n.DrainLeft != 0 {
						t.Fatalf("notice = %+v, want DrainLeft 0", n)
					}
					w.wantStatus(p.Token, StatusStopping)
					w.sleep(59 * time.Second)
					w.wantTaken()
				})
			})
		}
	}
}

func TestDrain_TwoCordons_ShorterDrainApplies(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		for id, drain := range map[string]time.Duration{"long": time.Hour, "short": time.Minute} {
			if _, err := w.Cordon(context.Background(), fsm.SetCordon{ID: id, GroupPattern: "prod", Drain: drain}, Ending{}); err != nil {
				t.Fatal(err)
			}
		}
		if r := w.wantStatus(p.Token, StatusRefreshed); r.DrainLeft != time.Minute {
			t.Fatalf("refresh = %+v, want DrainLeft 1m", r)
		}
		w.sleep(30 * time.Second)
		w.wantStatus(p.Token, StatusRefreshed)
		w.sleep(31 * time.Second)
		w.wantStatus(p.Token, StatusStopping)
	})
}

func TestDrain_SecondDrainIsShorter_RefreshReportsIt(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		cordon := func(id, reason string, drain time.Duration) {
			t.Helper()
			if _, err := w.Cordon(context.Background(), fsm.SetCordon{ID: id, GroupPattern: "prod", Drain: drain, Reason: reason}, Ending{}); err != nil {
				t.Fatal(err)
			}
		}
		cordon("first", "the switch is being replaced", time.Hour)
		if _, err := w.Pause(context.Background(), fsm.Pause{Names: []string{"job"}, Stop: true, Drain: 10 * time.Minute}, Ending{}); err != nil {
			t.Fatal(err)
		}
		if r := w.wantStatus(p.Token, StatusRefreshed); r.DrainLeft != 10*time.Minute {
			t.Errorf("under a cordon and a pause: refresh = %+v, want DrainLeft 10m", r)
		}
		cordon("second", "the rack is on fire", time.Minute)
		if r := w.wantStatus(p.Token, StatusRefreshed); r.DrainLeft != time.Minute || r.Message != "the rack is on fire" {
			t.Errorf("under two cordons: refresh = %+v, want DrainLeft 1m and the second reason", r)
		}
		cordon("second", "", 0)
		if r := w.wantStatus(p.Token, StatusStopping); r.Stop != semaphore.StopCordoned || r.Message != `no reason was given (cordon "second")` {
			t.Errorf("stopped by the second cordon: refresh = %+v, want that cordon without a reason", r)
		}
	})
}

func TestDrain_HeldTooLong_StopsImmediately(t *testing.T) {
	forEachShutOut(t, func(w *world, way shutOut) {
		if way.name == "delete" {
			return // max_hold requires a definition
		}
		w.define("job", func(d *semaphore.Definition) { d.MaxHold = 50 * time.Second })
		p := w.mustAcquire(newCall("a", "1"))
		l := w.follow(p.Token)
		defer l.Close()
		w.applyShutOut(&way, p.Token, time.Hour)
		w.notice(l)
		w.sleep(40 * time.Second)
		w.wantStatus(p.Token, StatusRefreshed)
		w.sleep(11 * time.Second)
		if n := w.notice(l); n.Stop != semaphore.StopHeldTooLong || n.DrainLeft != 0 {
			t.Fatalf("notice = %+v, want held too long", n)
		}
		w.wantStatus(p.Token, StatusStopping)
	})
}

func TestRevoke_UnsafeNow_FreesSlotAndNotifiesHolder(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.LossDelay = time.Hour })
		p := w.mustAcquire(newCall("a", "1"))
		l := w.follow(p.Token)
		defer l.Close()
		next := w.startAcquire(newCall("b", "2"))
		if _, err := w.Revoke(context.Background(), fsm.Revoke{Token: p.Token, UnsafeNow: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := w.notice(l); n.Status != StatusLost {
			t.Fatalf("notice = %+v, want lost", n)
		}
		next.wantGranted(t)
		w.wantStatus(p.Token, StatusLost)
	})
}

func TestDrain_FeatureLevelTooLow_IsRefusedAndChangesNothing(t *testing.T) {
	for _, way := range shutOuts() {
		t.Run(way.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", nil)
				p := w.mustAcquire(newCall("a", "1"))
				revision := w.machine.State().Revision()
				wantErr(t, way.do(w, p.Token, time.Minute), ErrFeatureLevel)
				if now := w.machine.State().Revision(); now != revision {
					t.Fatalf("Revision() = %d, want %d", now, revision)
				}
				w.wantStatus(p.Token, StatusRefreshed)
			})
		})
	}
}
