package keeper

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// cordonUnchecked sets a cordon without checking its patterns, as a leader running a newer version might. The state
// machine accepts any pattern.
func (w *world) cordonUnchecked(c fsm.SetCordon) {
	w.t.Helper()
	if o := w.batcher.Do(context.Background(), c); o.Err != nil {
		w.t.Fatal(o.Err)
	}
	synctest.Wait()
}

func TestCordon_InvalidPattern_AppliesToEveryone(t *testing.T) {
	for name, c := range map[string]fsm.SetCordon{
		"group":    {ID: "newer", GroupPattern: `(?newer)dr`, AcquirerPattern: "nobody"},
		"acquirer": {ID: "newer", GroupPattern: "nowhere", AcquirerPattern: `(?newer)dr`},
	} {
		t.Run(name, func(t *testing.T) {
			inUpgradedWorld(t, func(w *world) {
				w.define("job", func(d *semaphore.Definition) { d.Permits = 2 })
				p := w.mustAcquire(newCall("a", "1"))
				l := w.follow(p.Token)
				defer l.Close()
				w.cordonUnchecked(c)
				if n := w.notice(l); n.Stop != semaphore.StopCordoned {
					t.Fatalf("notice = %+v, want cordoned", n)
				}
				w.wantStatus(p.Token, StatusStopping)
				d := w.wantDenied(newCall("b", "2"), semaphore.Cordoned)
				if !strings.Contains(d.Message, `Cordon "newer" applies to everyone, because this server cannot use its pattern`) {
					t.Errorf("denial = %q, want it to name the cordon", d.Message)
				}
				effects, _ := preview.Effects(w.machine.State(), w.Keeper, preview.Change{Pause: &fsm.Pause{Names: []string{"job"}, Stop: true}})
				if len(effects[0].Stopped) != 0 {
					t.Errorf("Effects() stops %+v, want nobody, because the holder is already stopping", effects[0].Stopped)
				}
				if _, err := w.Uncordon(context.Background(), fsm.Uncordon{ID: "newer"}); err != nil {
					t.Fatal(err)
				}
				w.wantStatus(p.Token, StatusRefreshed)
				w.mustAcquire(newCall("b", "3"))
			})
		})
	}
}

func TestCordon_Denial_NamesCordonAuthorAndEnd(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		if _, err := w.Cordon(context.Background(), fsm.SetCordon{
			ID: "rack 7", GroupPattern: "prod", Reason: "new disks", Author: "alice@ops",
		}, Ending{Duration: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Cordon(context.Background(), fsm.SetCordon{ID: "other", GroupPattern: "dr"}, Ending{}); err != nil {
			t.Fatal(err)
		}
		want := `Cordon "rack 7" applies to it until ` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + ": new disks, by alice@ops."
		d := w.wantDenied(newCall("a", "1"), semaphore.Cordoned)
		if !strings.HasSuffix(d.Message, " is cordoned. "+want) {
			t.Errorf("denial = %q, want the cordon, its author and its end", d.Message)
		}
		steps, _, summary, _, err := w.Explain(context.Background(), &newCall("a", "1").Request)
		if err != nil || summary != d.Message || steps[len(steps)-1].Text != d.Message {
			t.Errorf("Explain() = %q, %+v, %v, want the denial's message", summary, steps, err)
		}
	})
}

func TestDefinition_InvalidPattern_AdmitsNobody(t *testing.T) {
	inUpgradedWorld(t, func(w *world) {
		w.define("job", nil)
		sd := w.machine.State().Definition("job")
		d := sd.Definition.Clone()
		d.GroupPattern = `(?newer)prod`
		o := w.batcher.Do(context.Background(), fsm.EditBatch{
			Changes: []fsm.Change{{Kind: fsm.Replace, Name: "job", Definition: d, ExpectedVersion: sd.Version}},
		})
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		w.wantDenied(newCall("a", "1"), semaphore.GroupMismatch)
		if why := w.Disabled(w.machine.State().Definition("job")); !strings.Contains(why, "this server cannot use it") {
			t.Errorf("Disabled() = %q, want a pattern that this server cannot use", why)
		}
	})
}
