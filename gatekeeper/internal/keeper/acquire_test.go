package keeper

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestTryAcquire_Denied_WritesNothingAndReportsHolders(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		before := w.tape.entries()
		d := w.wantDenied(newCall("b", "2"), semaphore.NoFreePermit)
		if w.tape.entries() != before {
			t.Fatal("a denial wrote a log entry")
		}
		if d.HolderCount != 1 || d.Holders[0].Token != p.Token || d.RetryAfter <= 0 || d.Message == "" {
			t.Fatalf("TryAcquire() denied with %+v, want the holder, a retry time and a message", d)
		}
		w.wantDenied(&AcquireCall{Request: semaphore.Request{
			Semaphore: "none", Identity: semaphore.Identity{Group: "g", Acquirer: "a"}, Weight: 1,
		}}, semaphore.NoSuchSemaphore)
	})
}

func TestTryAcquire_SameIdentity_ReturnsExistingPermit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", ""))
		w.sleep(50 * time.Second)
		a := w.tryAcquire(newCall("a", ""))
		if a.Outcome != semaphore.Refreshed || a.Permit.Token != p.Token || a.Waited != 0 {
			t.Fatalf("TryAcquire() = %+v, want a refresh of the same permit", a)
		}
		w.sleep(50 * time.Second)
		if !w.isLive(p.Token) {
			t.Fatal("the permit expired even though a second call had refreshed it")
		}
		heavier := newCall("a", "")
		heavier.Weight = 2
		w.wantDenied(heavier, semaphore.AlreadyHeld)
	})
}

func TestTryAcquire_ReplayAfterUnknownOutcome_RefreshesSamePermit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		failed := make(chan error)
		call := newCall("a", "1")
		go func() {
			_, err := w.TryAcquire(context.Background(), call)
			failed <- err
		}()
		synctest.Wait()
		lost := w.tape.failHeld()
		wantErr(t, <-failed, consensus.ErrUnknownOutcome)
		w.tape.applyHeld(lost) // the entry is committed after all

		a := w.tryAcquire(newCall("a", "1"))
		if a.Outcome != semaphore.Refreshed || a.Waited != 0 {
			t.Fatalf("replay = %+v, want a refresh with zero Waited", a)
		}
	})
}

func TestTryAcquire_ReplayOfEndedRequest_IsNotGrantedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		if _, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil {
			t.Fatal(err)
		}
		_, err := w.TryAcquire(context.Background(), newCall("a", "1"))
		wantErr(t, err, ErrRequestEnded)
		w.mustAcquire(newCall("a", "2"))
	})
}

// A leader that pauses between handing a grant to Raft and answering the call may have been deposed in the meantime.
// The pause must not count toward Waited, which would extend the time for which the client relies on the permit.
func TestTryAcquire_LeaderPausedAfterProposing_PauseDoesNotCountAsWaiting(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		answers := make(chan Answer)
		call := newCall("a", "1")
		go func() {
			a, err := w.TryAcquire(context.Background(), call)
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
		w.sleep(40 * time.Second)
		w.tape.releaseHeld()
		a := <-answers
		if a.Outcome != semaphore.Granted || a.Waited > time.Millisecond {
			t.Fatalf("Outcome = %v, Waited = %v, want a grant with only the time before the handover to Raft", a.Outcome, a.Waited)
		}
		// The client stops relying on the permit before the server can end it.
		w.sleep(59 * time.Second)
		if !w.isLive(a.Permit.Token) {
			t.Fatal("the permit ended early")
		}
	})
}

func TestTryAcquire_CallReceivedAfterGrantIsProposed_IsAnsweredAsRefresh(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		answers := make(chan Answer, 2)
		go w.sendAnswer(newCall("a", "1"), answers)
		w.sleep(5 * time.Second)
		go w.sendAnswer(newCall("a", "1"), answers) // a retry attaches to the pending grant
		w.sleep(time.Second)
		w.tape.releaseHeld()
		first, second := <-answers, <-answers
		if first.Outcome == semaphore.Refreshed {
			first, second = second, first
		}
		if first.Outcome != semaphore.Granted || second.Outcome != semaphore.Refreshed || second.Waited != 0 ||
			first.Permit.Token != second.Permit.Token {
			t.Fatalf("got %+v and %+v, want a grant and a refresh of it", first, second)
		}
	})
}

func (w *world) sendAnswer(call *AcquireCall, answers chan<- Answer) {
	a, err := w.TryAcquire(context.Background(), call)
	if err != nil {
		w.t.Error(err)
	}
	answers <- a
}

func TestAbandon_AllCallsEnded_FreesSlotAndRemembersRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		call := newCall("a", "1")
		go func() {
			_, err := w.TryAcquire(ctx, call)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		wantErr(t, <-failed, context.Canceled)
		w.tape.releaseHeld()
		_, err := w.TryAcquire(context.Background(), newCall("a", "1"))
		wantErr(t, err, ErrRequestEnded)
		w.mustAcquire(newCall("b", "2"))
	})
}

func TestAbandon_AnotherCallAnswered_IsNotAbandoned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		ctx, cancel := context.WithCancel(context.Background())
		failed, answers := make(chan error), make(chan Answer, 1)
		call := newCall("a", "1")
		go func() {
			_, err := w.TryAcquire(ctx, call)
			failed <- err
		}()
		synctest.Wait()
		go w.sendAnswer(newCall("a", "1"), answers)
		synctest.Wait()
		cancel()
		<-failed
		w.tape.releaseHeld()
		a := <-answers
		w.sleep(30 * time.Second)
		if !w.isLive(a.Permit.Token) {
			t.Fatal("a grant that another call received was abandoned")
		}
		w.wantDenied(newCall("b", "2"), semaphore.NoFreePermit)
	})
}

func TestAbandon_RenewedBySameIdentity_IsNotAbandoned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		ctx, cancel := context.WithCancel(context.Background())
		failed := make(chan error)
		call := newCall("a", "1")
		go func() {
			_, err := w.TryAcquire(ctx, call)
			failed <- err
		}()
		synctest.Wait()
		// The grant is applied. Before its call is answered, another request by the same identity refreshes the permit.
		held := w.tape.held
		w.tape.mu.Lock()
		w.tape.held, w.tape.holding = nil, false
		w.tape.mu.Unlock()
		results, err := w.machine.Apply(w.tape.next(), 1, held[0].entry)
		if err != nil {
			t.Fatal(err)
		}
		a := w.tryAcquire(newCall("a", "2"))
		if a.Outcome != semaphore.Refreshed {
			t.Fatalf("second request by the same identity = %+v, want a refresh", a)
		}
		cancel()
		<-failed
		held[0].end(consensus.Appended{Results: results})
		w.sleep(time.Second)
		if !w.isLive(a.Permit.Token) {
			t.Fatal("the permit was abandoned even though another request had received it")
		}
	})
}

func (t *tape) next() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.index++
	return t.index
}

func TestAbandon_ReplayDuringAbandonment_WaitsForOutcome(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		ctx, cancel := context.WithCancel(context.Background())
		call := newCall("a", "1")
		failed := make(chan error)
		go func() {
			_, err := w.TryAcquire(ctx, call)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		<-failed
		// The grant is applied, and its abandonment is delayed.
		w.tape.mu.Lock()
		grant := w.tape.held
		w.tape.held = nil
		for _, h := range grant {
			w.tape.apply(h)
		}
		w.tape.mu.Unlock()
		synctest.Wait()
		replay := make(chan error, 1)
		go func() {
			_, err := w.TryAcquire(context.Background(), newCall("a", "1"))
			replay <- err
		}()
		synctest.Wait()
		select {
		case err := <-replay:
			t.Fatalf("the replay was answered with %v while its permit's abandonment was in flight", err)
		default:
		}
		w.tape.releaseHeld()
		wantErr(t, <-replay, ErrRequestEnded)
	})
}

// Apply may find that an identity already holds a permit if two of its calls without a request id were decided while
// the slot was free.
func TestTryAcquire_AlreadyHeldAtApply_IsAnsweredAsRefresh(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		answers := make(chan Answer, 2)
		go w.sendAnswer(newCall("a", ""), answers)
		go w.sendAnswer(newCall("a", ""), answers)
		synctest.Wait()
		w.tape.releaseHeld()
		first, second := <-answers, <-answers
		if first.Outcome == second.Outcome || first.Permit.Token != second.Permit.Token {
			t.Fatalf("got %+v and %+v, want one grant and one refresh of it", first, second)
		}
	})
}

func TestTryAcquire_ExpiryOfHeldPermitInFlight_IsDecidedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", ""))
		w.tape.hold()
		w.sleep(61 * time.Second)
		answers := make(chan Answer, 1)
		go w.sendAnswer(newCall("a", ""), answers)
		synctest.Wait()
		if len(answers) != 0 {
			t.Fatal("the call was answered while its permit's expiry was in flight")
		}
		w.tape.releaseHeld()
		a := <-answers
		if a.Outcome != semaphore.Granted || a.Permit.Token == p.Token {
			t.Fatalf("TryAcquire() = %+v, want a new permit", a)
		}
	})
}

func TestTryAcquire_EditedBetweenDecisionAndApply_IsDecidedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.tape.hold()
		edited, answers := make(chan struct{}), make(chan Answer, 1)
		go func() {
			defer close(edited)
			if err := w.replace("job", func(d *semaphore.Definition) { d.GroupPattern = "dr-site" }); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		go w.sendAnswer(newCall("a", "1"), answers) // decided before the edit is applied
		synctest.Wait()
		w.tape.releaseHeld()
		<-edited
		if a := <-answers; a.Outcome != semaphore.Denied || a.Denial.Decision.Reason != semaphore.GroupMismatch {
			t.Fatalf("TryAcquire() = %+v, want a denial under the edited definition", a)
		}
	})
}

func TestRefresh_HolderNoLongerAdmitted_IsStoppingAndKeepsSlot(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		l := w.Listen()
		defer l.Close()
		if _, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token}}); err != nil {
			t.Fatal(err)
		}
		w.sleep(30 * time.Second)
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "no-run" })
		if n := <-l.Notices(); n[0].Status != StatusStopping || n[0].Stop != semaphore.StopNoLongerAdmitted {
			t.Fatalf("notice = %+v, want stopping, no longer admitted", n)
		}
		w.wantStatus(p.Token, StatusStopping)
		w.define("job", func(d *semaphore.Definition) { d.GroupPattern = "dr-site" })
		dr := newCall("b", "2")
		dr.Identity.Group = "dr-site"
		w.wantDenied(dr, semaphore.NoFreePermit)
		w.sleep(29 * time.Second)
		w.wantDenied(dr, semaphore.NoFreePermit)
		w.sleep(2 * time.Second)
		w.mustAcquire(dr)
		if n := <-l.Notices(); n[len(n)-1].Status != StatusLost {
			t.Fatalf("last notice = %+v, want lost", n)
		}
	})
}

func TestDelete_WithLivePermits_PermitsCountAfterRecreation(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.delete("job")
		w.wantDenied(newCall("b", "2"), semaphore.NoSuchSemaphore)
		if r := w.wantStatus(p.Token, StatusStopping); r.Stop != semaphore.StopNoLongerAdmitted {
			t.Fatalf("Stop = %v, want no longer admitted", r.Stop)
		}
		w.define("job", nil)
		w.wantDenied(newCall("b", "3"), semaphore.NoFreePermit)
		w.wantStatus(p.Token, StatusRefreshed)
	})
}

func TestTryAcquire_ExpectedRevisionChanged_IsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
		seen := w.machine.State().PermitRevision("job")
		w.mustAcquire(newCall("a", "1"))
		call := newCall("b", "2")
		call.ExpectedRevision = &seen
		_, err := w.TryAcquire(context.Background(), call)
		wantErr(t, err, ErrRevisionChanged)
		now := w.machine.State().PermitRevision("job")
		call = newCall("b", "3")
		call.ExpectedRevision = &now
		w.mustAcquire(call)
	})
}

func TestCancel_LiveGrant_IsReturnedAndNotGrantedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.mustAcquire(newCall("a", "1"))
		r, err := w.Cancel(context.Background(), "job", newCall("a", "1").Identity, "1")
		if err != nil || r.ReturnedPermit == nil {
			t.Fatal(r, err)
		}
		_, err = w.TryAcquire(context.Background(), newCall("a", "1"))
		wantErr(t, err, ErrRequestEnded)
		w.mustAcquire(newCall("b", "2"))
	})
}

// A cancelled grant never had a holder, so no job ran under it. A released permit may have been used by a job.
func TestCancel_GrantWithMinHold_DoesNotCool(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.MinHold = time.Hour })
		w.mustAcquire(newCall("a", "1"))
		if r, err := w.Cancel(context.Background(), "job", newCall("a", "1").Identity, "1"); err != nil || r.ReturnedPermit == nil {
			t.Fatal(r, err)
		}
		p := w.mustAcquire(newCall("b", "2"))
		w.release(p.Token)
		w.wantDenied(newCall("c", "3"), semaphore.NoFreePermit)
	})
}

func TestCancel_BeforeRequestArrives_RequestIsNeverGranted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		if _, err := w.Cancel(context.Background(), "job", newCall("a", "1").Identity, "1"); err != nil {
			t.Fatal(err)
		}
		_, err := w.TryAcquire(context.Background(), newCall("a", "1"))
		wantErr(t, err, ErrRequestEnded)
	})
}

func TestRevoke_HolderKeepsSlotUntilRelease(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		l := w.Listen()
		defer l.Close()
		if _, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Revoke(context.Background(), fsm.Revoke{Token: p.Token, Author: "op", Reason: "disk is full"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := <-l.Notices(); n[0].Stop != semaphore.StopRevoked || n[0].Message != "disk is full" {
			t.Fatalf("notice = %+v, want revoked with the reason", n)
		}
		w.wantDenied(newCall("b", "2"), semaphore.NoFreePermit)
		w.wantDenied(newCall("a", "3"), semaphore.Stopping)
		if r, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil || !r.Released {
			t.Fatal(r, err)
		}
		w.mustAcquire(newCall("b", "4"))
		_, err := w.Revoke(context.Background(), fsm.Revoke{Token: p.Token, Author: "op"})
		wantErr(t, err, ErrNoSuchPermit)
	})
}

func TestFiring_ShortJobOnSkewedClocks_RunsOnce(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.FiringMaxAhead = semaphore.FiringUnbounded })
		due := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
		first := newCall("a", "1")
		first.Firing = &semaphore.Firing{Name: "nightly", Due: due}
		p := w.mustAcquire(first)
		if _, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil {
			t.Fatal(err)
		}
		second := newCall("b", "2")
		second.Firing = &semaphore.Firing{Name: "nightly", Due: due}
		if d := w.wantDenied(second, semaphore.FiringDone); d.Decision.Claim.Winner.Acquirer != "a" {
			t.Fatalf("claim = %+v, want acquirer a as the winner", d.Decision.Claim)
		}
		second.Firing = &semaphore.Firing{Name: "nightly", Due: due.Add(24 * time.Hour)}
		w.mustAcquire(second)
	})
}

func TestNotLeading_EveryCallReportsLeader(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		w.demote()
		var notLeader *consensus.NotLeaderError
		for name, call := range map[string]func() error{
			"TryAcquire": func() error { _, err := w.TryAcquire(context.Background(), newCall("a", "1")); return err },
			"Acquire":    func() error { _, err := w.Acquire(context.Background(), newCall("a", "1"), nil); return err },
			"Refresh": func() error {
				_, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{}, nil)
				return err
			},
			"Release": func() error {
				_, err := w.Release(context.Background(), fsm.Release{Token: 1, Job: semaphore.JobDone}, semaphore.Owner{})
				return err
			},
			"Read": func() error { _, err := w.Read(context.Background()); return err },
		} {
			if err := call(); !asError(err, &notLeader) || notLeader.Leader.ID != "gk2" {
				t.Errorf("%s: got %v, want a NotLeaderError naming gk2", name, err)
			}
		}
		w.promote(2)
	})
}

func TestTryAcquire_FiringClaimedByLivePermit_DenialReportsWhenPermitEnds(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) {
			d.Permits, d.OnExpiry, d.FiringMaxAhead = 2, semaphore.OnExpiryHold, semaphore.FiringUnbounded
		})
		firing := &semaphore.Firing{Name: "nightly", Due: time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
		first, second := newCall("a", "1"), newCall("b", "2")
		first.Firing, second.Firing = firing, firing
		p := w.mustAcquire(first)
		w.sleep(20 * time.Second)
		if d := w.wantDenied(second, semaphore.FiringClaimed); d.RetryAfter < 40*time.Second || d.RetryAfter > 41*time.Second {
			t.Errorf("claim by a permit ending in 40 s: RetryAfter = %v, want 40 s", d.RetryAfter)
		}
		w.sleep(time.Minute)
		if d := w.wantDenied(second, semaphore.FiringClaimed); w.isLive(p.Token) || d.RetryAfter >= 0 {
			t.Errorf("claim waiting for an operator: RetryAfter = %v, want a negative value", d.RetryAfter)
		}
	})
}
