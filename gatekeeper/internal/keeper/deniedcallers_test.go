package keeper

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// deniedCallers returns the denied callers of all semaphores.
func (w *world) deniedCallers() []DeniedCaller {
	w.t.Helper()
	_, callers, _, err := w.DeniedCallers(context.Background(), anySemaphore)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Collect(callers)
}

func anySemaphore(*fsm.State, string) bool { return true }

// onlyDeniedCaller returns the only denied caller.
func (w *world) onlyDeniedCaller() DeniedCaller {
	w.t.Helper()
	callers := w.deniedCallers()
	if len(callers) != 1 {
		w.t.Fatalf("DeniedCallers() returned %d callers, want 1: %+v", len(callers), callers)
	}
	return callers[0]
}

func forSemaphore(call *AcquireCall, name string) *AcquireCall {
	call.Semaphore = name
	return call
}

func TestDeniedCallers_NeedsAction_IsUnresolvedUntilFixed(t *testing.T) {
	op := context.Background()
	for want, c := range map[semaphore.Reason]struct {
		deny func(w *world) *AcquireCall
		cure func(w *world) error
	}{
		semaphore.NoSuchSemaphore: {
			func(w *world) *AcquireCall { return forSemaphore(newCall("app1", ""), "none") },
			func(w *world) error { return w.replace("none", nil) },
		},
		semaphore.GroupMismatch: {
			func(w *world) *AcquireCall {
				w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
				return newCall("app1", "")
			},
			func(w *world) error {
				return w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" })
			},
		},
		semaphore.AcquirerMismatch: {
			func(w *world) *AcquireCall {
				w.define("job", func(d *semaphore.Definition) { d.AcquirerPattern = "app2" })
				return newCall("app1", "")
			},
			func(w *world) error {
				return w.replace("job", func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = "prod", "app1" })
			},
		},
		semaphore.Cordoned: {
			func(w *world) *AcquireCall {
				_, _ = w.Cordon(op, fsm.SetCordon{ID: "c", GroupPattern: "prod"}, Ending{})
				return newCall("app1", "")
			},
			func(w *world) error { _, err := w.Uncordon(op, fsm.Uncordon{ID: "c"}); return err },
		},
		semaphore.Paused: {
			func(w *world) *AcquireCall {
				_, _ = w.Pause(op, fsm.Pause{Names: []string{"job"}}, Ending{})
				return newCall("app1", "")
			},
			func(w *world) error { _, err := w.Resume(op, fsm.Resume{Names: []string{"job"}}); return err },
		},
		semaphore.WeightExceedsPermits: {
			func(w *world) *AcquireCall {
				call := newCall("app1", "")
				call.Weight = 3
				return call
			},
			func(w *world) error { return w.replace("job", func(d *semaphore.Definition) { d.Permits = 3 }) },
		},
	} {
		t.Run(want.String(), func(t *testing.T) {
			inUpgradedWorld(t, func(w *world) {
				w.define("job", nil)
				call := c.deny(w)
				began := time.Now()
				d := w.wantDenied(call, want)
				w.sleep(time.Hour)
				w.wantDenied(call, want)
				v := w.onlyDeniedCaller()
				if v.Resolved || v.Reason != want || v.Count != 2 || !v.First.Equal(began) || !v.Last.Equal(began.Add(time.Hour)) || v.Message != d.Message {
					t.Errorf("DeniedCallers() = %+v, want two denials for %v", v, want)
				}
				if prefix := `"app1" in group "prod" requested "` + call.Semaphore + `" and was denied: ` + want.String() + ". " + d.Message + " Denied 2 times, first at "; !strings.HasPrefix(v.Text, prefix) {
					t.Errorf("Text = %q, want the prefix %q", v.Text, prefix)
				}
				if err := c.cure(w); err != nil {
					t.Fatal(err)
				}
				if v := w.onlyDeniedCaller(); !v.Resolved || !strings.HasSuffix(v.Text, "would not be denied for that reason now.") {
					t.Errorf("after the fix: %+v, want Resolved", v)
				}
				w.mustAcquire(call)
				if v := w.onlyDeniedCaller(); !v.Resolved || !v.Passed || !strings.HasSuffix(v.Text, "It has since retried and was not denied for that reason.") {
					t.Errorf("after a grant: %+v, want Resolved and Passed", v)
				}
			})
		})
	}
}

// The request is decided again on the current state, even if the caller has not retried since the definition and the
// cordons changed.
func TestDeniedCallers_CauseChanged_ReportsNewCause(t *testing.T) {
	op := context.Background()
	inUpgradedWorld(t, func(w *world) {
		check := func(when string, reason semaphore.Reason, part, text string) {
			t.Helper()
			v := w.onlyDeniedCaller()
			if v.Resolved || v.Reason != reason || !strings.Contains(v.Message, part) || !strings.Contains(v.Text, text) {
				t.Errorf("%s: reason = %v (resolved: %t), message = %q, text = %q; want %v, with %q and %q", when, v.Reason, v.Resolved, v.Message, v.Text, reason, part, text)
			}
		}
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
		w.wantDenied(newCall("app1", ""), semaphore.GroupMismatch)
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "lab" }); err != nil {
			t.Fatal(err)
		}
		check("after an edit", semaphore.GroupMismatch, `"lab"`, "Denied once, at ")
		if _, err := w.Cordon(op, fsm.SetCordon{ID: "c", GroupPattern: "prod"}, Ending{}); err != nil {
			t.Fatal(err)
		}
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" }); err != nil {
			t.Fatal(err)
		}
		check("after a cordon", semaphore.Cordoned, "is cordoned", "; the reason then was "+semaphore.GroupMismatch.String()+".")
		if _, byCordon := w.DeniesAll(w.cfg.Machine.State(), "job"); !byCordon {
			t.Error("DeniesAll(): byCordon = false, want true")
		}
		if _, err := w.Uncordon(op, fsm.Uncordon{ID: "c"}); err != nil {
			t.Fatal(err)
		}
		if v := w.onlyDeniedCaller(); !v.Resolved || v.Reason != semaphore.GroupMismatch {
			t.Errorf("after Uncordon: %+v, want Resolved with the original reason", v)
		}
	})
}

// Once an edit admits the caller, the denial is resolved, even if a pause, a full semaphore or its own permit still
// blocks the same request. None of these requires an operator to admit the caller.
func TestDeniedCallers_AdmittedByEdit_IsResolved(t *testing.T) {
	shutOut := func(d *semaphore.Definition) { d.GroupPattern = "dr" }
	otherHolder := func(change func(*semaphore.Definition)) func(*semaphore.Definition) {
		return func(d *semaphore.Definition) {
			d.GroupPattern, d.Duration = "prod", 10*time.Second
			if change != nil {
				change(d)
			}
		}
	}
	inUpgradedWorld(t, func(w *world) {
		resolved := func(when string) {
			t.Helper()
			if v := w.onlyDeniedCaller(); !v.Resolved || len(w.DenyAll()) != 0 {
				t.Errorf("%s: %+v, want Resolved", when, v)
			}
		}
		w.define("job", shutOut)
		w.submit("j", nil, "x")
		worker := workerCall("w1")
		w.wantDenied(worker, semaphore.GroupMismatch)
		if w.onlyDeniedCaller().Resolved {
			t.Error("the caller is listed as resolved before the edit")
		}
		if err := w.replace("job", otherHolder(func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })); err != nil {
			t.Fatal(err)
		}
		w.pause(false, "")
		slot := w.startAcquire(worker)
		resolved("queued while paused")
		w.resume()
		slot.wantTask(t, "x")
		resolved("with a task")
		w.sleep(time.Minute)
		resolved("with its slot held for an operator")
		w.wantDenied(workerCall("w2"), semaphore.NoTask)
		if err := w.replace("job", shutOut); err != nil {
			t.Fatal(err)
		}
		if v := w.onlyDeniedCaller(); !v.Resolved {
			t.Errorf("w1 was given a task after its denial, but is not resolved: %+v", v)
		}
		w.wantDenied(worker, semaphore.GroupMismatch)
		if w.onlyDeniedCaller().Resolved {
			t.Error("w1 was denied again, but is listed as resolved")
		}
	})
	inUpgradedWorld(t, func(w *world) {
		w.define("job", shutOut)
		heavy := newCall("a", "1")
		heavy.Weight = 2
		w.wantDenied(heavy, semaphore.GroupMismatch)
		if err := w.replace("job", otherHolder(func(d *semaphore.Definition) { d.Permits = 2 })); err != nil {
			t.Fatal(err)
		}
		w.mustAcquire(newCall("a", "2"))
		if v := w.onlyDeniedCaller(); !v.Resolved {
			t.Errorf("a caller that holds a permit is not resolved: %+v", v)
		}
		w.wantDenied(heavy, semaphore.AlreadyHeld)
		if v := w.onlyDeniedCaller(); v.Resolved {
			t.Errorf("a caller denied because it already holds a permit is listed as resolved: %+v", v)
		}
	})
}

func TestDeniedCallers_NeedsOnlyWaiting_IsNotListed(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(firingCall("a", "1", 0, 0))
		w.wantDenied(firingCall("b", "2", 0, 0), semaphore.FiringClaimed)
		w.wantDenied(newCall("c", ""), semaphore.NoFreePermit)
		if callers := w.deniedCallers(); len(callers) != 0 {
			t.Errorf("DeniedCallers() = %+v, want none", callers)
		}
	})
}

// Only a granted firing shows that the host's clock is correct again. The passage of time does not.
func TestDeniedCallers_FiringTooFarAhead_IsResolvedByLaterFiring(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		w.wantDenied(firingCall("a", "1", time.Hour, 0), semaphore.FiringTooFarAhead)
		w.sleep(2 * time.Hour)
		if v := w.onlyDeniedCaller(); v.Resolved || v.Firing == nil {
			t.Errorf("after two hours: %+v, want not resolved, with the firing", v)
		}
		w.mustAcquire(firingCall("a", "2", 0, 0))
		if v := w.onlyDeniedCaller(); !v.Resolved {
			t.Errorf("after a later firing: %+v, want Resolved", v)
		}
	})
}

func TestDeniedCallers_FiringForgotten_IsResolvedByLaterFiring(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		old := firingCall("a", "1", 0, 0)
		w.release(w.mustAcquire(old).Token)
		w.sleep(semaphore.DefaultFiringRetention + 2*trimInterval)
		old.RequestID = "2"
		d := w.wantDenied(old, semaphore.FiringForgotten)
		if v := w.onlyDeniedCaller(); v.Resolved || !strings.Contains(v.Text, "FIRING_FORGOTTEN. "+d.Message) {
			t.Errorf("after the denial: %+v, want not resolved, with message %q", v, d.Message)
		}
		w.release(w.mustAcquire(firingCall("a", "3", 0, 0)).Token)
		if v := w.onlyDeniedCaller(); !v.Resolved {
			t.Errorf("after a later firing: %+v, want Resolved", v)
		}
	})
}

func TestDeniedCallers_AllSlotsHeldForOperator_IsListed(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(5 * time.Minute)
		w.wantDenied(newCall("b", "2"), semaphore.NoFreePermit)
		if v := w.onlyDeniedCaller(); v.Resolved || v.Reason != semaphore.NoFreePermit {
			t.Errorf("after the denial: %+v, want NO_FREE_PERMIT, not resolved", v)
		}
		if _, err := w.Clear(context.Background(), p.Token, "ann", ""); err != nil {
			t.Fatal(err)
		}
		if v := w.onlyDeniedCaller(); !v.Resolved {
			t.Errorf("after Clear: %+v, want Resolved", v)
		}
	})
}

func TestDenyAll_CallerIsAdmitted_OmitsSemaphore(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		names := func() string {
			var names []string
			for _, v := range w.DenyAll() {
				names = append(names, v.Semaphore)
			}
			return strings.Join(names, " ")
		}
		want := func(want string) {
			t.Helper()
			if got := names(); got != want {
				t.Errorf("DenyAll() = %q, want %q", got, want)
			}
		}
		standby := func() *AcquireCall {
			return callAs(semaphore.Identity{Group: "dr", Acquirer: "b"}, "")
		}
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" })
		w.wantDenied(standby(), semaphore.GroupMismatch)
		w.sleep(time.Second)
		w.wantDenied(forSemaphore(newCall("a", ""), "jbo"), semaphore.NoSuchSemaphore)
		want("jbo job")
		p := w.mustAcquire(newCall("a", "1"))
		want("jbo") // a standby is expected to be denied
		for _, v := range w.deniedCallers() {
			if v.Semaphore == "job" && (v.OtherHolder == nil || v.OtherHolder.Acquirer != "a" || !strings.Contains(v.Text, `"a" in group "prod" was granted a permit in the meantime`)) {
				t.Errorf("Text = %q, OtherHolder = %v; want the admitted caller", v.Text, v.OtherHolder)
			}
		}
		w.release(p.Token)
		want("jbo") // still a standby after the release
		w.define("other", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
		w.sleep(time.Second)
		w.wantDenied(forSemaphore(newCall("a", ""), "other"), semaphore.GroupMismatch)
		want("other jbo")
		if _, err := w.Pause(context.Background(), fsm.Pause{Names: []string{"other"}, Stop: true}, Ending{}); err != nil {
			t.Fatal(err)
		}
		w.sleep(time.Second)
		w.wantDenied(forSemaphore(newCall("a", ""), "other"), semaphore.GroupMismatch)
		if err := w.replace("other", func(d *semaphore.Definition) { d.GroupPattern = ".*" }); err != nil {
			t.Fatal(err)
		}
		w.wantDenied(forSemaphore(newCall("a", ""), "other"), semaphore.Paused)
		want("jbo") // paused semaphores are omitted
	})
}

func TestDeniesAll_OnlyCordonsDeny_ReportsCordon(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		op := context.Background()
		want := func(wantAll, wantCordon bool) {
			t.Helper()
			if all, byCordon := w.DeniesAll(w.machine.State(), "job"); all != wantAll || byCordon != wantCordon {
				t.Errorf("DeniesAll() = %t, %t; want %t, %t", all, byCordon, wantAll, wantCordon)
			}
		}
		cordon := func(id, acquirer string) {
			t.Helper()
			if _, err := w.Cordon(op, fsm.SetCordon{ID: id, AcquirerPattern: acquirer}, Ending{}); err != nil {
				t.Fatal(err)
			}
		}
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" })
		want(false, false)
		cordon("a", "app1")
		w.wantDenied(newCall("app1", ""), semaphore.Cordoned)
		want(true, true)
		w.wantDenied(callAs(semaphore.Identity{Group: "dr", Acquirer: "b"}, ""), semaphore.GroupMismatch)
		want(true, true) // b would still be denied without the cordon, but app1 would not
		if _, err := w.Uncordon(op, fsm.Uncordon{ID: "a"}); err != nil {
			t.Fatal(err)
		}
		want(false, false)
		cordon("a", "app1")
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = ".*" }); err != nil {
			t.Fatal(err)
		}
		want(false, false) // b would be admitted
		cordon("b", "b")
		want(true, true)
		for _, id := range []string{"a", "b"} {
			if _, err := w.Uncordon(op, fsm.Uncordon{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		want(false, false)
	})
}

// Once a cordon stops the holder, the other callers no longer count as standbys, because no caller can be granted a
// permit.
func TestDeniesAll_FormerHolderShutOut_IgnoresStandbys(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		op := context.Background()
		state := func() *fsm.State { return w.machine.State() }
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" })
		standby := callAs(semaphore.Identity{Group: "dr", Acquirer: "b"}, "")
		holder := w.mustAcquire(newCall("app1", ""))
		w.wantDenied(standby, semaphore.GroupMismatch)
		if v := w.onlyDeniedCaller(); v.OtherHolder == nil || v.OtherHolder.Acquirer != "app1" {
			t.Errorf("OtherHolder = %v, want app1, the holder", v.OtherHolder)
		}
		if _, err := w.Cordon(op, fsm.SetCordon{ID: "c", GroupPattern: "prod"}, Ending{}); err != nil {
			t.Fatal(err)
		}
		if all, byCordon := w.DeniesAll(state(), "job"); !all || byCordon {
			t.Errorf("while app1 is stopping: DeniesAll() = %t, %t; want true, false", all, byCordon)
		}
		w.release(holder.Token)
		w.wantDenied(newCall("app1", "2"), semaphore.Cordoned)
		w.sleep(time.Second)
		w.wantDenied(standby, semaphore.GroupMismatch)
		if all, byCordon := w.DeniesAll(state(), "job"); !all || !byCordon {
			t.Errorf("DeniesAll() = %t, %t; want true, true", all, byCordon)
		}
		callers := w.DeniedCallersOf(state(), "job")
		if len(callers) != 2 || callers[0].Identity.Acquirer != "app1" || callers[0].HeldAt.IsZero() || callers[0].OtherHolder != nil || !callers[1].HeldAt.IsZero() || callers[1].OtherHolder != nil {
			t.Errorf("DeniedCallersOf() = %+v; want app1, the former holder, before b", callers)
		}
		if all := w.DenyAll(); len(all) != 1 || all[0].Identity.Acquirer != "app1" {
			t.Errorf("DenyAll() = %+v; want app1", all)
		}
	})
}

// A pause never replaces another reason, and a denial remains resolved once the caller has been granted a permit.
func TestDeniedCallers_PausedLater_KeepsReason(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "dr" })
		w.wantDenied(newCall("app1", ""), semaphore.GroupMismatch)
		w.pause(false, "patching")
		if v := w.onlyDeniedCaller(); v.Resolved || v.Reason != semaphore.GroupMismatch {
			t.Errorf("while paused: %v (resolved: %t), want %v", v.Reason, v.Resolved, semaphore.GroupMismatch)
		}
		w.resume()
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "prod" }); err != nil {
			t.Fatal(err)
		}
		w.mustAcquire(newCall("app1", ""))
		w.pause(true, "patching")
		if v := w.onlyDeniedCaller(); !v.Resolved {
			t.Errorf("app1 was granted a permit after its denial, but is not resolved: %+v", v)
		}
	})
}

// DeniesAll reports that an edit shuts out every caller, even if one of them was denied and then granted a permit
// before the edit. It does not report a paused semaphore, which grants no permits anyway.
func TestDeniesAll_CallerServedBeforeEdit_IsIgnored(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		want := func(when string, want bool) {
			t.Helper()
			all, _ := w.DeniesAll(w.machine.State(), "job")
			if n := len(w.DenyAll()); all != want || n > 0 != want {
				t.Errorf("%s: DeniesAll() = %t and DenyAll() returned %d callers, want %t", when, all, n, want)
			}
		}
		w.define("job", nil)
		w.pause(false, "")
		w.wantDenied(newCall("app1", ""), semaphore.Paused)
		w.resume()
		w.release(w.mustAcquire(newCall("app1", "1")).Token)
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "prdo" }); err != nil {
			t.Fatal(err)
		}
		want("before any denial", false)
		w.wantDenied(newCall("app2", ""), semaphore.GroupMismatch)
		want("after an edit that admits no callers", true)
		w.pause(true, "")
		want("while paused", false)
		w.resume()
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern, d.AcquirerPattern = "prod", "app1" }); err != nil {
			t.Fatal(err)
		}
		want("after an edit that admits app1 again", false)
	})
}

// After a move and its undo, both callers have had a permit. The most recent holder is listed first.
func TestDeniedCallers_AllHeldPermits_LastHolderIsFirst(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = ".*" })
		standby := callAs(semaphore.Identity{Group: "dr", Acquirer: "b"}, "")
		for _, call := range []*AcquireCall{standby, newCall("app1", "")} {
			w.release(w.mustAcquire(call).Token)
			w.sleep(time.Second)
		}
		if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "prdo" }); err != nil {
			t.Fatal(err)
		}
		for _, call := range []*AcquireCall{newCall("app1", "2"), callAs(standby.Identity, "2")} {
			w.wantDenied(call, semaphore.GroupMismatch)
			w.sleep(time.Second)
		}
		if callers := w.DeniedCallersOf(w.machine.State(), "job"); len(callers) != 2 || callers[0].Identity.Acquirer != "app1" {
			t.Errorf("DeniedCallersOf() = %+v, want app1 first", callers)
		}
	})
}

func TestMisspellings_SimilarName_IsReturned(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("nightly-export", nil)
		w.wantDenied(forSemaphore(newCall("a", ""), "nightly-exprot"), semaphore.NoSuchSemaphore)
		w.wantDenied(forSemaphore(newCall("b", ""), "elsewhere"), semaphore.NoSuchSemaphore)
		near := w.Misspellings(w.machine.State(), "nightly-export")
		if len(near) != 1 || near[0].Semaphore != "nightly-exprot" {
			t.Errorf("Misspellings() = %+v, want nightly-exprot", near)
		}
	})
}

// Denials are dropped when the epoch ends, and are never written to the log.
func TestDeniedCallers_NewEpoch_StartsEmpty(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.wantDenied(newCall("a", ""), semaphore.NoSuchSemaphore)
		w.sleep(sightingInterval) // until the sighting is proposed
		before := w.tape.entries()
		for range 100 {
			w.wantDenied(newCall("a", ""), semaphore.NoSuchSemaphore)
		}
		if n := w.tape.entries() - before; n != 0 {
			t.Errorf("denials wrote %d entries, want none", n)
		}
		if v := w.onlyDeniedCaller(); v.Count != 101 {
			t.Errorf("Count = %d, want 101", v.Count)
		}
		w.demote()
		if _, _, _, err := w.DeniedCallers(context.Background(), anySemaphore); err == nil {
			t.Error("DeniedCallers() on a server that is not the leader succeeded, want an error")
		}
		w.sleep(time.Hour)
		w.promote(2)
		_, callers, since, err := w.DeniedCallers(context.Background(), anySemaphore)
		if err != nil || len(slices.Collect(callers)) != 0 || time.Since(since) > time.Minute {
			t.Errorf("DeniedCallers() in a new epoch = %+v, %v, %v; want none", slices.Collect(callers), since, err)
		}
	})
}
