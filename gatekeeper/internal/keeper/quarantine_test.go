package keeper

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// recoveredMachine returns a function that creates the state machine of a cluster that was recovered without its
// majority. The old cluster had granted "job" to host a, which could not be notified.
func recoveredMachine(t *testing.T) func() *fsm.Machine {
	return func() *fsm.Machine {
		old := fsm.New("old")
		job := &semaphore.Definition{
			Name: "job", GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute,
			OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
			FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
		}
		entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{
			fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "job", Definition: job}}, At: time.Now()},
			fsm.Grant{Semaphore: "job", Identity: newCall("a", "").Identity, Weight: 1, DefinitionVersion: 1, At: time.Now()},
		})
		if err != nil {
			t.Fatal(err)
		}
		results, err := old.Apply(1, 1, entry)
		if err != nil || old.State().PermitCount() != 1 {
			t.Fatalf("grant in the old cluster: %+v, %v", results, err)
		}
		state, err := old.State().Recovered(fsm.Recovery{ClusterID: "new", At: time.Now(), Author: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := state.Snapshot(&file); err != nil {
			t.Fatal(err)
		}
		machine := fsm.New("new")
		if err := machine.Restore(&file); err != nil {
			t.Fatal(err)
		}
		return machine
	}
}

const fullWait = semaphore.DefaultMaxDuration + semaphore.DefaultMaxDuration/100 // including grace

func TestAcquire_AfterRecovery_GrantsNothingUntilEarlierPermitsHaveEnded(t *testing.T) {
	inWorldWith(t, recoveredMachine(t), func(w *world) {
		refused := func() {
			t.Helper()
			_, err := w.TryAcquire(context.Background(), newCall("b", "rb"))
			wantErr(t, err, ErrRecovering)
		}
		refused()
		if left, recovering := w.Recovering(); !recovering || left > fullWait || left < fullWait-time.Second {
			t.Errorf("Recovering() = %v, %v, want %v, true", left, recovering, fullWait)
		}
		w.sleep(fullWait / 2)
		refused()

		w.demote()
		if left, recovering := w.Recovering(); !recovering || left != fullWait {
			t.Errorf("Recovering() on a server that is not the leader = %v, %v, want %v, true", left, recovering, fullWait)
		}
		w.promote(2) // the full wait restarts
		w.sleep(fullWait - time.Second)
		refused()
		w.sleep(time.Second)
		if left, recovering := w.Recovering(); recovering {
			t.Errorf("Recovering() = %v, true after the full wait, want false", left)
		}
		before := w.machine.State().LastToken()
		if p := w.mustAcquire(newCall("b", "rb")); p.Token <= before {
			t.Errorf("granted token %d, want a token above %d", p.Token, before)
		}
	})
}

// A waiting call fails with ErrRecovering. Its retry after the full wait is granted.
func TestAcquire_WaitingAfterRecovery_MustBeRetried(t *testing.T) {
	inWorldWith(t, recoveredMachine(t), func(w *world) {
		_, err := w.Acquire(context.Background(), newCall("b", "rb"), func(Place) error { return nil })
		wantErr(t, err, ErrRecovering)
		w.sleep(fullWait)
		synctest.Wait()
		w.mustAcquire(newCall("b", "rb"))
	})
}
