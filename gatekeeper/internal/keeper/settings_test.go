package keeper

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// Two operators change different settings. The first call is cancelled while its command is in flight.
func TestConfigure_CallCancelledInFlight_NextCallDoesNotOverwriteIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.tape.hold()
		firstCtx, cancelFirst := context.WithCancel(context.Background())
		defer cancelFirst()
		errs := make(chan error, 2)
		set := func(ctx context.Context, change func(*fsm.Settings)) {
			_, _, _, err := w.Configure(ctx, "a", "", func(s fsm.Settings) (fsm.Settings, error) {
				change(&s)
				return s, nil
			})
			errs <- err
		}
		go set(firstCtx, func(s *fsm.Settings) { s.MaxDuration = 6 * time.Hour })
		synctest.Wait()
		cancelFirst()
		synctest.Wait()
		go set(context.Background(), func(s *fsm.Settings) { s.JournalTotal = 7 })
		synctest.Wait()
		w.tape.releaseHeld()
		for range 2 {
			if err := <-errs; err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if s := w.machine.State().Settings(); s.MaxDuration != 6*time.Hour || s.JournalTotal != 7 {
			t.Errorf("one change overwrote the other: %+v", s)
		}
	})
}

func TestConfigure_CallCancelledDuringAnotherCall_ChangesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.Keeper
		k.configuring <- struct{}{} // as a concurrent call does
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, _, _, err := w.Configure(ctx, "a", "", func(s fsm.Settings) (fsm.Settings, error) {
			t.Error("the settings were changed while another call was changing them")
			return s, nil
		})
		wantErr(t, err, context.Canceled)
		<-k.configuring
	})
}
