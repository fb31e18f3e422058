package keeper

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func (w *world) verify(sem string, token uint64) Verification {
	w.t.Helper()
	v, err := w.Verify(context.Background(), sem, token)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) wantInvalid(sem string, token uint64, message string) Verification {
	w.t.Helper()
	v := w.verify(sem, token)
	if v.Valid || !strings.Contains(v.Message, message) {
		w.t.Fatalf("Verify() = %+v, want invalid, with a message containing %q", v, message)
	}
	return v
}

func TestVerify_LivePermit_IsValidAndExtendsNoDeadline(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Duration = 10 * time.Second })
		p := w.mustAcquire(newCall("a", "1"))
		for range 9 {
			w.sleep(time.Second)
			for _, sem := range []string{"job", ""} {
				if v := w.verify(sem, p.Token); !v.Valid || v.Permit.Token != p.Token || v.Message != "" || v.Revision != w.machine.State().Revision() {
					t.Fatalf("Verify() = %+v, want valid", v)
				}
			}
		}
		w.sleep(2 * time.Second)
		w.wantInvalid("job", p.Token, "it was expired")
	})
}

func TestVerify_PermitEnded_ReportsHow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		if _, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil {
			t.Fatal(err)
		}
		if v := w.wantInvalid("job", p.Token, "it was released"); v.Permit != nil {
			t.Errorf("Verify() returned the permit %+v, which has ended", v.Permit)
		}
		w.wantInvalid("other", p.Token, `belongs to semaphore "job", not to "other"`)
		w.wantInvalid("", p.Token+1, "no permit was ever granted")
	})
}

// The journal outlasts the request memory.
func TestVerify_PermitEndedAndRequestForgotten_ReportsEndFromJournal(t *testing.T) {
	inWorld(t, func(w *world) {
		w.raiseFeatureLevel()
		w.define("job", nil)
		w.setRequestBounds(fsm.RequestBounds{Kept: 1})
		call := newCall("a", "1")
		p := w.mustAcquire(call)
		w.release(p.Token)
		w.release(w.mustAcquire(newCall("b", "2")).Token)
		w.batcher.Do(context.Background(), fsm.Trim{Term: w.machine.State().Term(), UpTo: w.machine.State().Revision(), Names: []string{"job"}})
		if w.machine.State().EndedPermit(p.Token) != nil {
			t.Fatal("the request is still remembered")
		}
		for _, sem := range []string{"job", ""} {
			v := w.wantInvalid(sem, p.Token, "it was released at ")
			if want := "; its holder was " + call.Identity.Acquirer + " in " + call.Identity.Group; !strings.HasSuffix(v.Message, want) {
				t.Errorf("Message = %q, want the suffix %q", v.Message, want)
			}
		}
		w.wantInvalid("other", p.Token, "it ended long ago or was never granted")
	})
}

func TestVerify_DifferentSemaphore_IsInvalidAndReturnsNoPermit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		if v := w.wantInvalid("other", p.Token, `belongs to semaphore "job", not to "other"`); v.Permit != nil {
			t.Errorf("Verify() returned the permit %+v for another semaphore", v.Permit)
		}
	})
}

// A permit whose holder must stop is valid until it ends, because it still occupies its slot. Resources with stricter
// requirements can check Stop.
func TestVerify_HolderMustStop_IsValidAndReturnsReason(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(*world, *semaphore.Permit)
		want semaphore.StopCause
		text string
	}{
		"revoked": {func(w *world, p *semaphore.Permit) {
			if _, err := w.Revoke(context.Background(), fsm.Revoke{Token: p.Token, Author: "ann", Reason: "it is hung"}); err != nil {
				w.t.Fatal(err)
			}
		}, semaphore.StopRevoked, "it is hung"},
		"edited": {func(w *world, _ *semaphore.Permit) {
			w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "other" })
		}, semaphore.StopNoLongerAdmitted, "no reason was given"},
		"deleted": {func(w *world, _ *semaphore.Permit) { w.delete("job") }, semaphore.StopNoLongerAdmitted, "no reason was given"},
		"held too long": {func(w *world, p *semaphore.Permit) {
			w.sleep(40 * time.Second)
			w.wantStatus(p.Token, StatusRefreshed)
			w.sleep(40 * time.Second)
		}, semaphore.StopHeldTooLong, "max_hold has elapsed"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.define("job", func(d *semaphore.Definition) { d.MaxHold = 70 * time.Second })
				p := w.mustAcquire(newCall("a", "1"))
				c.stop(w, p)
				v := w.verify("job", p.Token)
				if !v.Valid || v.Permit.Stop != c.want || !strings.Contains(v.Message, c.text) {
					t.Fatalf("Verify() = %+v with permit %+v, want valid, with Stop = %v and a message containing %q", v, v.Permit, c.want, c.text)
				}
				if r := w.wantStatus(p.Token, StatusStopping); r.Stop != v.Permit.Stop || r.Message != v.Message {
					t.Errorf("refresh = %+v, Verify() = %+v, want the same cause and message", r, v)
				}
			})
		})
	}
}

func TestVerify_HeldOrCooling_IsNotValid(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.OnExpiry, d.Duration = semaphore.OnExpiryHold, 10*time.Second })
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(20 * time.Second)
		if v := w.wantInvalid("job", p.Token, "held for an operator"); v.Permit.State != semaphore.Held {
			t.Errorf("permit = %+v, want held", v.Permit)
		}
	})
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.MinHold = time.Minute })
		p := w.mustAcquire(newCall("a", "1"))
		if _, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil {
			t.Fatal(err)
		}
		if v := w.wantInvalid("job", p.Token, "it was released"); v.Permit.State != semaphore.Cooling {
			t.Errorf("permit = %+v, want cooling", v.Permit)
		}
	})
}

func TestVerify_LeadershipNotConfirmed_ReturnsError(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.lead.fail()
		v, err := w.Verify(context.Background(), "job", p.Token)
		wantErr(t, err, consensus.ErrNotConfirmed)
		if v != (Verification{}) {
			t.Errorf("Verify() = %+v with the error, want the zero value", v)
		}
		w.demote()
		_, err = w.Verify(context.Background(), "job", p.Token)
		if !asError(err, new(*consensus.NotLeaderError)) {
			t.Errorf("Verify() after losing leadership: got %v, want NotLeaderError", err)
		}
		w.promote(2)
	})
}

// Verify reflects everything acknowledged before the call, in particular the release of this token. Its slot may
// already have been granted to another caller.
func TestVerify_AfterAcknowledgedRelease_IsNotValid(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.tape.hold()
		released := make(chan fsm.ReleaseResult, 1)
		go func() {
			r, _ := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{})
			released <- r
		}()
		synctest.Wait()
		if v := w.verify("job", p.Token); !v.Valid {
			t.Fatalf("Verify() = %+v, want valid before the release is acknowledged", v)
		}
		w.tape.releaseHeld()
		if r := <-released; !r.Released {
			t.Fatalf("Release() = %+v, want Released", r)
		}
		w.wantInvalid("job", p.Token, "released")
		w.mustAcquire(newCall("b", "2"))
	})
}
