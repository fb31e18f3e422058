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

func TestExpiry_NotRefreshed_EndsAfterDurationAndGrace(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(time.Minute + semaphore.Grace(time.Minute) - time.Millisecond)
		if !w.isLive(p.Token) {
			t.Fatal("the permit expired before its duration and grace period elapsed")
		}
		w.sleep(2 * time.Millisecond)
		if w.isLive(p.Token) {
			t.Fatal("the permit was still live after its duration and grace period")
		}
		w.mustAcquire(newCall("b", "2"))
	})
}

func TestExpiry_Refreshed_StaysLive(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		before := w.tape.entries()
		for range 100 {
			w.sleep(20 * time.Second)
			w.wantStatus(p.Token, StatusRefreshed)
		}
		if n := w.tape.entries() - before; n != 0 {
			t.Fatalf("refreshes wrote %d log entries, want none", n)
		}
	})
}

func TestRefresh_ExpiryInFlight_ReturnsRetryThenLost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.tape.hold()
		w.sleep(61 * time.Second)
		w.wantStatus(p.Token, StatusRetry)
		w.tape.releaseHeld()
		w.wantStatus(p.Token, StatusLost)
	})
}

func TestRefresh_ExpiryNeverAppended_MarkIsCleared(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.tape.refuseAppends(consensus.ErrNotAppended)
		w.sleep(60*time.Second + 600*time.Millisecond + time.Millisecond)
		w.wantStatus(p.Token, StatusRefreshed)
		w.tape.refuseAppends(nil)
		w.sleep(30 * time.Second)
		if !w.isLive(p.Token) {
			t.Fatal("a permit that was refreshed in time expired")
		}
	})
}

func TestRefresh_ExpiryOutcomeUnknown_MarkRemainsForEpoch(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.tape.hold()
		w.sleep(61 * time.Second)
		w.tape.failHeld()
		w.sleep(10 * time.Minute)
		w.wantStatus(p.Token, StatusRetry)

		// The mark does not carry over to the next epoch, where the permit has its full duration again.
		w.demote()
		w.promote(2)
		w.wantStatus(p.Token, StatusRefreshed)
	})
}

func TestExpire_AppendedInLaterTerm_IsIgnored(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.tape.hold()
		w.sleep(61 * time.Second)
		expire := w.tape.failHeld()
		w.demote()
		w.promote(3)
		w.wantStatus(p.Token, StatusRefreshed)
		w.tape.applyHeld(expire)
		if !w.isLive(p.Token) {
			t.Fatal("an expiry proposed in term 1 and appended in term 3 ended a permit that was refreshed in term 3")
		}
	})
}

func TestPromotion_RestartsFullDurationOfEveryPermit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(50 * time.Second)
		w.demote()
		w.promote(2)
		w.sleep(59 * time.Second)
		if !w.isLive(p.Token) {
			t.Fatal("the new leader ended the permit before its full duration")
		}
		w.sleep(3 * time.Second)
		if w.isLive(p.Token) {
			t.Fatal("the new leader kept a permit whose holder never refreshed it")
		}
	})
}

func TestExpiry_WhileNotLeading_NothingExpires(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.demote()
		w.sleep(time.Hour)
		if !w.isLive(p.Token) {
			t.Fatal("a server that is not the leader expired a permit")
		}
		w.promote(2)
	})
}

func TestRefresh_FrameReceivedBeforeDeadline_IsProcessedBeforeExpiry(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(59 * time.Second)
		processed := w.lessor.Receive() // a frame has arrived, but its handler is slow
		w.sleep(10 * time.Second)
		if !w.isLive(p.Token) {
			t.Fatal("the expiry did not wait for a received frame")
		}
		refreshed := make(chan TokenResult)
		go func() {
			// The handler extends the deadline before it closes the intake.
			w.renewOnly(p.Token)
			processed()
			refreshed <- TokenResult{}
		}()
		<-refreshed
		synctest.Wait()
		if !w.isLive(p.Token) {
			t.Fatal("the permit expired even though its refresh was received in time")
		}
	})
}

func TestOnExpiryHold_SlotIsTakenUntilCleared(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.OnExpiry = semaphore.OnExpiryHold })
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(2 * time.Minute)
		w.wantDenied(newCall("a", "2"), semaphore.HeldForOperator)
		w.wantDenied(newCall("b", "3"), semaphore.NoFreePermit)
		w.sleep(24 * time.Hour)
		w.wantDenied(newCall("b", "4"), semaphore.NoFreePermit)
		if _, err := w.Clear(context.Background(), p.Token, "op", "checked by hand"); err != nil {
			t.Fatal(err)
		}
		w.mustAcquire(newCall("b", "5"))
		_, err := w.Clear(context.Background(), p.Token, "op", "again")
		wantErr(t, err, ErrNoSuchPermit)
	})
}

func TestMinHold_ReleasedEarly_SlotRemainsTaken(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.MinHold = 30 * time.Second })
		p := w.mustAcquire(newCall("a", "1"))
		w.sleep(10 * time.Second)
		if r, err := w.Release(context.Background(), fsm.Release{Token: p.Token, Job: semaphore.JobDone}, semaphore.Owner{}); err != nil || !r.Released {
			t.Fatal(r, err)
		}
		w.wantDenied(newCall("b", "2"), semaphore.NoFreePermit)
		w.sleep(19 * time.Second)
		w.wantDenied(newCall("b", "3"), semaphore.NoFreePermit)
		w.sleep(2 * time.Second)
		w.mustAcquire(newCall("b", "4"))
	})
}

func TestLossDelay_AfterExpiry_SlotCools(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.LossDelay = 10 * time.Second })
		w.mustAcquire(newCall("a", "1"))
		w.sleep(61 * time.Second)
		w.wantDenied(newCall("b", "2"), semaphore.NoFreePermit)
		w.sleep(11 * time.Second)
		w.mustAcquire(newCall("b", "3"))
	})
}

func TestMaxHold_Exceeded_HolderIsNotifiedAndRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", func(d *semaphore.Definition) { d.MaxHold = 5 * time.Minute })
		p := w.mustAcquire(newCall("a", "1"))
		l := w.Listen()
		defer l.Close()
		for range 14 {
			w.sleep(20 * time.Second)
			if r, err := refreshOn(l.Receive(), []TokenRefresh{{Token: p.Token}}); err != nil || r[0].Status != StatusRefreshed {
				t.Fatal(r, err)
			}
		}
		w.sleep(21 * time.Second)
		select {
		case n := <-l.Notices():
			if n[0].Stop != semaphore.StopHeldTooLong {
				t.Fatalf("notice = %+v, want held too long", n)
			}
		default:
			t.Fatal("the holder was not notified")
		}
		if r := w.wantStatus(p.Token, StatusStopping); r.Stop != semaphore.StopHeldTooLong {
			t.Fatalf("Stop = %v, want held too long", r.Stop)
		}
		w.sleep(62 * time.Second)
		if w.isLive(p.Token) {
			t.Fatal("the permit outlived its deadline even though its refreshes were refused")
		}
	})
}

func TestConfirm_Fails_EveryCallReturnsError(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.lead.fail()
		_, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{}, []TokenRefresh{{Token: p.Token}})
		wantErr(t, err, consensus.ErrNotConfirmed)
		_, err = w.TryAcquire(context.Background(), newCall("b", "2"))
		wantErr(t, err, consensus.ErrNotConfirmed)
		_, err = w.TryAcquire(context.Background(), newCall("a", "1")) // a replay
		wantErr(t, err, consensus.ErrNotConfirmed)
		_, err = w.Read(context.Background())
		wantErr(t, err, consensus.ErrNotConfirmed)
		_, _, _, _, err = w.Explain(context.Background(), &newCall("b", "3").Request)
		wantErr(t, err, consensus.ErrNotConfirmed)
	})
}

func TestConfirm_EpochChangesMidway_ReturnsNotLeader(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		w.lead.set(func(context.Context, uint64, time.Time) error {
			w.lead.set(nil)
			close(w.done)
			w.Demote(1)
			w.term, w.done = 2, make(chan struct{})
			w.tape.setTerm(2)
			w.Promote(2, w.done)
			return nil
		})
		_, err := w.Refresh(context.Background(), time.Now(), semaphore.Owner{}, []TokenRefresh{{Token: p.Token}})
		var notLeader *consensus.NotLeaderError
		if !asError(err, &notLeader) {
			t.Fatalf("got error %v, want NotLeaderError", err)
		}
	})
}

func TestFrame_ReceivedButNotProcessed_DelaysExpiry(t *testing.T) {
	inWorld(t, func(w *world) {
		w.define("job", nil)
		p := w.mustAcquire(newCall("a", "1"))
		l := w.Listen()
		defer l.Close()
		w.sleep(59 * time.Second)
		receipt := l.Receive() // not processed yet
		w.sleep(10 * time.Second)
		r, err := refreshOn(receipt, []TokenRefresh{{Token: p.Token}})
		if err != nil || r[0].Status != StatusRefreshed {
			t.Fatalf("refresh in a frame received before the deadline = %+v, %v, want refreshed", r, err)
		}
		l.Receive().Drop()
		w.sleep(2 * time.Minute)
		if w.isLive(p.Token) {
			t.Fatal("a dropped frame delayed the expiry")
		}
	})
}
