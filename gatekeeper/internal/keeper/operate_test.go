package keeper

import (
	"context"
	"errors"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

func TestOperate_RequestIDReusedForDifferentChange_IsRefused(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		ctx := context.Background()
		r, err := w.Pause(ctx, fsm.Pause{Names: []string{"job"}, RequestID: "r"}, Ending{})
		if err != nil {
			t.Fatal(err)
		}
		sd := w.machine.State().Definition("job")
		for what, do := range map[string]func() error{
			"resume": func() error {
				_, err := w.Resume(ctx, fsm.Resume{Names: []string{"job"}, RequestID: "r"})
				return err
			},
			"cordon": func() error {
				_, err := w.Cordon(ctx, fsm.SetCordon{ID: "c", GroupPattern: "g", RequestID: "r"}, Ending{})
				return err
			},
			"uncordon": func() error { _, err := w.Uncordon(ctx, fsm.Uncordon{ID: "c", RequestID: "r"}); return err },
			"undo":     func() error { _, err := w.Undo(ctx, fsm.Undo{Change: r.Revision, RequestID: "r"}); return err },
			"edit": func() error {
				_, err := w.Edit(ctx, fsm.EditBatch{
					Changes: []fsm.Change{{Kind: fsm.Delete, Name: "job", ExpectedVersion: sd.Version}}, RequestID: "r",
				}, Ending{})
				return err
			},
		} {
			if reused, ok := errors.AsType[*RequestReusedError](do()); !ok || reused.Edit != fsm.EditPause || reused.RequestID != "r" {
				t.Errorf("%s: got %v, want a RequestReusedError", what, do())
			}
		}
		if s := w.machine.State(); s.Revision() != r.Revision || s.Definition("job").Pause == nil {
			t.Error("a refused request changed the state")
		}
	})
}
